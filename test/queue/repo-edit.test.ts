import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RepoRecord } from '../../src/queue/facts.ts'
import { type EditContext, type Edited, editRepo, type RepoEdit } from '../../src/queue/repo-edit.ts'
import { did } from './made-up.ts'

const [alice, bob, carol, dora] = [did('alice'), did('bob'), did('carol'), did('dora')]
const key = '3lzzzzzzzzz22'

function record(more: Partial<RepoRecord> = {}): RepoRecord {
  return {
    $type: 'dev.knotless.repo',
    defaultBranch: 'main',
    collaborators: [{ did: bob }],
    runners: [{ did: carol }, { did: dora }],
    createdAt: '2026-11-01T00:00:00.000Z',
    ...more,
  }
}

function context(same: boolean): EditContext {
  return { owner: alice, same, until: () => key, key }
}

/** The record after an edit by a form that was made from `base`, when `now` is what stands there. */
function apply(base: RepoRecord, now: RepoRecord, edit: RepoEdit): Edited {
  return editRepo(now, edit, context(base === now))
}

function written(edited: Edited): RepoRecord {
  assert(edited.kind === 'write', edited.kind)
  return edited.record
}

/** An edit as each form of the page makes it from this record. */
function forms(base: RepoRecord): Record<string, RepoEdit> {
  const collaborators = base.collaborators.map(entry => entry.did)
  const runners = base.runners.map(entry => entry.did)
  const general = { description: base.description ?? '', defaultBranch: base.defaultBranch }
  const rule = { queueOnly: false, pinned: false }
  return {
    describe: { about: 'general', ...general, description: 'described', was: general },
    rebranch: { about: 'general', ...general, defaultBranch: 'trunk', was: general },
    addCollaborator: { about: 'add', role: 'collaborator', did: carol, was: collaborators },
    removeCollaborator: { about: 'remove', role: 'collaborator', did: bob, was: collaborators },
    addRunner: { about: 'add', role: 'runner', did: bob, was: runners },
    removeRunner: { about: 'remove', role: 'runner', did: carol, was: runners },
    protectMain: { about: 'protection', rules: [{ branch: 'main', queueOnly: true, pinned: false, was: rule }] },
    protectOther: { about: 'protection', rules: [{ branch: 'other', queueOnly: true, pinned: true, was: rule }] },
    gateway: { about: 'gateway', gateway: 'did:web:one.example', was: { gateway: base.gateway } },
    offer: { about: 'transfer', to: `at://${bob}/dev.knotless.repo/orchard`, was: { to: undefined } },
  }
}

test('of two forms made from one record, about different things, both hold in whatever order they come', () => {
  const base = record({ colour: 'blue' } as Partial<RepoRecord>)
  const edits = Object.entries(forms(base))
  for (const [one, first] of edits) {
    for (const [two, second] of edits) {
      if (one === two) continue
      const there = written(apply(base, written(apply(base, base, first)), second))
      const back = written(apply(base, written(apply(base, base, second)), first))
      const sorted = ({ protections = [], former = [], ...rest }: RepoRecord) => ({
        ...rest,
        protections: [...protections].sort((a, b) => (a.branch < b.branch ? -1 : 1)),
        former: [...former].sort((a, b) => (a.role < b.role ? -1 : 1)),
      })
      assert.deepEqual(sorted(there), sorted(back), `${one}, ${two}`)
      assert.equal('colour' in there && there.colour, 'blue')
    }
  }
})

test('the same form twice is written once: the second finds it so', () => {
  const base = record()
  for (const [name, edit] of Object.entries(forms(base))) {
    assert.equal(apply(base, written(apply(base, base, edit)), edit).kind, 'already', name)
  }
})

test('of two forms about the same thing the second writes nothing and says so', () => {
  const base = record({ description: 'old', gateway: 'did:web:old.example', former: [{ did: dora, role: 'collaborator', until: key }] })
  const was = { description: 'old', defaultBranch: 'main' }
  const rule = { queueOnly: false, pinned: false }
  const to = (account: typeof bob): `at://${typeof bob}/dev.knotless.repo/orchard` => `at://${account}/dev.knotless.repo/orchard`
  const pairs: [RepoEdit, RepoEdit][] = [
    [
      { about: 'general', description: 'one', defaultBranch: 'main', was },
      { about: 'general', description: 'two', defaultBranch: 'main', was },
    ],
    [
      { about: 'general', description: 'old', defaultBranch: 'one', was },
      { about: 'general', description: 'old', defaultBranch: 'two', was },
    ],
    [
      { about: 'gateway', gateway: undefined, was: { gateway: 'did:web:old.example' } },
      { about: 'gateway', gateway: 'did:web:two.example', was: { gateway: 'did:web:old.example' } },
    ],
    [
      { about: 'protection', rules: [{ branch: 'main', queueOnly: true, pinned: false, was: rule }] },
      { about: 'protection', rules: [{ branch: 'main', queueOnly: false, pinned: true, was: rule }] },
    ],
    [
      { about: 'move', did: dora, neighbour: carol, up: true },
      { about: 'move', did: dora, neighbour: bob, up: true },
    ],
    [
      { about: 'transfer', to: to(bob), was: { to: undefined } },
      { about: 'transfer', to: to(carol), was: { to: undefined } },
    ],
  ]
  for (const [first, second] of pairs) {
    const now = written(apply(base, base, first))
    assert.equal(apply(base, now, second).kind, 'changed', JSON.stringify(second))
  }
})

test('who was taken out meanwhile is not named again by an old form, nor is who was named meanwhile taken out', () => {
  const base = record()
  const without = written(apply(base, base, { about: 'remove', role: 'collaborator', did: bob, was: [bob] }))
  assert.equal(apply(base, without, { about: 'add', role: 'collaborator', did: bob, was: [bob] }).kind, 'changed')
  const withCarol = written(apply(base, base, { about: 'add', role: 'collaborator', did: carol, was: [bob] }))
  assert.equal(apply(base, withCarol, { about: 'remove', role: 'collaborator', did: carol, was: [bob] }).kind, 'changed')
})

test('a form that does not say what it was made from is taken only where nothing changed since', () => {
  const base = record({ description: 'old' })
  const now = record({ description: 'new' })
  const edits: RepoEdit[] = [
    { about: 'general', description: 'mine', defaultBranch: 'main' },
    { about: 'add', role: 'collaborator', did: carol },
    { about: 'remove', role: 'collaborator', did: bob },
    { about: 'gateway', gateway: 'did:web:one.example' },
    { about: 'protection', rules: [{ branch: 'main', queueOnly: true, pinned: false }] },
    { about: 'transfer', to: `at://${bob}/dev.knotless.repo/orchard` },
  ]
  for (const edit of edits) {
    assert.equal(apply(base, now, edit).kind, 'changed', edit.about)
    assert.equal(apply(now, now, edit).kind, 'write', edit.about)
  }
})

test('HON-5 taking somebody out keeps until when; making them void keeps the rest of what is remembered', () => {
  const base = record({ former: [{ did: dora, role: 'runner', until: key }] })
  const now = written(apply(base, base, { about: 'remove', role: 'collaborator', did: bob, was: [bob] }))
  assert.deepEqual(now.former, [
    { did: dora, role: 'runner', until: key },
    { did: bob, role: 'collaborator', until: key },
  ])
  const voided = written(apply(now, now, { about: 'void', did: bob, was: `collaborator:${key}` }))
  assert.deepEqual(voided.former?.[0], { did: dora, role: 'runner', until: key })
  assert.equal(voided.former?.[1]?.void, true)
  assert.equal(apply(base, now, { about: 'void', did: bob, was: '' }).kind, 'changed')
})
