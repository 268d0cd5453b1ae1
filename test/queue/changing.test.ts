import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changesOf, judgeChange } from '../../src/queue/changing.ts'
import { alice, bob, carol, commit, dave, History, mallory, rigby } from './support.ts'

const offered = (history: History, pull: string, caller?: string) => [...changesOf({ view: history.view(), pull, caller })]

test('HON-6 owner, collaborators and the author close and reopen; a runner, a stranger and whoever is signed out do not', () => {
  const history = new History()
  const pull = history.pull(dave)
  for (const did of [alice, bob, carol]) assert.deepEqual(offered(history, pull, did), ['close'])
  assert.deepEqual(offered(history, pull, dave), ['close', 'draft'])
  for (const did of [rigby, mallory, undefined]) assert.deepEqual(offered(history, pull, did), [])
  history.closed(bob, pull)
  for (const did of [alice, bob, dave]) assert.deepEqual(offered(history, pull, did), ['reopen'])
  for (const did of [rigby, mallory, undefined]) assert.deepEqual(offered(history, pull, did), [])
})

test('HON-6 what is so already is no refusal, and nobody else is told so', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.closed(bob, pull)
  const view = history.view()
  assert.deepEqual(judgeChange('close', { view, pull, caller: dave }), { ok: true, already: true })
  const stranger = judgeChange('close', { view, pull, caller: mallory })
  assert.equal(!stranger.ok && stranger.refusal.code, 'not-allowed')
  const draft = judgeChange('draft', { view, pull, caller: dave })
  assert.equal(!draft.ok && draft.refusal.code, 'pull-not-open')
  const nobody = judgeChange('reopen', { view, pull })
  assert.equal(!nobody.ok && nobody.refusal.code, 'signed-out')
})

test('HON-8 what has landed is not opened again, nor while nobody knows; what has not is, and not by its author', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.merged(rigby, pull, { commit: commit(7) })
  const people = [alice, bob, dave]
  const said = (did: string) => {
    const judged = judgeChange('reopen', { view: history.view(), pull, caller: did })
    return judged.ok ? 'may' : judged.refusal.code
  }
  assert.deepEqual(people.map(said), ['pull-not-open', 'pull-not-open', 'pull-not-open'], 'nobody has looked')
  history.tip({ contains: new Map([[commit(7), true]]) })
  assert.deepEqual(people.map(said), ['pull-not-open', 'pull-not-open', 'pull-not-open'])
  history.tip({ contains: new Map([[commit(7), false]]) })
  assert.deepEqual(people.map(said), ['may', 'may', 'not-allowed'])
})
