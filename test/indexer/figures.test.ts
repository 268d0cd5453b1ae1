import assert from 'node:assert/strict'
import { test } from 'node:test'
import { figureFactsOf, figuresOf, statsFacts, titlesOf } from '../../src/indexer/read.ts'
import { DAY } from '../../src/queue/stats/figures.ts'
import { alice, bob, commit, type Did, dave, iso, MINUTE, mallory, rigby, START } from '../queue/made-up.ts'
import { key, made, openBench, orchard, pullRecord, put, queueRecord, repoRecord, stateRecord, uriOf } from './support.ts'

const now = START + 60 * MINUTE
const span = { from: START - DAY, to: START + DAY, now }

/** Minutes after START of what happened, by pull. */
const story = (bench: Awaited<ReturnType<typeof openBench>>, repo: string = orchard, branch?: string) =>
  figureFactsOf(bench.index, { ...span, repo, branch }).events.map(event => `${event.kind} ${(event.at - START) / MINUTE} ${event.branch}`)

test('REA-3 HON-2 figures are of records by those whom the repository names, about its own pulls', async () => {
  const bench = await openBench()
  const pull = uriOf(dave, 'pull', key(1))
  const other = uriOf(dave, 'pull', key(2))
  await bench.take(
    put(alice, 'repo', 'orchard', repoRecord(), 1),
    put(alice, 'repo', 'pear', repoRecord(), 2),
    put(dave, 'pull', key(1), pullRecord({ title: 'Ripen' }), 3),
    put(dave, 'pull', key(2), pullRecord({ repo: orchard.replace('orchard', 'pear') }), 4),
    put(mallory, 'queue', key(3), queueRecord(pull), 5),
    put(mallory, 'state', key(4), stateRecord(pull, 'merged', { commit: commit(9) }), 6),
    put(bob, 'queue', key(5), queueRecord(pull), 7),
    put(bob, 'queue', key(6), queueRecord(other), 8),
    put(rigby, 'state', key(7), stateRecord(pull, 'merged', { commit: commit(9) }), 9),
  )
  assert.deepEqual(story(bench), ['queued 5 main', 'landed 7 main'])
  assert.deepEqual(story(bench, orchard, 'release'), [])
  assert.deepEqual(story(bench, `${orchard}s`), [])
  assert.deepEqual([...titlesOf(bench.index, [pull, uriOf(bob, 'pull', key(1))])], [[pull, { title: 'Ripen', author: dave }]])
  await bench.close()
})

test('REA-3 HON-4 what happened at the address before a transfer is counted at the one after it', async () => {
  const bench = await openBench()
  const carol: Did = bob
  const moved = uriOf(carol, 'repo', 'orchard')
  const pull = uriOf(dave, 'pull', key(1))
  await bench.take(
    put(alice, 'repo', 'orchard', repoRecord(), 1),
    put(dave, 'pull', key(1), pullRecord(), 2),
    put(alice, 'queue', key(3), queueRecord(pull), 3),
    put(alice, 'repo', 'orchard', repoRecord({ transferredTo: { repo: moved, at: key(10) } }), 4, { operation: 'update' }),
    put(carol, 'repo', 'orchard', repoRecord({ collaborators: [], transferredFrom: orchard, createdAt: made(9) }), 5),
    put(rigby, 'state', key(20), stateRecord(pull, 'merged', { commit: commit(9), repo: moved }), 6),
  )
  assert.deepEqual(story(bench, moved), ['queued 3 main', 'landed 20 main'])
  assert.deepEqual(story(bench, orchard), ['queued 3 main', 'landed 20 main'])
  await bench.close()
})

test('REA-3 STA-5 a landing whose commit is known not to be on the branch is none', async () => {
  const bench = await openBench()
  const pull = uriOf(dave, 'pull', key(1))
  await bench.take(
    put(alice, 'repo', 'orchard', repoRecord(), 1),
    put(dave, 'pull', key(1), pullRecord(), 2),
    put(alice, 'queue', key(3), queueRecord(pull), 3),
    put(rigby, 'state', key(4), stateRecord(pull, 'merged', { commit: commit(9) }), 4),
  )
  const { db, sync } = bench.index
  sync.run(db.insertInto('tip_facts').values({ repo: orchard, branch: 'main', tip: commit(1), workflows: '[]', line: 1 }))
  const at = { repo: orchard, branch: 'main', commit_id: commit(9), there: 0, line: 1 }
  sync.run(db.insertInto('commit_on_branch').values({ ...at, tip: commit(2) }))
  assert.deepEqual(story(bench), ['queued 3 main', 'landed 4 main'], 'it was looked for at an earlier tip')
  sync.run(db.updateTable('commit_on_branch').set({ tip: commit(1) }))
  assert.deepEqual(story(bench), ['queued 3 main'])
  await bench.close()
})

test('figures are remembered until something about the repository changes, and end with today', async () => {
  const bench = await openBench()
  const pull = uriOf(dave, 'pull', key(1))
  const figures = (days: number, at = now) => figuresOf(bench.index, { repo: orchard, branch: 'main', days, now: at })
  await bench.take(put(alice, 'repo', 'orchard', repoRecord(), 1), put(dave, 'pull', key(1), pullRecord(), 2))
  const before = figures(7)
  assert.equal(before, figures(7))
  assert.deepEqual([before.days.length, before.days.at(-1)?.day, before.all.queued], [7, iso(now).slice(0, 10), 0])
  await bench.take(put(alice, 'queue', key(3), queueRecord(pull), 3))
  assert.deepEqual([figures(7).all.queued, figures(7).branches], [1, ['main']])
  assert.deepEqual([figures(7, now + 7 * DAY).all.queued, figures(90, now + 7 * DAY).all.queued], [0, 1])
  await bench.close()
})

test('what took long to make is good for twenty times as long, what took little only until something changes', async () => {
  const bench = await openBench()
  const pull = uriOf(dave, 'pull', key(1))
  await bench.take(put(alice, 'repo', 'orchard', repoRecord(), 1), put(dave, 'pull', key(1), pullRecord(), 2))
  let at = 0
  let takes = 100
  const queued = () => {
    const begun = at
    let asked = 0
    // The first look is before it is made, the second after it.
    const clock = () => {
      at = begun + takes * asked++
      return at
    }
    return statsFacts(bench.index, { repo: orchard, days: 30, now, clock }).events.length
  }
  assert.equal(queued(), 0)
  await bench.take(put(alice, 'queue', key(3), queueRecord(pull), 3))
  at = 100 + 1_999
  assert.equal(queued(), 0, 'within twenty times the 100 ms that it took')
  at = 100 + 2_000
  takes = 10
  assert.equal(queued(), 1)
  await bench.take(put(alice, 'queue', key(4), queueRecord(pull, { state: 'left' }), 4), put(alice, 'queue', key(5), queueRecord(pull), 5))
  assert.equal(queued(), 2, 'what takes 10 ms is made anew')
  await bench.close()
})
