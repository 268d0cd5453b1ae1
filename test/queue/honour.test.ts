import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tidAt } from '../../src/queue/tid.ts'
import { alice, bob, carol, commit, DAY, dave, HEAD, History, iso, MINUTE, mallory, repoAt, rigby, rocky, START } from './support.ts'

test('HON-1 queue records count from the owner and from collaborators', () => {
  for (const writer of [alice, bob, carol]) {
    const history = new History()
    const pull = history.pull(dave)
    history.queued(writer, pull)
    assert.deepEqual(history.line(), [pull])
    history.left(writer, pull)
    assert.deepEqual(history.line(), [])
    history.queued(writer, pull)
    history.ejected(writer, pull)
    assert.deepEqual(history.line(), [])
  }
})

test("HON-2 a stranger's record counts for nothing, whatever it says and however new", () => {
  const history = new History()
  const [waiting, queued] = [history.pull(dave), history.pull(dave)]
  history.queued(bob, queued)
  history.queued(mallory, waiting)
  history.left(mallory, queued)
  history.ejected(mallory, queued)
  history.closed(mallory, queued)
  history.merged(mallory, queued, { commit: commit(7) })
  history.queued(dave, waiting)
  assert.deepEqual(history.line(), [queued], 'nor does that of an author who may not merge')
  assert.equal(history.see(queued).state, 'open')
  assert.equal(history.see(queued).history.length, 1)
  assert.equal(history.view().ignored.get('stranger'), 6)
})

test('HON-3 of the queue records of a named runner only ejected counts', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(rigby, pull)
  assert.deepEqual(history.line(), [])
  history.queued(bob, pull)
  history.left(rigby, pull)
  assert.deepEqual(history.line(), [pull])
  assert.equal(history.view().ignored.get('runner-may-not'), 2)
  const ejected = history.ejected(rigby, pull)
  assert.deepEqual(history.line(), [])
  assert.equal(history.see(pull).ejection?.uri, ejected.uri)
})

test("HON-3 of the states of a named runner merged and closed count as the owner's would, open does not", () => {
  const history = new History()
  const [first, second] = [history.pull(dave), history.pull(dave)]
  history.closed(rigby, first)
  history.merged(rigby, second, { commit: commit(7) })
  assert.equal(history.see(first).state, 'closed')
  assert.equal(history.see(second).state, 'merged')
  history.opened(rigby, first)
  assert.equal(history.see(first).state, 'closed')
})

test('HON-3 a runner that is a collaborator as well has all that a collaborator has', () => {
  const history = new History({ runners: [{ did: bob }] })
  const pull = history.pull(dave)
  history.queued(bob, pull)
  assert.deepEqual(history.line(), [pull])
  history.left(bob, pull)
  assert.deepEqual(history.line(), [])
})

test("HON-4 after a transfer the previous owner's records count if they predate the move, later ones do not", () => {
  const history = new History()
  const [before, after] = [history.pull(dave), history.pull(dave)]
  history.queued(alice, before)
  history.transfer(mallory)
  history.queued(alice, after)
  history.left(alice, before)
  assert.deepEqual(history.line(), [before])
  assert.equal(history.view().ignored.get('not-while-named'), 2)
  history.queued(mallory, after)
  assert.deepEqual(history.line(), [before, after], 'the new owner may')
})

test('HON-4 a transfer holds only when both records say it', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(alice, pull)
  history.transfer(mallory)
  const [from, to] = [history.transferredFrom, history.repo]
  assert.deepEqual(history.line(), [pull])
  history.transferredFrom = undefined
  assert.equal(history.view().pulls.size, 0, 'the old record was not read')
  assert.ok(from)
  history.transferredFrom = { ...from, value: { ...from.value, transferredTo: { repo: repoAt(carol), at: tidAt(history.now) } } }
  assert.equal(history.view().pulls.size, 0, 'the old record names another')
  history.transferredFrom = from
  history.repo = { ...to, value: { ...to.value, transferredFrom: repoAt(carol) } }
  assert.equal(history.view().pulls.size, 0, 'the new record names another')
})

test('HON-4 a transfer holds from the later of both sides on', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.transfer(mallory)
  const declared = history.now
  const accepted = declared + 10 * MINUTE
  const { value } = history.repo
  history.repo = { ...history.repo, value: { ...value, createdAt: iso(accepted) } }
  const between = history.queued(alice, pull, { at: declared + 5 * MINUTE })
  assert.equal(history.view(accepted - 1).pulls.size, 0)
  assert.equal(history.view(accepted - 1).wakesAt, accepted)
  assert.equal(history.see(pull, accepted).entry?.key, between.rkey)
  history.queued(alice, history.pull(dave), { at: accepted + MINUTE })
  assert.deepEqual(history.line('main', accepted + 2 * MINUTE), [pull])
})

test('HON-4 both addresses then name one repository', () => {
  const history = new History()
  const [first, second] = [history.pull(dave), history.pull(dave)]
  history.queued(alice, first)
  const old = history.uri
  history.transfer(mallory)
  history.queued(mallory, second, { repo: old })
  const third = history.pull(dave)
  history.queued(bob, third)
  assert.deepEqual(history.line(), [first, second, third])
  const asked = history.view()
  assert.deepEqual({ uri: asked.uri, movedTo: asked.movedTo }, { uri: history.uri, movedTo: undefined })
  const moved = history.viewFromOldAddress()
  assert.deepEqual({ uri: moved.uri, movedTo: moved.movedTo }, { uri: old, movedTo: history.uri })
  assert.equal(moved.roles.owner, mallory)
  assert.deepEqual(moved.branches.get('main')?.queue, asked.branches.get('main')?.queue)
})

test('HON-5 what an old record named goes on taking out after a move that does not name it any more', () => {
  const history = new History()
  const [left, ejected] = [history.pull(dave), history.pull(dave)]
  for (const pull of [left, ejected]) history.queued(alice, pull)
  history.left(bob, left)
  history.ejected(rigby, ejected)
  history.transfer(mallory, { collaborators: [], runners: [] })
  assert.deepEqual(history.line(), [])
  history.queued(mallory, left)
  history.left(bob, left)
  assert.deepEqual(history.line(), [left], 'but nothing that it wrote later')
})

test('HON-5 what puts in counts only while its writer may now', () => {
  const history = new History()
  const [queued, reopened] = [history.pull(dave), history.pull(dave)]
  history.queued(bob, queued)
  history.closed(carol, reopened)
  history.opened(bob, reopened)
  history.queued(carol, reopened)
  assert.deepEqual(history.line(), [queued, reopened])
  history.takeOut(bob)
  assert.deepEqual(history.line(), [])
  assert.equal(history.see(reopened).state, 'closed')
  history.edit({ collaborators: [{ did: bob }, { did: carol }] })
  assert.deepEqual(history.line(), [queued, reopened], 'named again, it may again')
})

test('HON-5 what takes out goes on counting from whoever was allowed, up to the key that the record says', () => {
  const history = new History()
  const [left, ejected, closed, merged] = [history.pull(dave), history.pull(dave), history.pull(dave), history.pull(dave)]
  const pulls = [left, ejected, closed, merged]
  for (const pull of pulls) history.queued(carol, pull)
  assert.deepEqual(history.line(), pulls)
  history.left(bob, left)
  history.ejected(bob, ejected)
  history.closed(bob, closed)
  history.merged(bob, merged)
  const until = history.lastKey()
  history.takeOut(bob)
  assert.deepEqual(history.line(), [])
  assert.deepEqual(
    pulls.map(pull => history.see(pull).state),
    ['open', 'open', 'closed', 'merged'],
  )
  history.queued(carol, left)
  const late = history.left(bob, left)
  assert.ok(late.rkey > until)
  assert.deepEqual(history.line(), [left], 'what it wrote after that key does not count')
  assert.equal(history.view().ignored.get('not-while-named'), 1)
})

test('HON-5 a former runner goes on taking out what a runner may, and no more', () => {
  const history = new History()
  const [ejected, kept] = [history.pull(dave), history.pull(dave)]
  for (const pull of [ejected, kept]) history.queued(carol, pull)
  history.ejected(rigby, ejected)
  history.left(rigby, kept)
  history.takeOut(rigby)
  assert.deepEqual(history.line(), [kept])
})

test('HON-5 a former account that is void counts for nothing', () => {
  const history = new History()
  const [first, second] = [history.pull(dave), history.pull(dave)]
  history.queued(carol, first)
  history.left(bob, first)
  history.queued(bob, second)
  history.takeOut(bob, { void: true })
  assert.deepEqual(history.line(), [first])
  assert.equal(history.view().ignored.get('void'), 2)
})

test('HON-5 a void account that is named again counts for what it writes after it was void', () => {
  const history = new History()
  const [first, second] = [history.pull(dave), history.pull(dave)]
  history.queued(bob, first)
  history.takeOut(bob, { void: true })
  history.edit({ collaborators: [{ did: bob }] })
  history.queued(bob, second)
  assert.deepEqual(history.line(), [second])
})

test('HON-5 a previous owner that is void counts for nothing', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(alice, pull)
  history.transfer(mallory)
  assert.deepEqual(history.line(), [pull])
  const until = tidAt(START)
  history.takeOut(alice, { until, role: 'collaborator' })
  assert.deepEqual(history.line(), [pull], 'taken out is not void')
  history.takeOut(alice, { until, role: 'collaborator', void: true })
  assert.deepEqual(history.line(), [], 'whatever key it is void to')
})

test('HON-5 an account of the old record that the new one makes void counts for nothing', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(carol, pull)
  history.left(bob, pull)
  history.transfer(mallory, { collaborators: [{ did: carol }] })
  assert.deepEqual(history.line(), [])
  history.takeOut(bob, { void: true, until: tidAt(START) })
  assert.deepEqual(history.line(), [pull])
})

test('HON-5 who was former before a move takes nothing out after it', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(carol, pull)
  history.takeOut(bob, { until: tidAt(history.now + DAY) })
  history.transfer(mallory, { former: [] })
  history.left(bob, pull)
  assert.deepEqual(history.line(), [pull])
})

test('HON-4 a head at the old address is the one at the new', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.transfer(mallory)
  history.refs.delete(repoAt(alice))
  assert.equal(history.see(pull).head, HEAD)
})

test('HON-1 an owner that names themselves is named once', () => {
  const history = new History({ collaborators: [{ did: alice }, { did: bob }, { did: bob }] })
  assert.deepEqual(history.view().roles.collaborators, [bob])
})

test('HON-6 owner and collaborators may merge, close and open; the author may close and open', () => {
  for (const writer of [alice, bob, dave]) {
    const history = new History()
    const pull = history.pull(dave)
    history.closed(writer, pull)
    assert.equal(history.see(pull).state, 'closed')
    assert.equal(history.see(pull).stateRecord?.did, writer)
    history.opened(writer, pull)
    assert.equal(history.see(pull).state, 'open')
    history.merged(writer, pull)
    assert.equal(history.see(pull).state, writer === dave ? 'open' : 'merged')
  }
})

test('HON-6 the author of another pull may not close this one', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.pull(mallory)
  history.closed(mallory, pull)
  assert.equal(history.see(pull).state, 'open')
})

test('HON-6 a state of an issue says nothing about pulls and is no fault', () => {
  const history = new History()
  const issue = `at://${dave}/dev.knotless.issue/${tidAt(history.tick())}` as const
  history.closed(alice, issue)
  assert.deepEqual([...history.view().ignored], [])
})

test('HON-7 the latest honoured record by key wins, across all writers', () => {
  const history = new History()
  const pull = history.pull(dave)
  const base = history.now
  history.left(carol, pull, { at: base + 3 * MINUTE })
  history.queued(bob, pull, { at: base + 2 * MINUTE })
  assert.deepEqual(history.line('main', base + 5 * MINUTE), [])
  history.queued(alice, pull, { at: base + 4 * MINUTE })
  assert.deepEqual(history.line('main', base + 5 * MINUTE), [pull])
})

test('HON-7 equal keys are ordered by the DID of their writer', () => {
  const key = tidAt(new History().now + 5 * MINUTE)
  const written = { at: new History().now + 5 * MINUTE, key }
  const leftByLater = new History()
  const first = leftByLater.pull(dave)
  leftByLater.queued(alice, first, written)
  leftByLater.left(bob, first, written)
  assert.deepEqual(leftByLater.line('main', written.at), [])
  const queuedByLater = new History()
  const second = queuedByLater.pull(dave)
  queuedByLater.queued(bob, second, written)
  queuedByLater.left(alice, second, written)
  assert.deepEqual(queuedByLater.line('main', written.at), [second])
})

test('HON-7 places with equal keys are ordered by the DID of their writer', () => {
  const history = new History()
  const [first, second] = [history.pull(dave), history.pull(dave)]
  const written = { at: history.now + MINUTE }
  history.queued(bob, first, written)
  history.queued(alice, second, written)
  assert.deepEqual(history.line('main', written.at), [second, first])
})

test('HON-8 merged is final: closed does not change it, and its author cannot open it', () => {
  const history = new History().tip({ contains: new Map([[commit(7), false]]) })
  const pull = history.pull(dave)
  history.queued(bob, pull)
  const merged = history.merged(rigby, pull, { commit: commit(7) })
  history.closed(bob, pull)
  history.opened(dave, pull)
  history.queued(bob, pull)
  assert.equal(history.see(pull).state, 'merged')
  assert.equal(history.see(pull).stateRecord?.uri, merged.uri)
  assert.deepEqual(history.line(), [])
  history.takeOut(rigby).edit({ runners: [{ did: rocky }] })
  assert.equal(history.see(pull).state, 'merged', 'whoever is named later')
})

test('HON-8 owner or collaborator open it again only while its commit is not on the branch', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(bob, pull)
  history.merged(rigby, pull, { commit: commit(7) })
  history.opened(bob, pull)
  assert.equal(history.see(pull).state, 'merged', 'nobody has looked')
  history.tip({ contains: new Map([[commit(7), true]]) })
  assert.equal(history.see(pull).state, 'merged')
  history.tip({ contains: new Map([[commit(7), false]]) })
  assert.equal(history.see(pull).state, 'open')
})

test('HON-8 only a new queueing brings a reopened pull back', () => {
  const history = new History().tip({ contains: new Map([[commit(7), false]]) })
  const pull = history.pull(dave)
  history.queued(bob, pull)
  history.merged(rigby, pull, { commit: commit(7) })
  history.queued(bob, pull)
  history.opened(alice, pull)
  assert.equal(history.see(pull).state, 'open')
  assert.deepEqual(history.line(), [])
  const again = history.queued(bob, pull)
  assert.equal(history.see(pull).entry?.key, again.rkey)
})

test('HON-8 one merged commit on the branch is enough to keep a pull merged', () => {
  const history = new History()
  const pull = history.pull(dave)
  history.merged(rigby, pull, { commit: commit(7) })
  const landed = history.merged(rigby, pull, { commit: commit(8) })
  history.opened(alice, pull)
  history.tip({
    contains: new Map([
      [commit(7), false],
      [commit(8), true],
    ]),
  })
  assert.equal(history.see(pull).state, 'merged')
  assert.equal(history.see(pull).stateRecord?.uri, landed.uri, 'and that one says how it landed')
  assert.equal(history.see(pull).mergedThere, true)
})

test('HON-8 a pull that was merged, reopened and merged again says how it landed the second time', () => {
  const history = new History().tip({ contains: new Map([[commit(7), false]]) })
  const pull = history.pull(dave)
  history.merged(rigby, pull, { commit: commit(7) })
  history.opened(alice, pull)
  const second = history.merged(rigby, pull, { commit: commit(8) })
  assert.equal(history.see(pull).stateRecord?.uri, second.uri)
})
