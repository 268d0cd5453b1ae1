import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readBatches, readEveryBatch } from '../../src/queue/batches.ts'
import { fileBatch, flight, land, type Stack } from './batch-support.ts'
import { alice, bob, carol, commit, History, mallory, rigby, rocky, TIP } from './support.ts'

const LOW = commit(0xa01)
const HIGH = commit(0xa02)

function queue(count: number, record: ConstructorParameters<typeof History>[0] = {}) {
  const history = new History(record)
  const pulls = Array.from({ length: count }, () => history.pull(carol))
  for (const pull of pulls) history.queued(bob, pull)
  return { history, pulls }
}

const table: [string, Stack['runs'], string | undefined][] = [
  ['any run queued', { check: 'success', test: 'queued' }, 'checking'],
  ['any run running, though another failed', { check: 'failure', test: 'running' }, 'checking'],
  ['all passed', { check: 'success', test: 'success' }, 'landing'],
  ['passed beside what was skipped', { check: 'success', test: 'skipped' }, 'landing'],
  ['nothing left to count', { check: 'skipped' }, 'landing'],
  ['one cancelled and none failed', { check: 'success', test: 'cancelled' }, undefined],
  ['one failed', { check: 'success', test: 'failure' }, undefined],
  ['an error', { check: 'success', test: 'error' }, undefined],
  ['REC-6 a status that nobody knows', { check: 'success', test: 'splendid' }, undefined],
]
for (const [what, runs, state] of table) {
  test(`CHK-4 a batch with ${what} is ${state ?? 'not in flight'}`, () => {
    const { history, pulls } = queue(2)
    fileBatch(history, { tip: LOW, pulls, runs })
    assert.deepEqual(flight(history), state === undefined ? {} : { a01: state })
  })
}

/** The state of the only batch there is, in flight or not. */
function onlyState(history: History, branch = 'main') {
  const view = history.view()
  const of = view.branches.get(branch)
  const facts = { branch, tip: of?.tip, generation: of?.generation ?? 0, checks: history.checks, pulls: view.pulls, roles: view.roles }
  const all = readEveryBatch(facts)
  assert.equal(all.length, 1)
  return all[0]?.state
}

test('CHK-4 failed and cancelled are told apart', () => {
  for (const [runs, state] of [
    [{ check: 'failure', test: 'cancelled' }, 'failed'],
    [{ check: 'cancelled', test: 'success' }, 'cancelled'],
    [{ check: 'splendid', test: 'success' }, 'failed'],
  ] as const) {
    const { history, pulls } = queue(1)
    fileBatch(history, { tip: LOW, pulls, runs })
    assert.equal(onlyState(history), state)
  }
})

test('CHK-4 only the newest run of each workflow counts', () => {
  const { history, pulls } = queue(1)
  fileBatch(history, { tip: LOW, pulls, runs: { test: 'failure' } })
  fileBatch(history, { tip: LOW, pulls, runs: { test: 'success' } })
  assert.deepEqual(flight(history), { a01: 'landing' })
  assert.deepEqual(
    history
      .view()
      .branches.get('main')
      ?.batches[0]?.checks.map(run => run.value.status),
    ['success'],
  )
})

test('CHK-4 a batch is landing only where its base is the branch’s tip', () => {
  const { history, pulls } = queue(1)
  fileBatch(history, { tip: LOW, base: commit(0xbad), pulls, runs: { test: 'success' } })
  assert.deepEqual(flight(history), {})
  assert.equal(onlyState(history), 'cancelled')
})

test('CHK-4 it is landing still when the branch is at its tip and nothing is recorded yet', () => {
  const { history, pulls } = queue(1)
  fileBatch(history, { tip: LOW, pulls, runs: { test: 'success' } })
  history.refsOf(alice, 'orchard', { main: LOW, topic: commit(2) })
  assert.deepEqual(flight(history), { a01: 'landing' })
})

test('MOV-2 LND-2 a batch that passed lands no more once one was built anew where it stands, or once a pull of it is out', () => {
  const { history, pulls } = queue(2)
  fileBatch(history, { tip: LOW, pulls, runs: { test: 'success' } })
  assert.deepEqual(flight(history), { a01: 'landing' })
  fileBatch(history, { tip: HIGH, pulls, runs: { test: 'running' } }, { at: history.tick() })
  assert.deepEqual(flight(history), { a02: 'checking' })

  const other = queue(2)
  const [first] = other.pulls
  fileBatch(other.history, { tip: LOW, pulls: other.pulls, runs: { test: 'success' } })
  if (first !== undefined) other.history.left(bob, first)
  assert.deepEqual(flight(other.history), {})
  if (first !== undefined) other.history.queued(bob, first)
  assert.equal(onlyState(other.history), 'cancelled', 'queued again it is in another batch')
  other.history.refsOf(alice, 'orchard', { main: LOW, topic: commit(2) })
  assert.deepEqual(flight(other.history), { a01: 'landing' }, 'it was pushed before')
})

test('CHK-4 a batch ahead that passed waits for the batch under it', () => {
  const { history, pulls } = queue(2)
  fileBatch(history, { tip: LOW, pulls: pulls.slice(0, 1), runs: { test: 'running' } })
  fileBatch(history, { tip: HIGH, base: LOW, pulls: pulls.slice(1), runs: { test: 'success' } })
  assert.deepEqual(flight(history), { a01: 'checking', a02: 'passed-waiting' })
})

test('AHD-1 a batch ahead that is being checked runs ahead, and lands next once the one under it has landed', () => {
  const { history, pulls } = queue(2)
  const low = { tip: LOW, pulls: pulls.slice(0, 1), runs: { test: 'success' } }
  fileBatch(history, low)
  fileBatch(history, { tip: HIGH, base: LOW, pulls: pulls.slice(1), runs: { test: 'running' } })
  assert.deepEqual(flight(history), { a01: 'landing', a02: 'ahead' })
  land(history, low)
  assert.deepEqual(flight(history), { a02: 'checking' }, 'the branch’s move has not been read yet')
  history.refsOf(alice, 'orchard', { main: LOW, topic: commit(2) })
  assert.deepEqual(flight(history), { a02: 'checking' })
})

test('FAI-9 a red batch ahead is undecided until the batch under it has landed', () => {
  const { history, pulls } = queue(2)
  const low = { tip: LOW, pulls: pulls.slice(0, 1), runs: { test: 'running' } as Stack['runs'] }
  fileBatch(history, low)
  fileBatch(history, { tip: HIGH, base: LOW, pulls: pulls.slice(1), runs: { test: 'failure' } })
  assert.deepEqual(flight(history), { a01: 'checking', a02: 'red-undecided' })
  land(history, low)
  assert.deepEqual(flight(history), {}, 'it failed')
})

test('FAI-9 the verdict above a batch that failed or was dropped is thrown away', () => {
  for (const under of ['failure', 'cancelled'] as const) {
    for (const above of ['failure', 'success', 'running'] as const) {
      const { history, pulls } = queue(2)
      fileBatch(history, { tip: LOW, pulls: pulls.slice(0, 1), runs: { test: under } })
      fileBatch(history, { tip: HIGH, base: LOW, pulls: pulls.slice(1), runs: { test: above } })
      const view = history.view()
      const all = readEveryBatch({ branch: 'main', tip: TIP, generation: 1, checks: history.checks, pulls: view.pulls, roles: view.roles })
      assert.equal(all.find(batch => batch.tip === HIGH)?.state, 'cancelled', `${above} above ${under}`)
      assert.deepEqual(flight(history), {})
    }
  }
})

test('CHK-5 a batch has landed when each pull is merged at exactly its batch commit', () => {
  const { history, pulls } = queue(2)
  const stack = { tip: LOW, pulls, runs: { test: 'success' } }
  fileBatch(history, stack)
  const [first, second] = pulls
  assert.ok(first !== undefined && second !== undefined)
  history.merged(rigby, first, { commit: commit(0xa01 * 100 + 1), batch: LOW })
  assert.deepEqual(flight(history), { a01: 'landing' })
  history.merged(rigby, second, { commit: commit(0xfff), batch: LOW })
  assert.deepEqual(flight(history), { a01: 'landing' }, 'the second at another commit')
  history.remove(history.states.at(-1) ?? { uri: '' })
  history.merged(rigby, second, { commit: LOW, batch: LOW })
  assert.deepEqual(flight(history), {})
  assert.equal(onlyState(history), 'landed')
})

test('CHK-9 batches of an older generation of the branch count for nothing', () => {
  const { history, pulls } = queue(1)
  fileBatch(history, { tip: LOW, pulls, runs: { test: 'running' } }, { generation: 0 })
  assert.deepEqual(flight(history), {})
})

test('CHK-12 a group that is not whole is never landing, though it may be checking', () => {
  const { history, pulls } = queue(1)
  fileBatch(history, { tip: LOW, pulls, runs: { check: 'success', test: 'success' }, of: 3 })
  assert.deepEqual(flight(history), {})
  assert.equal(onlyState(history), 'cancelled')
  fileBatch(history, { tip: LOW, pulls, runs: { e2e: 'running' }, of: 3 })
  assert.deepEqual(flight(history), { a01: 'checking' })
  fileBatch(history, { tip: LOW, pulls, runs: { e2e: 'success' }, of: 3 })
  assert.deepEqual(flight(history), { a01: 'landing' })
})

test('STA-7 batches of runners that are not named are not shown, whoever files them', () => {
  for (const by of [mallory, bob, rocky]) {
    const { history, pulls } = queue(1)
    fileBatch(history, { tip: LOW, pulls, runs: { test: 'running' }, by })
    assert.deepEqual(flight(history), {})
    const { pulls: views, roles } = history.view()
    assert.deepEqual(readEveryBatch({ branch: 'main', tip: TIP, generation: 1, checks: history.checks, pulls: views, roles }), [])
  }
})

test('CHK-8 of two named runners that file for one tip the lander’s runs count', () => {
  const { history, pulls } = queue(1, { runners: [{ did: rigby }, { did: rocky }] })
  fileBatch(history, { tip: LOW, pulls, runs: { test: 'failure' }, by: rocky })
  fileBatch(history, { tip: LOW, pulls, runs: { test: 'running' } })
  assert.deepEqual(flight(history), { a01: 'checking' })
})

test('CHK-3 runs of a pull’s own, of another branch or without a base are no batch', () => {
  const { history, pulls } = queue(1)
  const [pull] = pulls
  assert.ok(pull !== undefined)
  history.check(rigby, { pull, status: 'running' })
  fileBatch(history, { tip: LOW, pulls, runs: { test: 'running' } }, { ref: 'refs/heads/release' })
  const [baseless] = fileBatch(history, { tip: HIGH, pulls, runs: { test: 'running' } })
  if (baseless !== undefined) delete baseless.value.baseCommit
  assert.deepEqual(flight(history), {})
})

test('a batch knows its members in order, its runner, since when, and whether it is trusted and isolated', () => {
  const { history, pulls } = queue(3)
  const [first] = fileBatch(history, { tip: LOW, pulls, runs: { check: 'success', test: 'running' } })
  const batch = history.view().branches.get('main')?.batches[0]
  assert.equal(batch?.runner, rigby)
  assert.deepEqual(
    batch?.members.map(member => member.pull),
    pulls,
  )
  assert.equal(batch?.since, Date.parse(first?.value.createdAt ?? ''))
  assert.equal(batch?.trusted, true)
  assert.equal(batch?.isolated, true)
  fileBatch(history, { tip: LOW, pulls, runs: { e2e: 'queued' } }, { trusted: false, isolated: false })
  const after = history.view().branches.get('main')?.batches[0]
  assert.deepEqual([after?.trusted, after?.isolated], [false, false])
})

test('REA-5 the last five batches landed are read from merged records, newest first, and no check is needed', () => {
  const { history, pulls } = queue(9)
  const stacks = [pulls.slice(0, 3), ...pulls.slice(3).map(pull => [pull])].map((members, i) => ({
    tip: commit(0xb00 + i),
    pulls: members,
    runs: {},
  }))
  for (const stack of stacks) land(history, stack)
  const landed = history.view().branches.get('main')?.landed ?? []
  assert.deepEqual(
    landed.map(batch => batch.tip.slice(-3)),
    ['b06', 'b05', 'b04', 'b03', 'b02'],
  )
  const { history: other, pulls: three } = queue(3)
  land(other, { tip: LOW, pulls: three, runs: {} })
  const [only] = other.view().branches.get('main')?.landed ?? []
  assert.deepEqual(
    only?.members.map(member => member.pull),
    three,
  )
  assert.equal(only?.members.at(-1)?.commit, LOW)
  assert.equal(only?.by, rigby)
})

test('STA-5 what is not on the branch is not listed as landed', () => {
  const { history, pulls } = queue(2)
  land(history, { tip: LOW, pulls: pulls.slice(0, 1), runs: {} })
  land(history, { tip: HIGH, pulls: pulls.slice(1), runs: {} })
  history.tip({
    contains: new Map([
      [LOW, false],
      [HIGH, true],
    ]),
  })
  assert.deepEqual(
    history
      .view()
      .branches.get('main')
      ?.landed.map(batch => batch.tip),
    [HIGH],
  )
})

test('batches that claim to stand on one another in a circle, or in a tower, end nothing', () => {
  const { history, pulls } = queue(1)
  fileBatch(history, { tip: LOW, base: HIGH, pulls, runs: { test: 'success' } })
  fileBatch(history, { tip: HIGH, base: LOW, pulls, runs: { test: 'failure' } })
  assert.deepEqual(flight(history), {})
  for (let i = 1; i < 3000; i++) fileBatch(history, { tip: commit(0x10000 + i), base: commit(0xffff + i), pulls, runs: { test: 'queued' } })
  assert.ok(Object.keys(flight(history)).length <= 20)
})

test('the order of checks changes nothing', () => {
  const { history, pulls } = queue(3)
  fileBatch(history, { tip: LOW, pulls: pulls.slice(0, 2), runs: { check: 'success', test: 'running' } })
  fileBatch(history, { tip: LOW, pulls: pulls.slice(0, 2), runs: { test: 'success' } })
  fileBatch(history, { tip: HIGH, base: LOW, pulls: pulls.slice(2), runs: { check: 'success', test: 'failure' } })
  const view = history.view()
  const base = { branch: 'main', tip: TIP, generation: 1, pulls: view.pulls, roles: view.roles, lander: rigby }
  const expected = readBatches({ ...base, checks: history.checks })
  assert.deepEqual(
    expected.map(batch => batch.state),
    ['landing', 'red-undecided'],
  )
  fc.assert(
    fc.property(fc.shuffledSubarray(history.checks, { minLength: history.checks.length }), checks => {
      assert.deepEqual(readBatches({ ...base, checks }), expected)
    }),
    { numRuns: 50 },
  )
})
