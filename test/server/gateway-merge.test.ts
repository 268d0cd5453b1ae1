/** What mergePull lands, and what it refuses. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { giveDelegation } from '../../src/devnet/give-delegation.ts'
import { tidAt } from '../../src/queue/tid.ts'
import { commit as makeCommit } from '../git/support.ts'
import { until } from '../support/until.ts'
import {
  type Answer,
  auditOf,
  baseFiles,
  fileAt,
  type GatewayWorld,
  type OpenedPull,
  shown,
  startGatewayWorld,
  uriOf,
} from './gateway-world.ts'

let world: GatewayWorld
before(async () => {
  world = await startGatewayWorld()
})
after(() => world?.end())

const now = () => new Date().toISOString()

function merge(account: GatewayWorld['people']['bob'], pull: OpenedPull, more: Record<string, unknown> = {}): Promise<Answer> {
  return world.call(account, 'dev.knotless.mergePull', { pull: pull.uri, ...more })
}

function refused(answer: Answer, name: string, words: RegExp): void {
  assert.equal(answer.body.error, name, JSON.stringify(answer.body))
  assert.equal(answer.status, 400)
  assert.match(String(answer.body.message), words)
}

test('LND-14 BLD-3 mergePull squashes onto the tip as the caller, writes the merged state in the owner’s account and answers with both', async () => {
  const { people, server } = world
  const repo = await world.plant('squash')
  const pull = await repo.openPull({ branch: 'topic', files: { 'trees/pear.txt': 'pear\n' }, title: 'Add a pear', body: 'It bears\nlate.' })
  const before = await people.alice.call('com.atproto.sync.getLatestCommit', { params: { did: people.alice.did } })
  const answer = await merge(people.bob, pull, { head: pull.head })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  const commit = String(answer.body.commit)
  const text = await shown(server, repo.uri, commit)
  assert.match(text, new RegExp(`^tree [0-9a-f]{40}\nparent ${repo.tip}\nauthor Carol <carol@example.com> \\d+ \\+0200\n`))
  assert.match(text, new RegExp(`committer ${people.bob.did} <${people.bob.did}@knotless.invalid> \\d+ \\+0000`))
  assert.equal(text.split('\n\n').slice(1).join('\n\n'), `Add a pear\n\nIt bears\nlate.\n\n${pull.uri}`)
  assert.equal(await fileAt(server, repo.uri, commit, 'trees/pear.txt'), 'pear')
  assert.equal((await repo.refs()).get('main'), commit)
  const [state, ...more] = await repo.states(pull.uri)
  assert.equal(more.length, 0)
  assert.equal(state?.uri, answer.body.uri)
  const { createdAt, ...fields } = state?.value ?? {}
  assert.deepEqual(fields, { $type: 'dev.knotless.state', repo: repo.uri, subject: pull.uri, state: 'merged', commit, batch: commit })
  assert.equal(server.context.repositories.viewOfPull(pull.uri)?.view.pulls.get(pull.uri)?.state, 'merged', 'who merged reads that it is')
  assert.notDeepEqual(await people.alice.call('com.atproto.sync.getLatestCommit', { params: { did: people.alice.did } }), before)
})

test('LND-4 the spent head branch goes in the same write, and one that another open pull brings stays', async () => {
  const { people } = world
  const repo = await world.plant('spent')
  const first = await repo.openPull({ branch: 'once', files: { 'a.txt': 'a\n' } })
  const shared = await repo.openPull({ branch: 'shared', files: { 'b.txt': 'b\n' } })
  await people.mallory.create('dev.knotless.pull', {
    repo: repo.uri,
    branch: 'main',
    head: { repo: repo.uri, branch: 'shared' },
    title: 'The same branch again',
    createdAt: now(),
  })
  await until(() => world.server.context.repositories.viewOf(repo.uri)?.view.pulls.size === 3, { what: 'the third pull to be indexed' })
  assert.equal((await merge(people.bob, first)).status, 200)
  assert.deepEqual([...(await repo.refs()).keys()], ['main', 'shared'])
  assert.equal((await merge(people.bob, shared)).status, 200)
  assert.deepEqual([...(await repo.refs()).keys()], ['main', 'shared'])
  const written = auditOf(world.server, people.alice).filter(line => line.repo === repo.uri)
  assert.deepEqual(
    written.map(({ ref, outcome, door, caller }) => [ref, outcome, door, caller]),
    [
      ['refs/heads/main', 'written', 'merge', people.bob.did],
      ['refs/heads/once', 'written', 'merge', people.bob.did],
      ['refs/heads/main', 'written', 'merge', people.bob.did],
    ],
  )
  assert.equal(written[1]?.from, first.head)
  assert.equal(written[1]?.to, null)
})

test('LND-6 issues that the message names are closed with the merge, on the default branch only', async () => {
  const { people } = world
  const repo = await world.plant('issues')
  const issue = await people.mallory.create('dev.knotless.issue', { repo: repo.uri, title: 'No pears', createdAt: now() })
  const shut = await people.mallory.create('dev.knotless.issue', { repo: repo.uri, title: 'Shut already', createdAt: now() })
  await people.mallory.create('dev.knotless.state', { repo: repo.uri, subject: shut.uri, state: 'closed', createdAt: now() })
  const key = (uri: string) => `#${uri.slice(-7)}`
  const body = `Closes ${key(issue.uri)}, fixes ${key(shut.uri)}.\n\n\`fixes ${key(issue.uri)}\``
  await repo.push('next', repo.tip)
  const aside = await repo.openPull({ branch: 'aside', files: { 'c.txt': 'c\n' }, body, onto: 'next' })
  const pull = await repo.openPull({ branch: 'closing', files: { 'd.txt': 'd\n' }, body })
  assert.equal((await merge(people.alice, aside)).status, 200)
  assert.deepEqual(await repo.states(issue.uri), [])
  assert.equal((await merge(people.alice, pull)).status, 200)
  const [closed, ...more] = await repo.states(issue.uri)
  assert.equal(more.length, 0)
  assert.equal(closed?.value.state, 'closed')
  assert.equal(closed?.value.pull, pull.uri)
  assert.deepEqual(await repo.states(shut.uri), [])
})

test('BLD-2 a pull from a fork is merged at the head that its account has now, whatever the index knows, and the fork keeps its branch', async () => {
  const { people, network, server } = world
  const repo = await world.plant('forked')
  const pull = await repo.openPull({ branch: 'topic', files: { 'fork.txt': 'one\n' }, fork: true })
  network.faults.hold()
  try {
    const later = makeCommit(repo.gitDir, 'topic', { ...baseFiles, 'fork.txt': 'two\n' }, { author: 'Carol <carol@example.com>' })
    await repo.pushAs(people.carol, 'topic', later)
    refused(await merge(people.bob, pull, { head: pull.head }), 'HeadMoved', /moved to/)
    const answer = await merge(people.bob, pull)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    assert.equal(await fileAt(server, repo.uri, String(answer.body.commit), 'fork.txt'), 'two')
  } finally {
    network.faults.clear()
  }
  assert.ok((await people.carol.get('dev.knotless.refs', 'forked'))?.value)
})

test('BLD-8 what is on the branch already is nothing to land, and a conflict names its files', async () => {
  const { people } = world
  const repo = await world.plant('nothing')
  const apple = (text: string) => ({ 'trees/apple.txt': text })
  const first = await repo.openPull({ branch: 'first', files: apple('one\nTWO\nthree\nfour\nfive\n') })
  const same = await repo.openPull({ branch: 'same', files: apple('one\nTWO\nthree\nfour\nfive\n') })
  const other = await repo.openPull({ branch: 'other', files: apple('one\nzwei\nthree\nfour\nfive\n') })
  assert.equal((await merge(people.bob, first)).status, 200)
  refused(await merge(people.bob, same), 'NothingToLand', /already on main/)
  refused(await merge(people.bob, other), 'Conflict', /trees\/apple\.txt/)
  assert.ok((await repo.refs()).has('other'))
})

test('GWY-2 PRO-3 PRO-4 a queue-only branch is closed to the merge of whoever asks, its owner included', async () => {
  const { people } = world
  const rule = { protections: [{ branch: 'main', queue: true }] }
  const repo = await world.plant('closed', { record: rule })
  const pull = await repo.openPull({ branch: 'topic', files: { 'a.txt': 'a\n' } })
  for (const one of [people.bob, people.alice]) refused(await merge(one, pull), 'NoRunners', /names no runner/)
  await repo.edit({ runners: [{ did: people.rigby.did }] })
  for (const one of [people.bob, people.alice]) refused(await merge(one, pull), 'QueueOnly', /only through the queue/)
  assert.equal((await repo.refs()).get('main'), repo.tip)
})

test('HON-1 GWY-6 strangers, named runners and yesterday’s collaborator merge nothing, and each refusal is in the log', async () => {
  const { people, server } = world
  const repo = await world.plant('people', { record: { runners: [{ did: world.people.rigby.did }] } })
  const pull = await repo.openPull({ branch: 'topic', files: { 'a.txt': 'a\n' } })
  refused(await merge(people.mallory, pull), 'NotAllowed', /only alice\.test and bob\.test/)
  refused(await merge(people.rigby, pull), 'NotAllowed', /only/)
  refused(await merge(people.carol, pull), 'NotAllowed', /only/)
  world.network.faults.hold()
  try {
    await repo.edit({ collaborators: [] })
    refused(await merge(people.bob, pull), 'NotAllowed', /only/)
  } finally {
    world.network.faults.clear()
  }
  const lines = auditOf(server, people.alice).filter(line => line.repo === repo.uri)
  assert.deepEqual(
    lines.map(({ caller, outcome, code }) => [caller, outcome, code]),
    [people.mallory, people.rigby, people.carol, people.bob].map(one => [one.did, 'refused', 'not-allowed']),
  )
  assert.match(lines[0]?.reason ?? '', /^only alice\.test and bob\.test can do that here$/)
  assert.equal((await repo.refs()).get('main'), repo.tip)
})

test('QUE-5 GWY-13 a draft, a closed pull and one whose branch is gone are refused from fresh reads, while the index knows nothing of it', async () => {
  const { people, network } = world
  const repo = await world.plant('states')
  const pull = await repo.openPull({ branch: 'topic', files: { 'a.txt': 'a\n' } })
  const gone = await repo.openPull({ branch: 'gone', files: { 'b.txt': 'b\n' } })
  const draft = await repo.openPull({ branch: 'draft', files: { 'c.txt': 'c\n' }, draft: true })
  network.faults.hold()
  try {
    await people.carol.create('dev.knotless.state', { repo: repo.uri, subject: pull.uri, state: 'closed', createdAt: now() })
    await repo.push('gone', null)
    refused(await merge(people.bob, pull), 'PullNotOpen', /was closed/)
    refused(await merge(people.bob, gone), 'BranchNotFound', /no longer exists/)
    refused(await merge(people.bob, draft), 'Draft', /draft/)
  } finally {
    network.faults.clear()
  }
  const missing = { pull: `at://${people.carol.did}/dev.knotless.pull/3lnotherenever`.slice(0, -1) }
  assert.equal((await world.call(people.bob, 'dev.knotless.mergePull', missing)).body.error, 'PullNotFound')
})

test('a pull that waits in the queue may be merged by hand', async () => {
  const { people } = world
  const repo = await world.plant('queued', { record: { runners: [{ did: world.people.rigby.did }] } })
  const pull = await repo.openPull({ branch: 'topic', files: { 'a.txt': 'a\n' } })
  await people.bob.create('dev.knotless.queue', { repo: repo.uri, subject: pull.uri, state: 'queued', createdAt: now() })
  assert.equal((await merge(people.bob, pull)).status, 200)
})

test('GWY-15 a merge that is asked for again answers as the first did, and for nobody else and no other head', async () => {
  const { people } = world
  const repo = await world.plant('again')
  const own = await repo.openPull({ branch: 'topic', files: { 'a.txt': 'a\n' } })
  const fork = await repo.openPull({ branch: 'fork', files: { 'b.txt': 'b\n' }, fork: true })
  for (const pull of [own, fork]) {
    const first = await merge(people.bob, pull, { head: pull.head })
    assert.equal(first.status, 200, JSON.stringify(first.body))
    const tip = (await repo.refs()).get('main')
    assert.deepEqual(await merge(people.bob, pull, { head: pull.head }), first)
    assert.deepEqual(await merge(people.bob, pull), first)
    refused(await merge(people.alice, pull, { head: pull.head }), 'PullNotOpen', /was merged/)
    refused(await merge(people.bob, pull, { head: repo.tip }), 'PullNotOpen', /was merged/)
    assert.equal((await repo.refs()).get('main'), tip)
    assert.equal((await repo.states(pull.uri)).length, 1)
  }
})

test('GWY-12 a repository that names another gateway is left alone, and one that names this one is written', async () => {
  const { people, server } = world
  const repo = await world.plant('elsewhere', { record: { gateway: 'did:web:elsewhere.example' } })
  const pull = await repo.openPull({ branch: 'topic', files: { 'a.txt': 'a\n' } })
  refused(await merge(people.bob, pull), 'WrongGateway', /did:web:elsewhere\.example/)
  await repo.edit({ gateway: server.context.config.did })
  assert.equal((await merge(people.bob, pull)).status, 200)
})

test('GWY-1 GWY-7 without the owner’s delegation nothing is written, and the refusal says where it is given', async () => {
  const { people, server } = world
  const repo = await world.plant('withdrawn')
  const pull = await repo.openPull({ branch: 'topic', files: { 'a.txt': 'a\n' } })
  await server.context.delegations.withdraw(people.alice.did)
  try {
    refused(await merge(people.bob, pull), 'NotDelegated', new RegExp(`alice\\.test.*withdrawn.*${server.url}/settings`))
    refused(await merge(people.alice, pull), 'NotDelegated', /Give the delegation in your settings/)
    assert.equal((await repo.refs()).get('main'), repo.tip)
  } finally {
    await giveDelegation(server.url, people.alice)
  }
  assert.equal((await merge(people.bob, pull)).status, 200)
})

test('HON-4 after a move a pull that names the old address is merged at the new one, in the new owner’s account', async () => {
  const { people, server } = world
  const repo = await world.plant('glade')
  const pull = await repo.openPull({ branch: 'topic', files: { 'a.txt': 'a\n' } })
  const fresh = uriOf(`at://${people.bob.did}/dev.knotless.repo/glade`)
  const record = { defaultBranch: 'main', collaborators: [{ did: people.carol.did }], runners: [], createdAt: now() }
  await people.bob.put('dev.knotless.repo', 'glade', { ...record, transferredFrom: repo.uri })
  await repo.edit({ transferredTo: { repo: fresh, at: tidAt(Date.now()) } })
  await repo.pushAs(people.bob, 'main', repo.tip)
  await repo.pushAs(people.bob, 'topic', pull.head)
  await until(() => server.context.repositories.viewOf(repo.uri)?.view.movedTo === fresh, { what: 'the move to be indexed' })
  refused(await merge(people.carol, pull), 'NotDelegated', /bob\.test/)
  await giveDelegation(server.url, people.bob)
  const answer = await merge(people.carol, pull, { head: pull.head })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  const [state] = await people.bob.list('dev.knotless.state')
  assert.equal(state?.uri, answer.body.uri)
  assert.equal(state?.value.repo, fresh)
  assert.equal((await repo.refs()).get('main'), repo.tip, 'the old address is left as it was')
  assert.equal(await fileAt(server, fresh, String(answer.body.commit), 'a.txt'), 'a')
  assert.deepEqual(await merge(people.carol, pull), answer)
})
