import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { parseDid } from '../../../src/atproto/ids.ts'
import type { DevAccount } from '../../../src/devnet/account.ts'
import { tidAt } from '../../../src/queue/tid.ts'
import { duePullRuns } from '../../../src/runner/runs/due-pulls.ts'
import { duePushRuns } from '../../../src/runner/runs/due-pushes.ts'
import { createAnswered, dueReruns } from '../../../src/runner/runs/due-reruns.ts'
import type { Ground, Rerun, Subject } from '../../../src/runner/types.ts'
import { alice, bob, commit, DAY, HEAD, History, mallory, repoAt, rigby, START, TIP } from '../../queue/support.ts'
import { choose, groundOf, newCommit, newHistory, plc, type RunsWorld, startRunsWorld, workflow } from './support.ts'

const did = parseDid(rigby)
assert.ok(did)
const runners = [did]
const now = START + DAY

function ask(history: History, more: Partial<Parameters<typeof duePullRuns>[1]> = {}) {
  const ground = groundOf(history, runners, now)
  return duePullRuns(ground, { setting: 'all', did: rigby, ran: () => false, most: 10, ...more }).map(due => due.pull)
}

/** A pull from a fork of its author's. */
function forked(history: History, author: typeof bob, branch: string) {
  const repo = repoAt(author)
  history.refsOf(author, 'orchard', { [branch]: HEAD })
  return history.pull(author, { head: { repo, branch } })
}

test('RUN-2 an open pull runs when its head was not run, and not again when its base moves', () => {
  const history = new History()
  const pull = history.pull(bob)
  const ground = groundOf(history, runners, now)
  const [due] = duePullRuns(ground, { setting: 'all', did: rigby, ran: () => false, most: 10 })
  assert.deepEqual(due, { pull, head: HEAD, branch: 'main', generation: 1, tip: TIP, trusted: true })
  const ran = (of: string, head: string) => of === pull && head === HEAD
  assert.deepEqual(ask(history, { ran }), [])
  history.refsOf(alice, 'orchard', { main: commit(9), topic: HEAD })
  assert.deepEqual(ask(history, { ran }), [], 'only the base moved')
  history.refsOf(alice, 'orchard', { main: commit(9), topic: commit(10) })
  assert.deepEqual(ask(history, { ran }), [pull])
})

test('RUN-2 after a restart an own check at the head says that it ran; a pre-flight, a restart’s and another runner’s do not', () => {
  const history = new History()
  const pull = history.pull(bob)
  history.check(rigby, { pull, queue: 'first' })
  history.check(rigby, { pull, status: 'error', verdict: 'restart' })
  history.check(mallory, { pull })
  history.check(rigby, { pull, commit: commit(12) })
  assert.deepEqual(ask(history), [pull])
  history.check(rigby, { pull, status: 'cancelled' })
  assert.deepEqual(ask(history), [])
})

test('RUN-1 RUN-2 a queued, closed, merged or headless pull does not run by itself', () => {
  const history = new History()
  const [queued, closed, merged, open] = [history.pull(bob), history.pull(bob), history.pull(bob), history.pull(bob)]
  history.pull(bob, { head: { repo: history.uri, branch: 'gone' } })
  history.pull(bob, { branch: 'gone' })
  history.queued(bob, queued)
  history.closed(bob, closed)
  history.merged(bob, merged, { commit: TIP })
  assert.deepEqual(ask(history), [open])
  history.left(bob, queued)
  assert.deepEqual(ask(history), [queued, open])
})

test('RUN-2 RUN-3 whose pulls run: the owner’s, those of who may merge, or all; an author’s and a head’s account both count', () => {
  const history = new History()
  const own = history.pull(alice)
  const bobs = forked(history, bob, 'pears')
  const strange = forked(history, mallory, 'worms')
  const lent = history.pull(bob, { head: { repo: repoAt(mallory), branch: 'worms' } })
  assert.deepEqual(ask(history, { setting: undefined }), [])
  assert.deepEqual(ask(history, { setting: 'owner' }), [own])
  assert.deepEqual(ask(history, { setting: 'collaborators' }), [own, bobs])
  assert.deepEqual(ask(history), [own, bobs, strange, lent])
  assert.deepEqual(ask(history, { most: 1 }), [own])
  const due = duePullRuns(groundOf(history, runners, now), { setting: 'all', did: rigby, ran: () => false, most: 10 })
  assert.deepEqual(
    due.map(one => one.trusted),
    [true, true, false, false],
  )
})

test('RUN-4 a branch that moved since the last pass is due once, from where it was; at first sight nothing is', () => {
  const history = new History()
  const at = (branches: Record<string, string>) => groundOf(history.refsOf(alice, 'orchard', branches), runners, now)
  const first = duePushRuns(at({ main: commit(1), next: commit(2) }), undefined, new Set())
  assert.deepEqual(first.due, [])
  const second = duePushRuns(at({ main: commit(3), made: commit(4) }), first.seen, new Set([commit(3)]))
  assert.deepEqual(second.due, [
    { branch: 'main', generation: 1, before: commit(1), commit: commit(3), isDefault: true, lands: true },
    { branch: 'made', generation: 1, commit: commit(4), isDefault: false, lands: false },
  ])
  assert.deepEqual(duePushRuns(at({ main: commit(3), made: commit(4) }), second.seen, new Set()).due, [])
})

test('CHK-9 a branch that was made again was nowhere before', () => {
  const ground = groundOf(new History(), runners, now)
  const seen = new Map([['refs/heads/main', { commit: commit(7), generation: 3 }]])
  const { due } = duePushRuns(ground, seen, new Set())
  assert.deepEqual(due.find(one => one.branch === 'main')?.before, undefined)
})

const settings = { queue: false, pulls: 'all' as const }

function rerun(more: Partial<Rerun> & { at?: number }): Rerun {
  const key = tidAt(more.at ?? now - 60_000)
  return { uri: `at://${bob}/dev.knotless.rerun/${key}`, key, by: parseDid(bob) ?? assert.fail(), ...more }
}

test('RUN-6 a rerun of a pull is due, queued or not, for who runs it; of a branch only at its present tip', () => {
  const history = new History()
  const pull = forked(history, mallory, 'worms')
  const closed = history.pull(bob)
  history.closed(bob, closed)
  const ask = (one: Rerun, more: { queue: boolean; pulls?: 'owner' | 'all' } = settings) =>
    dueReruns(groundOf(history, runners, now), [one], { settings: more, now, isOpen: () => true })
  const [due] = ask(rerun({ pull, workflow: 'test' }))
  assert.ok(due?.of === 'pull')
  assert.deepEqual([due.pull.pull, due.pull.head, due.pull.trusted, due.queued, due.only], [pull, HEAD, false, false, ['test']])
  history.queued(bob, pull)
  const [queued] = ask(rerun({ pull }))
  assert.ok(queued?.of === 'pull' && queued.queued && queued.only === undefined)
  assert.equal(ask(rerun({ pull }), { queue: false, pulls: 'owner' }).length, 0, 'not one that it runs')
  assert.equal(ask(rerun({ pull }), { queue: true }).length, 1, 'whoever lands queues runs what is queued for them')
  assert.equal(ask(rerun({ pull: closed })).length, 0)
  assert.equal(ask(rerun({ pull, at: now - 8 * DAY })).length, 0, 'long ago')
  const [push] = ask(rerun({ branch: 'main', commit: TIP }))
  assert.ok(push?.of === 'push')
  assert.deepEqual(push.push, { branch: 'main', generation: 1, commit: TIP, isDefault: true, lands: false })
  assert.equal(ask(rerun({ branch: 'main', commit: HEAD })).length, 0, 'a commit that is no tip would run with secrets that nobody gave it')
  assert.equal(ask(rerun({ branch: 'none', commit: TIP })).length, 0)
})

let world: RunsWorld
let account: DevAccount

before(async () => {
  world = await startRunsWorld()
  account = await world.account('rigby')
})
after(() => world.end())

test('RUN-6 a rerun is answered once per key, also over a restart, by runs that take nothing over', async () => {
  const runner = await world.runner(account)
  const history = newHistory()
  const pull = history.pull(bob)
  const ground: Ground = groundOf(history, [account.did])
  const reruns = [rerun({ pull, at: Date.now() }), rerun({ pull, at: Date.now() + 1 })]
  const due = async (ctx = runner.ctx) => {
    const answered = createAnswered(ctx)
    await answered.look(ground, reruns)
    return dueReruns(ground, reruns, { settings, now: Date.now(), isOpen: answered.isOpen }).map(one => one.key)
  }
  assert.equal((await due()).length, 2)
  const [first] = reruns
  const subject: Subject = { of: 'pull', pull, head: HEAD, branch: 'main', generation: 1, tip: TIP, tree: newCommit(), queued: true }
  const chosen = choose([workflow('lint'), workflow('test')])
  const filed = await runner.runs.file(ground, { subject, chosen, trusted: true, gitDir: '/nowhere', asked: first?.uri ?? '' })
  assert.ok(filed.ok)
  assert.deepEqual(await due(), [reruns[1]?.key])
  assert.deepEqual(await due((await runner.again()).ctx), [reruns[1]?.key])
  const other = await world.runner(account, { pause: () => new Promise(() => {}) })
  const asked = { subject: { ...subject, queued: false }, chosen, trusted: true, gitDir: '/nowhere', asked: first?.uri ?? '' }
  assert.ok(!(await other.runs.file(ground, asked)).ok, 'the keys of its runs are taken')
  world.network.faults.add({ fault: 'lose', method: 'com.atproto.repo.applyWrites', times: 1 })
  world.network.faults.add({ fault: 'refuse', method: 'com.atproto.repo.getRecord', times: 1 })
  assert.ok(!(await other.runs.file(ground, asked)).ok, 'nor is it known when the answer is lost')
  world.network.faults.clear()
  await other.runs.stop()
  assert.equal((await account.list('dev.knotless.check')).length, 2, 'what was filed before stays')
  await runner.runs.stop()
  assert.equal((await due()).length, 2, 'MOV-5: what a stop dropped is answered after it')
  assert.ok(plc(account))
})
