import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { AtUri } from '../../../src/atproto/ids.ts'
import { createDoors, type RunnerDoors } from '../../../src/runner/reads/doors.ts'
import { until } from '../../support/until.ts'
import { type Eyes, key, type ReadsWorld, type RunnerOptions, startReadsWorld } from './support.ts'

interface House extends Eyes {
  doors: RunnerDoors
  /** Why each repository was rung, so far. */
  rings: { repo: AtUri; why: string }[]
  /** Reads the repository as a pass does, and says whose accounts matter. */
  pass(repo: AtUri): Promise<void>
  rung(repo: AtUri, why: string): Promise<void>
}

describe('doors', { timeout: 120_000 }, () => {
  let world: ReadsWorld
  const open: RunnerDoors[] = []
  before(async () => {
    world = await startReadsWorld()
  })
  afterEach(() => world.network.faults.clear())
  after(async () => {
    await Promise.all(open.map(doors => doors.stop()))
    await world.end()
  })

  async function house(repos: AtUri[], options: RunnerOptions & { jetstreamUrl?: string } = {}): Promise<House> {
    const { jetstreamUrl = world.network.jetstreamUrl, ...rest } = options
    const eyes = world.runner({ ...rest, settings: { repos, ...rest.settings } })
    const doors = createDoors(eyes.ctx, { reads: eyes.reads, jetstreamUrl, timing: { firstRetryMs: 20 } })
    open.push(doors)
    const rings: House['rings'] = []
    doors.start((repo, why) => void rings.push({ repo, why }))
    if (options.jetstreamUrl === undefined) await until(() => doors.listening(), { what: 'jetstream' })
    return {
      ...eyes,
      doors,
      rings,
      async pass(repo) {
        const ground = await eyes.reads.ground(repo)
        doors.watch(ground.repo, eyes.reads.accountsOf(ground))
      },
      rung: async (repo, why) =>
        void (await until(() => rings.some(ring => ring.repo === repo && ring.why === why), { what: `${why} to ring` })),
    }
  }

  test('NOT-2 queue, pull and state records that name the repository ring it, of refs, repo and rerun those of accounts that matter', async () => {
    const { alice, bob, carol, mallory } = world.people
    const repo = await world.orchard('bells')
    const other = await world.orchard('others')
    const { rings, pass, rung, doors } = await house([repo.uri])
    await pass(repo.uri)
    const pull = await repo.openPull({ branch: 'plum', files: { 'plum.txt': '1\n' } })
    await rung(repo.uri, 'dev.knotless.refs')
    await rung(repo.uri, 'dev.knotless.pull')
    await world.queue(bob, repo.uri, pull.uri)
    await rung(repo.uri, 'dev.knotless.queue')
    await world.state(carol, repo.uri, pull.uri, { state: 'closed' })
    await rung(repo.uri, 'dev.knotless.state')
    await repo.edit({ description: 'Trees.' })
    await rung(repo.uri, 'dev.knotless.repo')
    await bob.create('dev.knotless.rerun', { repo: repo.uri, pull: pull.uri, createdAt: new Date().toISOString() }, key())
    await rung(repo.uri, 'dev.knotless.rerun')

    rings.length = 0
    await mallory.create('dev.knotless.rerun', { repo: repo.uri, pull: pull.uri, createdAt: new Date().toISOString() }, key())
    await world.queue(alice, other.uri, pull.uri)
    await world.queue(bob, repo.uri, pull.uri)
    await rung(repo.uri, 'dev.knotless.queue')
    assert.deepEqual(
      rings.map(ring => ring.why),
      ['dev.knotless.queue'],
      'neither a stranger’s rerun nor another repository’s queue rings',
    )
    await doors.stop()
  })

  test('NOT-2 a deletion carries no record and rings by its account; a frame twice, late or in pieces rings and no more', async () => {
    const { people, network } = world
    const repo = await world.orchard('deletion')
    const pull = await repo.openPull({ branch: 'plum', files: { 'plum.txt': '1\n' } })
    const entry = await world.queue(people.bob, repo.uri, pull.uri)
    const { rings, pass, rung, doors, reads } = await house([repo.uri])
    await pass(repo.uri)
    await network.settled()
    network.faults.garbage()
    network.faults.add({ fault: 'duplicate', copies: 3 })
    network.faults.add({ fault: 'delay', ms: 30 })
    rings.length = 0
    await people.bob.remove('dev.knotless.queue', entry.key)
    await rung(repo.uri, 'dev.knotless.queue')
    const ground = await reads.ground(repo.uri)
    assert.equal(ground.view.pulls.get(pull.uri)?.entry, undefined)
    network.faults.clear()
    await doors.stop()
  })

  test('NOT-3 a record is noticed though Jetstream is silent; what a pass has read does not ring', async () => {
    const { people } = world
    const repo = await world.orchard('silence')
    const pull = await repo.openPull({ branch: 'plum', files: { 'plum.txt': '1\n' } })
    const { rings, pass, rung, doors, reads } = await house([repo.uri], {
      jetstreamUrl: 'ws://127.0.0.1:9/subscribe',
      settings: { noticeMs: 100 },
    })
    await pass(repo.uri)
    const looks = world.network.faults.add({ fault: 'stall', ms: 0, method: 'com.atproto.sync.getLatestCommit', account: 'bob.test' })
    await until(() => looks.hits() >= 2, { what: 'two looks at an account' })
    assert.deepEqual(rings, [])
    await world.queue(people.bob, repo.uri, pull.uri)
    await rung(repo.uri, 'notice')
    assert.deepEqual((await reads.ground(repo.uri)).view.branches.get('main')?.queue.length, 1)
    looks.clear()
    await doors.stop()
  })

  test('NOT-3 the sweep rings every door', async () => {
    const one = await world.orchard('sweep-one')
    const two = await world.orchard('sweep-two')
    const { rung, doors } = await house([one.uri, two.uri], { jetstreamUrl: 'ws://127.0.0.1:9/subscribe', settings: { sweepMs: 50 } })
    await rung(one.uri, 'sweep')
    await rung(two.uri, 'sweep')
    await doors.stop()
  })

  test('NOT-6 one look an account for all repositories; the interval grows with the accounts of a host', async () => {
    const repos = [await world.orchard('share-one'), await world.orchard('share-two')]
    const { pass, doors } = await house(
      repos.map(repo => repo.uri),
      { settings: { noticeMs: 300 } },
    )
    for (const repo of repos) await pass(repo.uri)
    const looks = world.network.faults.add({ fault: 'stall', ms: 0, method: 'com.atproto.sync.getLatestCommit', account: 'alice.test' })
    const others = world.network.faults.add({ fault: 'stall', ms: 0, method: 'com.atproto.sync.getLatestCommit', account: 'bob.test' })
    await until(() => others.hits() >= 3, { what: 'three rounds' })
    assert.ok(looks.hits() < 2 * others.hits(), `${looks.hits()} looks at the owner of two, ${others.hits()} at another`)
    assert.equal(doors.interval(), 600, 'three accounts of one host, 200 ms apart')
    looks.clear()
    others.clear()
    await doors.stop()
  })

  test('NOT-2 Jetstream that breaks off is heard again, from a little before', async () => {
    const { people, network } = world
    const repo = await world.orchard('break')
    const pull = await repo.openPull({ branch: 'plum', files: { 'plum.txt': '1\n' } })
    const { pass, rung, rings, doors } = await house([repo.uri])
    await pass(repo.uri)
    await world.queue(people.bob, repo.uri, pull.uri)
    await rung(repo.uri, 'dev.knotless.queue')
    network.faults.cut({ refuse: true })
    await until(() => !doors.listening(), { what: 'the break' })
    await world.queue(people.bob, repo.uri, pull.uri, { state: 'left' })
    await network.settled()
    rings.length = 0
    network.faults.clear()
    await rung(repo.uri, 'dev.knotless.queue')
    await doors.stop()
  })
})
