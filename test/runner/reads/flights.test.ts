import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { DevAccount } from '../../../src/devnet/account.ts'
import type { RunNow } from '../../../src/runner/planner/types.ts'
import type { Group, Runs } from '../../../src/runner/types.ts'
import { pullCheckKey } from '../../../src/workflows/check-keys.ts'
import type { OpenedPull, Planted } from '../../server/gateway-world.ts'
import { key, keyAt, type ReadsWorld, startReadsWorld } from './support.ts'

const MINUTE = 60_000
const earlier = 'e'.repeat(40)

describe('runs of pre-flights that count', { timeout: 180_000 }, () => {
  let world: ReadsWorld
  let repo: Planted
  let pull: OpenedPull
  before(async () => {
    world = await startReadsWorld()
    const { bob, rigby } = world.people
    repo = await world.orchard('flights', { runners: [{ did: rigby.did }, { did: bob.did }] })
    pull = await repo.openPull({ branch: 'plum', files: { 'plum.txt': '1\n' } })
    await world.queue(world.people.alice, repo.uri, pull.uri)
  })
  afterEach(() => world.network.faults.clear())
  after(() => world.end())

  /** A check of the pull; `ago` is when its run started, in minutes before now. */
  async function check(
    account: DevAccount,
    fields: { workflow: string; status: string; ago?: number; tip?: string } & Record<string, unknown>,
  ) {
    const { ago = 1, tip = repo.tip, ...rest } = fields
    const at = new Date(Date.now() - ago * MINUTE).toISOString()
    const started = fields.status === 'queued' ? {} : { startedAt: at }
    const rkey = pullCheckKey(pull.uri, { tip: pull.head, base: tip, file: `${fields.workflow}.yml`, tid: key() })
    const value = {
      repo: repo.uri,
      ref: 'refs/heads/main',
      generation: 1,
      commit: pull.head,
      baseCommit: tip,
      pull: pull.uri,
      createdAt: at,
      ...started,
      ...rest,
    }
    return (await account.put('dev.knotless.check', rkey, value)).uri
  }

  async function flights(workflows: string[], runs: Runs = runsOf([]), reads = world.runner().reads) {
    const ground = await reads.ground(repo.uri)
    const asked = { tip: repo.tip, workflows, pulls: [{ pull: pull.uri, head: pull.head }], own: runs }
    return (await reads.flights(ground, asked)).get(pull.uri)?.map(({ workflow, state, tip, check: uri }) => [workflow, state, tip, uri])
  }

  test('PRE-2 the newest run counts, of every named runner and the lander’s own; one that is only queued elsewhere counts as none', async () => {
    const { bob, rigby, mallory } = world.people
    const passed = await check(bob, { workflow: 'a', status: 'success', ago: 5, tip: earlier })
    await check(bob, { workflow: 'a', status: 'queued', ago: 1 })
    await check(bob, { workflow: 'b', status: 'success', ago: 9 })
    const failed = await check(rigby, { workflow: 'b', status: 'failure', ago: 2 })
    await check(mallory, { workflow: 'c', status: 'success' })
    await check(rigby, { workflow: 'd', status: 'queued' })
    const going = await check(bob, { workflow: 'e', status: 'running' })
    assert.deepEqual(await flights(['a', 'b', 'c', 'd', 'e']), [
      ['a', 'passed', earlier, passed],
      ['b', 'failed', repo.tip, failed],
      ['c', 'none', undefined, undefined],
      ['d', 'none', undefined, undefined],
      ['e', 'running', repo.tip, going],
    ])
  })

  test('PRE-3 how runs read: skipped is not needed; a time-out, trouble, a cancelled run and an unknown status are no verdict', async () => {
    const { bob } = world.people
    const skipped = await check(bob, { workflow: 'skipped', status: 'skipped' })
    const late = await check(bob, { workflow: 'late', status: 'error', verdict: 'timeout' })
    const lost = await check(bob, { workflow: 'lost', status: 'error', verdict: 'executor-lost' })
    const broken = await check(bob, { workflow: 'broken', status: 'error' })
    const cancelled = await check(bob, { workflow: 'cancelled', status: 'cancelled' })
    await check(bob, { workflow: 'odd', status: 'dancing' })
    assert.deepEqual(await flights(['skipped', 'late', 'lost', 'broken', 'cancelled', 'odd']), [
      ['skipped', 'not-needed', undefined, skipped],
      ['late', 'timeout', repo.tip, late],
      ['lost', 'trouble', repo.tip, lost],
      ['broken', 'failed', repo.tip, broken],
      ['cancelled', 'cancelled', repo.tip, cancelled],
      ['odd', 'none', undefined, undefined],
    ])
  })

  test('CHK-9 PRE-2 runs of an older generation of the branch, of another head or another repository count for nothing', async () => {
    const { bob } = world.people
    await check(bob, { workflow: 'old', status: 'success', generation: 0 })
    await check(bob, { workflow: 'old', status: 'success', repo: `at://${bob.did}/dev.knotless.repo/flights` })
    await check(bob, { workflow: 'old', status: 'success', commit: repo.tip })
    assert.deepEqual(await flights(['old']), [['old', 'none', undefined, undefined]])
  })

  test('PRE-2 this runner’s runs in memory are newer than what was read of them, on whatever tip', async () => {
    const { rigby } = world.people
    const read = await check(rigby, { workflow: 'mine', status: 'running', ago: 3, tip: earlier })
    const { reads } = world.runner()
    assert.deepEqual(await flights(['mine'], runsOf([]), reads), [['mine', 'running', earlier, read]])
    const ended: RunNow = {
      workflow: 'mine',
      file: 'mine.yml',
      state: 'failed',
      check: read,
      status: 'failure',
      startedAt: Date.now() - 3 * MINUTE,
    }
    const filed = `at://${rigby.did}/dev.knotless.check/${pullCheckKey(pull.uri, { tip: pull.head, base: repo.tip, file: 'mine.yml', tid: keyAt(Date.now()) })}`
    const waits: RunNow = { workflow: 'mine', file: 'mine.yml', state: 'filed', check: filed }
    assert.deepEqual(await flights(['mine'], runsOf([[repo.tip, [{ ...ended }]]]), reads), [['mine', 'failed', repo.tip, read]])
    assert.deepEqual(await flights(['mine'], runsOf([[repo.tip, [ended, waits]]]), reads), [['mine', 'queued', repo.tip, filed]])
  })

  test('PRE-2 a named runner that does not answer adds nothing', async () => {
    const { bob } = world.people
    world.network.faults.add({ fault: 'refuse', method: 'com.atproto.repo.listRecords', account: 'bob.test', status: 500 })
    await check(bob, { workflow: 'away', status: 'success' })
    assert.deepEqual(await flights(['away']), [['away', 'none', undefined, undefined]])
    world.network.faults.clear()
  })

  test('NOT-6 checks are listed again only when their account has changed', async () => {
    const { bob } = world.people
    const { reads } = world.runner()
    await flights(['a'], runsOf([]), reads)
    const lists = world.network.faults.add({ fault: 'stall', ms: 0, method: 'com.atproto.repo.listRecords' })
    await flights(['a'], runsOf([]), reads)
    assert.equal(lists.hits(), 0)
    const newer = await check(bob, { workflow: 'a', status: 'failure', ago: 0 })
    assert.deepEqual(await flights(['a'], runsOf([]), reads), [['a', 'failed', repo.tip, newer]])
    world.network.faults.clear()
  })

  test('RUN-6 REC-3 reruns of owner and collaborators, oldest first; not a stranger’s, nor what lies past its making or in the future', async () => {
    const { alice, bob, mallory } = world.people
    const rerun = (account: DevAccount, fields: Record<string, unknown>, rkey = key()) =>
      account.create('dev.knotless.rerun', { repo: repo.uri, createdAt: new Date().toISOString(), ...fields }, rkey)
    const first = await rerun(bob, { pull: pull.uri, workflow: 'a' })
    const second = await rerun(alice, { branch: 'main', commit: repo.tip })
    await rerun(mallory, { pull: pull.uri })
    await rerun(bob, { pull: pull.uri, createdAt: new Date(Date.now() - 3 * 24 * 60 * MINUTE).toISOString() })
    await rerun(bob, { pull: pull.uri }, keyAt(Date.now() + 60 * MINUTE))
    const { reads } = world.runner()
    const found = await reads.reruns(await reads.ground(repo.uri))
    assert.deepEqual(
      found.map(({ uri, by }) => [uri, by]),
      [
        [first.uri, bob.did],
        [second.uri, alice.did],
      ],
    )
    assert.deepEqual([found[0]?.workflow, found[1]?.commit], ['a', repo.tip])
  })

  /** Runs of this runner at tips. */
  function runsOf(at: [tip: string, runs: RunNow[]][]): Runs {
    const known = new Map(at)
    const groupOf = (tip: string): Group => ({
      id: tip,
      subject: { of: 'pull', pull: pull.uri, head: pull.head, branch: 'main', generation: 1, tip, tree: '', queued: true },
    })
    const never = () => Promise.reject(new Error('nothing is run here'))
    return {
      flightOf: (of, head, tip) => (of === pull.uri && head === pull.head && known.has(tip) ? groupOf(tip) : undefined),
      of: id => known.get(id) ?? [],
      file: never,
      begin() {},
      promote() {},
      cancel: never,
      recover: never,
      prune: never,
      stop: never,
      idle: never,
    }
  }
})
