import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { type AtUri, makeAtUri } from '../../../src/atproto/ids.ts'
import { UpstreamError } from '../../../src/atproto/upstream-error.ts'
import { until } from '../../support/until.ts'
import { awayAppview, key, keyAt, queueOf, type ReadsWorld, startReadsWorld, viewOf } from './support.ts'

const HOUR = 3_600_000
const plum = { branch: 'plum', files: { 'plum.txt': '1\n' } }

describe('a repository as it is read for a pass', { timeout: 180_000 }, () => {
  let world: ReadsWorld
  before(async () => {
    world = await startReadsWorld()
  })
  afterEach(() => world.network.faults.clear())
  after(() => world.end())

  /** Counts calls to the PDS from now on. */
  function calls(method: string, account?: string) {
    return world.network.faults.add({ fault: 'stall', ms: 0, method, ...(account === undefined ? {} : { account }) })
  }

  test('NOT-1 a record that the index has not seen counts, and so does its pull', async () => {
    const { people, network } = world
    const repo = await world.orchard('unseen')
    network.faults.hold()
    const pull = await openUnseen(world, repo, 'pear')
    await world.queue(people.alice, repo.uri, pull)
    const ground = await world.runner().reads.ground(repo.uri)
    assert.deepEqual(queueOf(ground), [pull])
    assert.equal(ground.refs.refs.find(row => row.name === 'refs/heads/main')?.commit, repo.tip)
    assert.deepEqual(ground.unread, [])
    network.faults.clear()
  })

  test('NOT-1 the index and fresh reads together; QUE-1 oldest key first; a fresh record replaces its copy', async () => {
    const { people } = world
    const repo = await world.orchard('both')
    const one = await repo.openPull({ branch: 'one', files: { 'one.txt': '1\n' } })
    const two = await repo.openPull({ branch: 'two', files: { 'two.txt': '2\n' }, fork: true })
    const entry = await world.queue(people.bob, repo.uri, two.uri)
    await world.indexed(entry.uri)
    await world.queue(people.alice, repo.uri, one.uri)
    const { reads } = world.runner()
    const ground = await reads.ground(repo.uri)
    assert.deepEqual(queueOf(ground), [two.uri, one.uri])
    const heads = await reads.heads(ground, [viewOf(ground, one), viewOf(ground, two)])
    assert.deepEqual(heads.get(one.uri), { state: 'at', commit: one.head })
    assert.deepEqual(heads.get(two.uri), { state: 'at', commit: two.head })
    assert.ok(reads.accountsOf(ground).includes(people.carol.did))
    await people.bob.put('dev.knotless.queue', entry.key, {
      ...(await people.bob.get('dev.knotless.queue', entry.key))?.value,
      state: 'left',
    })
    assert.deepEqual(queueOf(await reads.ground(repo.uri)), [one.uri])
  })

  test('HON-2 a stranger’s record counts for nothing, read fresh or not', async () => {
    const { people } = world
    const repo = await world.orchard('stranger')
    const pull = await repo.openPull(plum)
    await world.indexed((await world.queue(people.mallory, repo.uri, pull.uri)).uri)
    assert.deepEqual(queueOf(await world.runner().reads.ground(repo.uri)), [])
  })

  test('NOT-1 without the index a pass goes on from the accounts, and from what the last pass had', async () => {
    const { people } = world
    const repo = await world.orchard('away')
    const pull = await repo.openPull(plum)
    await world.queue(people.bob, repo.uri, pull.uri)
    const { reads, lines } = world.runner({ appview: awayAppview(people.rigby.writer) })
    assert.deepEqual(queueOf(await reads.ground(repo.uri)), [pull.uri])
    assert.deepEqual(queueOf(await reads.ground(repo.uri)), [pull.uri])
    assert.deepEqual(
      lines.map(line => [line.event, line.fields.from]),
      [['the index does not answer', 'accounts']],
    )
  })

  test('NOT-1 an account that does not answer, or not in 5 s, adds nothing, is named, and holds up nobody; what it wrote before stands', async () => {
    const { people, network } = world
    const repo = await world.orchard('dumb')
    const pull = await repo.openPull(plum)
    const entry = await world.queue(people.bob, repo.uri, pull.uri)
    const { reads } = world.runner()
    assert.deepEqual(queueOf(await reads.ground(repo.uri)), [pull.uri])
    network.faults.add({ fault: 'refuse', account: 'bob.test', status: 500 })
    const refused = await reads.ground(repo.uri)
    assert.deepEqual([queueOf(refused), refused.unread], [[pull.uri], [people.bob.did]])
    network.faults.clear()
    await world.indexed(entry.uri)
    network.faults.add({ fault: 'stall', account: 'bob.test' })
    const startedAt = performance.now()
    const stalled = await reads.ground(repo.uri)
    const took = performance.now() - startedAt
    assert.deepEqual([queueOf(stalled), stalled.unread], [[pull.uri], [people.bob.did]])
    assert.ok(took > 4_900 && took < 9_000, `${took} ms`)
    network.faults.clear()
  })

  test('NOT-1 a pass fails where the owner’s account does not answer, and where there is no such repository', async () => {
    const { people, network } = world
    const repo = await world.orchard('silent-owner')
    const { reads } = world.runner()
    await assert.rejects(reads.ground(repo.uri.replace('silent-owner', 'no-such') as typeof repo.uri), UpstreamError)
    network.faults.add({ fault: 'refuse', account: people.alice.did, status: 503 })
    await assert.rejects(reads.ground(repo.uri), UpstreamError)
    network.faults.clear()
    assert.equal((await reads.ground(repo.uri)).owner, people.alice.did)
  })

  test('NOT-6 an account that has not changed is not listed again, and once for all repositories; one look at each member', async () => {
    const { people } = world
    const repo = await world.orchard('once')
    const other = await world.orchard('once-more')
    const pull = await repo.openPull({ ...plum, fork: true })
    await world.queue(people.alice, repo.uri, pull.uri)
    const { reads } = world.runner()
    await reads.ground(repo.uri)
    const lists = calls('com.atproto.repo.listRecords')
    const records = calls('com.atproto.repo.getRecord')
    const looks = calls('com.atproto.sync.getLatestCommit')
    await reads.ground(other.uri)
    assert.equal(lists.hits(), 0, 'the other repository’s members were listed already')
    const before = records.hits()
    await reads.ground(repo.uri)
    assert.deepEqual([lists.hits(), records.hits() - before], [0, 2], 'only the repository and its refs are read')
    assert.equal(looks.hits(), 6, 'owner, collaborator and runner, twice; the author was looked at lately')
    await world.queue(people.bob, repo.uri, pull.uri)
    await reads.ground(repo.uri)
    assert.equal(lists.hits(), 2, 'queue and state of whoever wrote')
    world.network.faults.clear()
  })

  test('NOT-1 a pull that landed long ago does not come back from an old record, whatever the index still lists', async () => {
    const { people } = world
    const repo = await world.orchard('landed-long-ago')
    const pull = await repo.openPull(plum)
    const longAgo = Date.now() - 40 * 24 * HOUR
    await world.queue(people.alice, repo.uri, pull.uri, {}, keyAt(longAgo))
    await world.state(people.rigby, repo.uri, pull.uri, { state: 'merged', commit: repo.tip }, keyAt(longAgo + HOUR))
    const states = Array.from({ length: 120 }, (_, n) => ({
      $type: 'com.atproto.repo.applyWrites#create',
      collection: 'dev.knotless.state',
      rkey: keyAt(longAgo + 2 * HOUR + n),
      value: {
        $type: 'dev.knotless.state',
        repo: repo.uri,
        subject: `at://${people.carol.did}/dev.knotless.pull/${keyAt(longAgo)}`,
        state: 'closed',
        createdAt: new Date().toISOString(),
      },
    }))
    await people.rigby.call('com.atproto.repo.applyWrites', { input: { repo: people.rigby.did, writes: states } })
    const { reads } = world.runner({ appview: awayAppview(people.rigby.writer) })
    assert.deepEqual(queueOf(await reads.ground(repo.uri)), [])
  })

  test('HON-5 what a former runner landed does not come back without the index', async () => {
    const { people } = world
    const repo = await world.orchard('former', { runners: [{ did: people.rigby.did }, { did: people.mallory.did }] })
    const pull = await repo.openPull(plum)
    const other = await repo.openPull({ branch: 'pear', files: { 'pear.txt': '1\n' } })
    for (const { uri } of [pull, other]) await world.queue(people.alice, repo.uri, uri)
    const { key: until } = await world.state(people.mallory, repo.uri, pull.uri, { state: 'merged', commit: repo.tip })
    await repo.edit({ runners: [{ did: people.rigby.did }], former: [{ did: people.mallory.did, role: 'runner', until }] })
    const { reads } = world.runner({ appview: awayAppview(people.rigby.writer) })
    assert.deepEqual(queueOf(await reads.ground(repo.uri)), [other.uri])
  })

  test('HON-4 a move is followed, one hop, and both addresses are one repository', async () => {
    const { alice } = world.people
    const repo = await world.orchard('moves')
    const pull = await repo.openPull(plum)
    await world.queue(alice, repo.uri, pull.uri)
    const { reads } = world.runner()
    assert.equal((await reads.ground(repo.uri)).repo, repo.uri)
    const to = await takeOver(world, repo, 'moves')
    await handOver(repo, to)
    const ground = await reads.ground(repo.uri)
    assert.deepEqual([ground.repo, ground.owner], [to, world.people.bob.did])
    assert.deepEqual(queueOf(ground), [pull.uri], 'queued by the owner of then, before the move')
    assert.equal(reads.askedAs(to), repo.uri)
    await world.queue(alice, repo.uri, pull.uri, { state: 'left' })
    assert.deepEqual(queueOf(await reads.ground(repo.uri)), [pull.uri], 'who owns it no longer takes nothing out')
  })

  test('HON-4 NOT-1 the queue goes along with a move of which the index has seen one end', async () => {
    const { people, network } = world
    const repo = await world.orchard('half-seen', { collaborators: [{ did: people.mallory.did }] })
    const pear = await repo.openPull({ branch: 'pear', files: { 'pear.txt': '1\n' } })
    const fig = await repo.openPull({ branch: 'fig', files: { 'fig.txt': '1\n' } })
    await world.queue(people.alice, repo.uri, pear.uri)
    await world.queue(people.alice, repo.uri, fig.uri)
    // A collaborator of then, of whom the record at the new address says nothing.
    const { uri } = await world.queue(people.mallory, repo.uri, fig.uri, { state: 'left' })
    await world.indexed(uri)
    const to = await takeOver(world, repo, 'half-seen')
    await world.indexed(to)
    network.faults.hold()
    await handOver(repo, to)
    const ground = await world.runner().reads.ground(repo.uri)
    assert.deepEqual([ground.repo, queueOf(ground)], [to, [pear.uri]])
    network.faults.clear()
    await network.settled()
    const { reads } = world.runner()
    await until(async () => (await world.runner().ctx.appview.facts(to))?.transferredFrom !== undefined, {
      what: 'the index to know both ends',
    })
    const lists = calls('com.atproto.repo.listRecords', people.alice.did)
    assert.deepEqual(queueOf(await reads.ground(repo.uri)), [pear.uri])
    assert.equal(lists.hits(), 0, 'the records of who owned it are not gone through any more')
  })

  test('HON-4 NOT-1 the queue goes along with a move where the index has not seen its last entry, or is away', async () => {
    const { people, network } = world
    const repo = await world.orchard('unseen-move')
    const pull = await repo.openPull(plum)
    await world.indexed(pull.uri)
    network.faults.hold()
    await world.queue(people.alice, repo.uri, pull.uri)
    await handOver(repo, await takeOver(world, repo, 'unseen-move'))
    assert.deepEqual(queueOf(await world.runner().reads.ground(repo.uri)), [pull.uri])
    assert.deepEqual(queueOf(await world.runner({ appview: awayAppview(people.rigby.writer) }).reads.ground(repo.uri)), [pull.uri])
    network.faults.clear()
  })

  test('REC-8 REC-3 a clock an hour off is told; what is in its future does not count yet', async () => {
    const { people } = world
    const repo = await world.orchard('clock')
    const pull = await repo.openPull(plum)
    await world.queue(people.bob, repo.uri, pull.uri)
    let ahead = -HOUR
    const { reads } = world.runner({ ahead: () => ahead })
    assert.equal(await reads.clockSkew(), 0, 'nothing was read yet')
    const behind = await reads.ground(repo.uri)
    assert.ok(Math.abs((await reads.clockSkew()) - HOUR) < 5_000)
    assert.deepEqual(queueOf(behind), [])
    ahead = HOUR
    assert.deepEqual(queueOf(await reads.ground(repo.uri)), [pull.uri])
    assert.ok(Math.abs((await reads.clockSkew()) + HOUR) < 5_000)
    ahead = 0
    await reads.ground(repo.uri)
    assert.ok(Math.abs(await reads.clockSkew()) < 5_000, 'each pass compares again')
  })
})

/** A pull of which the server hears nothing. */
async function openUnseen(world: ReadsWorld, repo: Awaited<ReturnType<ReadsWorld['orchard']>>, branch: string): Promise<string> {
  await repo.push(branch, repo.tip)
  const fields = { repo: repo.uri, branch: 'main', head: { repo: repo.uri, branch }, title: `Change ${branch}` }
  const { uri } = await world.people.carol.create('dev.knotless.pull', { ...fields, createdAt: new Date().toISOString() }, key())
  return uri
}

/** The new end of a move of alice's repository, in bob's account; the move does not hold by it alone. */
async function takeOver({ people }: ReadsWorld, repo: Awaited<ReturnType<ReadsWorld['orchard']>>, name: string): Promise<AtUri> {
  const { alice, bob } = people
  const to = makeAtUri(bob.did, 'dev.knotless.repo', name)
  const record = (await alice.get('dev.knotless.repo', name))?.value ?? {}
  const refs = (await alice.get('dev.knotless.refs', name))?.value ?? {}
  const own = { collaborators: [], transferredFrom: repo.uri, createdAt: new Date().toISOString() }
  await bob.put('dev.knotless.repo', name, { ...record, ...own })
  await bob.put('dev.knotless.refs', name, { ...refs, repo: to, packs: [] })
  return to
}

async function handOver(repo: Awaited<ReturnType<ReadsWorld['orchard']>>, to: AtUri): Promise<void> {
  await repo.edit({ transferredTo: { repo: to, at: key() } })
}
