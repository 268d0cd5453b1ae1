import assert from 'node:assert/strict'
import { test } from 'node:test'
import { given, judge, merge, merges, verdict, withheld } from './asking-support.ts'
import { fileBatch } from './batch-support.ts'
import { type AtUri, alice, bob, carol, commit, dave, HEAD, History, mallory, repoAt, rigby, rocky, TIP } from './support.ts'

/** A history with one open pull that applies. */
function open(record: ConstructorParameters<typeof History>[0] = {}): { history: History; pull: AtUri } {
  const history = new History(record)
  const pull = history.pull(dave)
  merges(history, pull)
  return { history, pull }
}

test('ADM-1 only owner and collaborators may queue', () => {
  const { history, pull } = open()
  for (const caller of [alice, bob, carol]) assert.equal(judge.queue(history, pull, { caller }).ok, true)
  for (const caller of [mallory, dave, rigby]) {
    assert.equal(
      verdict(judge.queue(history, pull, { caller }), history),
      'not-allowed | Not queued: only alice.test, bob.test and carol.test can do that here. | Ask one of them.',
    )
  }
  const judged = judge.queue(history, pull, { caller: mallory })
  assert.deepEqual(judged.ok || judged.refusal.people, [alice, bob, carol])
})

test('ADM-1 only owner and collaborators may leave, the author included only when they are one', () => {
  const { history, pull } = open()
  history.queued(bob, pull)
  for (const caller of [alice, bob, carol]) assert.equal(judge.leave(history, pull, { caller }).ok, true)
  for (const caller of [mallory, dave, rigby]) {
    assert.equal(
      verdict(judge.leave(history, pull, { caller }), history),
      'not-allowed | Nothing done: only alice.test, bob.test and carol.test can do that here. | Ask one of them.',
    )
  }
})

test('ADM-1 nobody logged in may nothing, and is told who may', () => {
  const { history, pull } = open()
  assert.equal(
    verdict(judge.queue(history, pull), history),
    'signed-out | Not queued: you are not logged in. | Log in first; alice.test, bob.test and carol.test can do that here.',
  )
  history.queued(bob, pull)
  assert.match(verdict(judge.leave(history, pull), history), /^signed-out \| Nothing done:/)
})

test('ADM-2 a repository that names no runners refuses to queue: its pulls are merged by hand', () => {
  const { history, pull } = open({ runners: [] })
  assert.equal(
    verdict(judge.queue(history, pull, { caller: alice }), history),
    'no-runners | Not queued: alice.test/orchard names no runner, so nothing would land it. | Its pulls are merged by hand; the owner can name a runner.',
  )
})

test('ADM-2 leaving needs no runner', () => {
  const { history, pull } = open()
  history.queued(bob, pull)
  history.edit({ runners: [] })
  assert.equal(judge.leave(history, pull, { caller: bob }).ok, true)
})

test('ADM-3 a pull that is closed or merged is refused, saying since when', () => {
  const closed = open()
  closed.history.closed(bob, closed.pull)
  assert.equal(
    verdict(judge.queue(closed.history, closed.pull, { caller: bob }), closed.history),
    'pull-not-open | Not queued: this pull was closed 1 min ago. | Reopen it first, or open a new one.',
  )
  const merged = open()
  merged.history.merged(rigby, merged.pull, { commit: commit(9) })
  assert.equal(
    verdict(judge.queue(merged.history, merged.pull, { caller: bob }), merged.history),
    'pull-not-open | Not queued: this pull was merged 1 min ago. | Open a new one.',
  )
  const gone = open()
  gone.history.gone.add(dave)
  assert.equal(
    verdict(judge.queue(gone.history, gone.pull, { caller: bob }), gone.history),
    'pull-not-open | Not queued: this pull is closed. | Open a new one.',
  )
})

test('ADM-3 a pull that is not there is refused', () => {
  const { history } = open()
  const nowhere = `at://${dave}/dev.knotless.pull/3zzzzzzzzzzzz`
  for (const act of [judge.queue, judge.leave, judge.merge]) {
    assert.equal(
      verdict(act(history, nowhere, { caller: bob }), history),
      'pull-not-found | There is no such pull. | Its author may have deleted it.',
    )
  }
})

test('QUE-5 a draft cannot be queued', () => {
  const { history, pull } = open()
  history.editPull(pull, { draft: true })
  assert.equal(
    verdict(judge.queue(history, pull, { caller: bob }), history),
    'draft | Not queued: this pull is a draft. | Mark it as ready, then add it.',
  )
})

test('ADM-4 a pull already queued keeps its place, whoever asks, and the answer says where and by which record', () => {
  const { history, pull } = open()
  const other = history.pull(carol)
  const record = history.queued(bob, pull)
  history.queued(bob, other)
  const judged = judge.queue(history, pull, { caller: carol })
  assert.equal(verdict(judged, history), 'already-queued | It is already queued, 1st of 2. | It keeps its place; nothing was written.')
  assert.ok(!judged.ok)
  assert.deepEqual(judged.already, { branch: 'main', position: 1, length: 2, record })
})

test('ADM-5 a pull that does not apply on the present tip is refused, naming the files', () => {
  const { history, pull } = open()
  merges(history, pull, { applies: false, conflicts: ['src/a.ts', 'docs/b.md'], moreConflicts: 3 })
  const judged = judge.queue(history, pull, { caller: bob })
  assert.equal(
    verdict(judged, history),
    'conflict | Not queued: it does not apply on main at 0000000. | These files conflict: src/a.ts, docs/b.md and 3 more. Merge or rebase main, push, and add it again.',
  )
  assert.ok(!judged.ok)
  assert.deepEqual(judged.refusal.files, ['src/a.ts', 'docs/b.md'])
  assert.equal(judged.refusal.moreFiles, 3)
})

test('ADM-5 a merge result that is passed in counts over the view’s, and one of another tip or head does not', () => {
  const { history, pull } = open()
  const against = { applies: false, conflicts: ['a.ts'] }
  const codeOf = (result: ReturnType<typeof merge>) =>
    verdict(judge.queue(history, pull, { caller: bob, merge: result }), history).split(' ')[0]
  assert.equal(codeOf(merge(pull, against)), 'conflict')
  assert.equal(codeOf(merge(pull, { ...against, tip: commit(77) })), 'ok')
  assert.equal(codeOf(merge(pull, { ...against, head: commit(77) })), 'ok')
  assert.equal(codeOf(merge(history.pull(carol), against)), 'ok')
})

/** A check of the pull at its head merged with the tip. */
const atHead = (history: History, pull: AtUri, more: Parameters<History['check']>[1] = {}, by = rigby) =>
  history.check(by, { pull, commit: HEAD, baseCommit: TIP, status: 'failure', ...more })

test('ADM-6 a pull with a check that failed at its head merged with the present tip is refused, naming the workflows', () => {
  const { history, pull } = open()
  atHead(history, pull)
  atHead(history, pull, { workflow: 'check', status: 'error' })
  atHead(history, pull, { workflow: 'docs', status: 'success' })
  const judged = judge.queue(history, pull, { caller: bob })
  assert.equal(
    verdict(judged, history),
    'checks-failed | Not queued: check and test failed at 0000000 merged with main. | Push a fix, or read the log.',
  )
  assert.deepEqual(judged.ok || judged.refusal.workflows, ['check', 'test'])
})

const harmless: [string, Parameters<History['check']>[1], typeof rigby][] = [
  ['that passed', { status: 'success' }, rigby],
  ['still running (ADM-7)', { status: 'running' }, rigby],
  ['still queued (ADM-7)', { status: 'queued' }, rigby],
  ['cancelled', { status: 'cancelled' }, rigby],
  ['an error without a verdict', { status: 'error', verdict: 'timeout' }, rigby],
  ['of a status that nobody knows', { status: 'splendid' }, rigby],
  ['at another head', { commit: commit(99) }, rigby],
  ['on another tip', { baseCommit: commit(99) }, rigby],
  ['of an older generation of the branch (CHK-9)', { generation: 0 }, rigby],
  ['of a batch', { batch: [] }, rigby],
  ['by a stranger', {}, mallory],
  ['by a runner that is not named', {}, rocky],
]
for (const [what, more, by] of harmless) {
  test(`ADM-6 a check ${what} refuses nothing`, () => {
    const { history, pull } = open()
    atHead(history, pull, more, by)
    assert.deepEqual(judge.queue(history, pull, { caller: bob, checks: history.checks }), {
      ok: true,
      branch: 'main',
      position: 1,
      length: 1,
    })
  })
}

test('ADM-6 the newest run of a workflow counts, by whichever named runner', () => {
  const { history, pull } = open({ runners: [{ did: rigby }, { did: rocky }] })
  atHead(history, pull, {}, rigby)
  atHead(history, pull, { status: 'success' }, rocky)
  assert.equal(judge.queue(history, pull, { caller: bob }).ok, true)
  atHead(history, pull, {}, rigby)
  assert.equal(judge.queue(history, pull, { caller: bob }).ok, false)
})

test('ADM-6 a lander that is not named counts as well, when its checks are passed in', () => {
  const { history, pull } = open()
  history.lander(carol)
  const failed = atHead(history, pull, {}, carol)
  assert.equal(judge.queue(history, pull, { caller: bob }).ok, true, 'the view does not show them (STA-7)')
  assert.equal(verdict(judge.queue(history, pull, { caller: bob, checks: [failed] }), history).split(' ')[0], 'checks-failed')
})

test('ADM-6 comes before ADM-2: a failed check is said even where no runner is named', () => {
  const { history, pull } = open({ runners: [] })
  history.lander(carol)
  const failed = atHead(history, pull, {}, carol)
  assert.equal(verdict(judge.queue(history, pull, { caller: bob, checks: [failed] }), history).split(' ')[0], 'checks-failed')
})

test('ADM-7 neither a missing check nor a pull ahead of it refuses', () => {
  const { history, pull } = open()
  const ahead = history.pull(carol)
  merges(history, ahead)
  history.queued(bob, ahead)
  assert.deepEqual(judge.queue(history, pull, { caller: bob }), { ok: true, branch: 'main', position: 2, length: 2 })
})

test('ADM-8 leaving needs the latest state to be queued, and says what ended the last one', () => {
  const { history, pull } = open()
  assert.equal(verdict(judge.leave(history, pull, { caller: bob }), history), 'not-queued | It is not in the queue. | Nothing was written.')
  const entry = history.queued(bob, pull)
  assert.deepEqual(judge.leave(history, pull, { caller: bob }), { ok: true, branch: 'main', entry })
  history.ejected(rigby, pull)
  assert.equal(
    verdict(judge.leave(history, pull, { caller: bob }), history),
    'not-queued | It is not in the queue any more: ejected 1 min ago. | Nothing was written.',
  )
  history.queued(bob, pull)
  history.left(carol, pull)
  assert.match(verdict(judge.leave(history, pull, { caller: bob }), history), /taken out 1 min ago/)
  history.queued(bob, pull)
  history.closed(bob, pull)
  assert.match(verdict(judge.leave(history, pull, { caller: bob }), history), /any more: closed 1 min ago/)
  history.opened(bob, pull)
  assert.match(verdict(judge.leave(history, pull, { caller: bob }), history), /any more: taken out 4 min ago\./)
})

test('LND-12 it is too late to leave only after the merged state', () => {
  const { history, pull } = open()
  history.queued(bob, pull)
  fileBatch(history, { tip: commit(0xa01), pulls: [pull], runs: { test: 'success' } })
  assert.equal(judge.leave(history, pull, { caller: bob }).ok, true)
  history.merged(rigby, pull, { commit: commit(0xa01), batch: commit(0xa01) })
  assert.match(verdict(judge.leave(history, pull, { caller: bob }), history), /^not-queued \| .*landed 1 min ago/)
})

test('ADM-8 a draft that is held can be taken out', () => {
  const { history, pull } = open()
  const entry = history.queued(bob, pull)
  history.editPull(pull, { draft: true })
  assert.deepEqual(judge.leave(history, pull, { caller: bob }), { ok: true, branch: 'main', entry })
})

test('ADM-9 the place is counted from 1 over the whole queue, pulls in batches included', () => {
  const { history, pull } = open()
  const others = [history.pull(carol), history.pull(carol)]
  for (const other of others) history.queued(bob, other)
  fileBatch(history, { tip: commit(0xa01), pulls: others.slice(0, 1), runs: { test: 'running' } })
  assert.deepEqual(judge.queue(history, pull, { caller: bob }), { ok: true, branch: 'main', position: 3, length: 3 })
})

test('a pull whose head branch is gone, or whose target is, could only be turned away', () => {
  const { history } = open()
  const headless = history.pull(dave, { head: { repo: history.uri, branch: 'gone' } })
  assert.equal(
    verdict(judge.queue(history, headless, { caller: bob }), history),
    'branch-not-found | Not queued: its branch gone no longer exists in alice.test/orchard. | Push it again, then add it.',
  )
  const astray = history.pull(dave, { branch: 'release' })
  assert.equal(
    verdict(judge.queue(history, astray, { caller: bob }), history),
    'branch-not-found | alice.test/orchard has no branch release. | Pick one of: main and topic.',
  )
})

test('ADM-5 a pull that git cannot merge is refused with the reason, unless it may pass', () => {
  const { history, pull } = open()
  history.merges.clear()
  const unrelated = { code: 'unrelated', message: 'The two branches have no history in common.', passing: false }
  history.mergeFaults.set(pull, { ...unrelated, tip: TIP, head: HEAD })
  assert.equal(
    verdict(judge.queue(history, pull, { caller: bob }), history),
    'conflict | Not queued: it cannot be merged with main. | The two branches have no history in common. Rebase it onto main, push, and add it.',
  )
  assert.equal(judge.queue(history, pull, { caller: bob, merge: merge(pull) }).ok, true, 'a fresh look says more')
  history.mergeFaults.set(pull, { ...unrelated, tip: TIP, head: commit(99) })
  assert.equal(judge.queue(history, pull, { caller: bob }).ok, true, 'another head is another question')
  history.mergeFaults.set(pull, { code: 'failed', message: 'git could not merge the branch.', passing: true, tip: TIP, head: HEAD })
  assert.equal(judge.queue(history, pull, { caller: bob }).ok, true)
})

test('ADM-5 a git state that could not be taken is named with its repository, the target before the fork', () => {
  const { history } = open()
  const fork = repoAt(dave)
  history.refsOf(dave, 'orchard', { topic: commit(7) })
  const pull = history.pull(dave, { head: { repo: fork, branch: 'topic' } })
  history.gitFaults.set(fork, { code: 'bad-pack', message: 'A pack is corrupt.', passing: false })
  assert.equal(
    verdict(judge.queue(history, pull, { caller: bob }), history),
    'upstream-failed | Not queued: the git state of dave.test/orchard could not be taken. | A pack is corrupt. Push it again, then add it.',
  )
  history.gitFaults.set(history.uri, { code: 'bad-ref', message: '"main" is listed twice.', passing: false })
  assert.match(verdict(judge.queue(history, pull, { caller: bob }), history), /alice\.test\/orchard could not be taken/)
})

test('a branch is known not to be there although no pull is onto any other', () => {
  const { history, pull } = open()
  history.refsOf(alice, 'orchard', { topic: HEAD })
  history.merges.clear()
  assert.equal(
    verdict(judge.queue(history, pull, { caller: bob }), history),
    'branch-not-found | alice.test/orchard has no branch main. | Pick one of: topic.',
  )
  history.refs.clear()
  history.gitFaults.set(history.uri, { code: 'no-refs', message: 'Nothing was pushed to it yet.', passing: true })
  assert.match(verdict(judge.queue(history, pull, { caller: bob }), history), /^branch-not-found /)
})

test('PRO-3 a merge onto a branch that takes pulls only through the queue is refused, naming the rule', () => {
  const { history, pull } = open({ protections: [{ branch: 'main', queue: true }] })
  for (const caller of [alice, bob, mallory]) {
    assert.equal(
      verdict(judge.merge(history, pull, { caller }), history),
      'queue-only | Not merged: main takes pulls only through the queue. | Add it to the merge queue instead.',
    )
  }
})

test('PRO-4 with no runners named a merge into such a branch is refused, saying so', () => {
  const { history, pull } = open({ protections: [{ branch: 'main', queue: true }], runners: [] })
  assert.equal(
    verdict(judge.merge(history, pull, { caller: alice }), history),
    'no-runners | Not merged: main takes pulls only through the queue, and alice.test/orchard names no runner that would land one. | The owner can name a runner, or take the rule off main.',
  )
})

test('merging by hand is for owner and collaborators, where it applies and changes something', () => {
  const { history, pull } = open({ runners: [] })
  const says = (caller?: string) => verdict(judge.merge(history, pull, { caller, gateway: given }), history)
  for (const caller of [alice, bob]) assert.equal(says(caller), 'ok')
  assert.match(says(mallory), /^not-allowed \| Not merged:/)
  assert.match(says(), /^signed-out \| Not merged:/)
  merges(history, pull, { empty: true })
  assert.match(says(alice), /^nothing-to-land \| Not merged: its changes are already on main as of /)
  merges(history, pull, { applies: false, conflicts: ['a.ts'] })
  assert.match(says(alice), /^conflict \| Not merged: .*Merge or rebase main and push\.$/)
})

/** Hindrances in the order in which the merge box speaks; each is put in the way together with all that come after it. */
const hindrances: [string, (history: History, pull: AtUri) => void][] = [
  ['pull-not-open', (history, pull) => history.closed(bob, pull)],
  ['draft', (history, pull) => history.editPull(pull, { draft: true })],
  ['already-queued', (history, pull) => history.queued(bob, pull)],
  ['conflict', (history, pull) => merges(history, pull, { applies: false, conflicts: ['a.ts'] })],
  ['checks-failed', (history, pull) => atHead(history, pull)],
  ['not-delegated', () => {}],
  ['no-runners', history => history.edit({ runners: [] })],
  ['not-allowed', () => {}],
]
for (const [i, [code]] of hindrances.entries()) {
  test(`refusals in order: ${code} comes before ${
    hindrances
      .slice(i + 1)
      .map(([after]) => after)
      .join(', ') || 'nothing'
  }`, () => {
    const { history, pull } = open()
    // No runners shows no checks and lands nothing, so that these are told only while runners are named.
    const needsRunner = code === 'checks-failed' || code === 'not-delegated'
    const order = hindrances.slice(i).filter(([other]) => other !== 'no-runners' || !needsRunner)
    const gateway = order.some(([other]) => other === 'not-delegated') ? withheld : given
    for (const [, hinder] of order.reverse()) hinder(history, pull)
    assert.equal(verdict(judge.queue(history, pull, { caller: mallory, gateway }), history).split(' ')[0], code)
  })
}

test('a judgement says nothing of a conflict that has not been looked at', () => {
  const history = new History()
  const pull = history.pull(dave)
  assert.equal(judge.queue(history, pull, { caller: bob }).ok, true)
})
