import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { UpstreamError } from '../../../src/atproto/upstream-error.ts'
import { key, keyAt, queueOf, type ReadsWorld, startReadsWorld, viewOf } from './support.ts'

const HOUR = 3_600_000

describe('what only the index told of is read where it lies', { timeout: 180_000 }, () => {
  let world: ReadsWorld
  before(async () => {
    world = await startReadsWorld()
  })
  afterEach(() => world.network.faults.clear())
  after(() => world.end())

  test('NOT-7 REC-4 what was deleted at its source counts no more, though the index has it: in what was read, and below it', async () => {
    const { people, network } = world
    const repo = await world.orchard('deleted')
    const high = await repo.openPull({ branch: 'high', files: { 'high.txt': '1\n' } })
    const deep = await repo.openPull({ branch: 'deep', files: { 'deep.txt': '1\n' } })
    const kept = await repo.openPull({ branch: 'kept', files: { 'kept.txt': '1\n' } })
    const longAgo = Date.now() - 40 * 24 * HOUR
    const entries = [
      await world.queue(people.bob, repo.uri, deep.uri, {}, keyAt(longAgo)),
      await world.queue(people.bob, repo.uri, kept.uri, {}, keyAt(longAgo + HOUR)),
      await world.queue(people.bob, repo.uri, high.uri),
    ]
    // So many about others since that nobody reads down to the first ones.
    await people.bob.call('com.atproto.repo.applyWrites', {
      input: { repo: people.bob.did, writes: manyAbout(repo.uri, kept.uri, longAgo) },
    })
    for (const { uri } of entries) await world.indexed(uri)
    const before = await world.runner().reads.ground(repo.uri)
    assert.deepEqual(queueOf(before), [deep.uri, kept.uri, high.uri])
    network.faults.add({ fault: 'drop' })
    for (const at of [0, 2]) await people.bob.remove('dev.knotless.queue', entries[at]?.key ?? '')
    await network.settled()
    assert.deepEqual(queueOf(await world.runner().reads.ground(repo.uri)), [kept.uri])
    network.faults.clear()
  })

  test('NOT-7 an entry that nobody could read where it lies is not built on; one that was read before stands', async () => {
    const { people, network } = world
    const repo = await world.orchard('unread-entry')
    const pull = await repo.openPull({ branch: 'plum', files: { 'plum.txt': '1\n' } })
    await world.indexed((await world.queue(people.bob, repo.uri, pull.uri)).uri)
    const knows = world.runner()
    assert.deepEqual(queueOf(await knows.reads.ground(repo.uri)), [pull.uri])
    network.faults.add({ fault: 'refuse', account: 'bob.test', status: 502 })
    const strange = await world.runner().reads.ground(repo.uri)
    assert.deepEqual([queueOf(strange), strange.unread], [[], [people.bob.did]])
    assert.deepEqual(queueOf(await knows.reads.ground(repo.uri)), [pull.uri])
    network.faults.clear()
  })

  test('QUE-2 QUE-3 QUE-5 a pull is what its author’s account says, whatever the index missed', async () => {
    const { people, network } = world
    const { carol, alice } = people
    const repo = await world.orchard('edited')
    await repo.push('release', repo.tip)
    const pulls = []
    for (const branch of ['retargeted', 'draft', 'deleted']) {
      const pull = await repo.openPull({ branch, files: { [`${branch}.txt`]: '1\n' } })
      await world.indexed((await world.queue(alice, repo.uri, pull.uri)).uri)
      pulls.push(pull)
    }
    const [retargeted, draft, deleted] = pulls
    assert.ok(retargeted && draft && deleted)
    network.faults.hold()
    const edit = async (uri: string, fields: Record<string, unknown>) => {
      const rkey = uri.split('/').at(-1) ?? ''
      await carol.put('dev.knotless.pull', rkey, { ...(await carol.get('dev.knotless.pull', rkey))?.value, ...fields })
    }
    await edit(retargeted.uri, { branch: 'release' })
    await edit(draft.uri, { draft: true })
    await carol.remove('dev.knotless.pull', deleted.uri.split('/').at(-1) ?? '')
    const ground = await world.runner().reads.ground(repo.uri)
    assert.deepEqual([queueOf(ground), queueOf(ground, 'release')], [[], [retargeted.uri]])
    assert.ok(viewOf(ground, draft).heldEntry !== undefined, 'a draft is held')
    assert.equal(ground.view.pulls.has(deleted.uri), false)
    network.faults.clear()
  })

  test('BLD-4 where a head is: there, gone, unreadable, its account gone; LND-12 again reads what was read lately', async () => {
    const { people, network } = world
    const repo = await world.orchard('heads')
    const fork = await repo.openPull({ branch: 'fork', files: { 'fork.txt': '1\n' }, fork: true })
    await world.queue(people.alice, repo.uri, fork.uri)
    const eyes = world.runner()
    const first = await eyes.reads.ground(repo.uri)
    const head = async () => (await eyes.reads.again(first, [fork.uri])).heads.get(fork.uri)
    assert.deepEqual(await head(), { state: 'at', commit: fork.head })

    await repo.pushAs(people.carol, 'fork', repo.tip)
    const lately = await eyes.reads.ground(repo.uri)
    assert.deepEqual((await eyes.reads.heads(lately, [viewOf(lately, fork)])).get(fork.uri), { state: 'at', commit: fork.head })
    assert.deepEqual(await head(), { state: 'at', commit: repo.tip })

    await repo.pushAs(people.carol, 'fork', null)
    assert.deepEqual(await head(), { state: 'gone' })

    network.faults.add({ fault: 'refuse', account: 'carol.test', status: 500 })
    const server = new URL(network.pdsUrl).host
    assert.deepEqual(await head(), { state: 'unreadable', server })
    const strange = world.runner().reads
    const unread = await strange.ground(repo.uri)
    assert.deepEqual((await strange.heads(unread, [viewOf(unread, fork)])).get(fork.uri), { state: 'unreadable', server })
    assert.deepEqual(unread.unread, [people.carol.did])
    network.faults.clear()

    const gone = await network.createAccount('gone.test')
    const theirs = await repo.openPull({ branch: 'theirs', files: { 'theirs.txt': '1\n' }, author: gone, fork: true })
    const pull = await people.carol.create(
      'dev.knotless.pull',
      {
        repo: repo.uri,
        branch: 'main',
        head: { repo: `at://${gone.did}/dev.knotless.repo/heads`, branch: 'theirs' },
        title: 'Theirs',
        createdAt: new Date().toISOString(),
      },
      key(),
    )
    await world.queue(people.alice, repo.uri, pull.uri)
    await world.queue(people.alice, repo.uri, theirs.uri)
    await gone.call('com.atproto.server.deactivateAccount', { input: {} })
    const { reads } = world.runner()
    const now = await reads.ground(repo.uri)
    const view = now.view.pulls.get(pull.uri)
    assert.ok(view !== undefined)
    assert.deepEqual((await reads.heads(now, [view])).get(pull.uri), { state: 'account-gone' })
    assert.equal(now.view.pulls.get(theirs.uri)?.state ?? 'closed', 'closed', 'QUE-2 a pull whose account is gone counts as closed')
  })

  test('LND-12 again: out, closed by its author, turned draft, queued by who no longer may; and it fails where an entry cannot be read', async () => {
    const { people, network } = world
    const { alice, bob, carol } = people
    const repo = await world.orchard('again')
    const pulls = []
    for (const branch of ['left', 'closed', 'bobs', 'stays']) {
      const pull = await repo.openPull({ branch, files: { [`${branch}.txt`]: '1\n' } })
      await world.indexed((await world.queue(branch === 'bobs' ? bob : alice, repo.uri, pull.uri)).uri)
      pulls.push(pull)
    }
    const [left, closed, bobs, stays] = pulls
    assert.ok(left && closed && bobs && stays)
    const { reads } = world.runner()
    const ground = await reads.ground(repo.uri)
    const all = pulls.map(pull => pull.uri)
    assert.deepEqual(queueOf(ground), all)
    network.faults.hold()
    await world.queue(alice, repo.uri, left.uri, { state: 'left' })
    await world.state(carol, repo.uri, closed.uri, { state: 'closed' })
    assert.deepEqual(queueOf((await reads.again(ground, all)).ground), [bobs.uri, stays.uri])
    await repo.edit({ collaborators: [] })
    assert.deepEqual(queueOf((await reads.again(ground, all)).ground), [stays.uri])
    await repo.edit({ collaborators: [{ did: bob.did }] })
    network.faults.add({ fault: 'refuse', account: 'bob.test', status: 500 })
    await assert.rejects(reads.again(ground, [bobs.uri]), UpstreamError)
    assert.deepEqual(queueOf((await reads.again(ground, [stays.uri])).ground).includes(stays.uri), true)
    network.faults.clear()
  })
})

/** Records about a repository, more than a page of them, that change nothing. */
function manyAbout(repo: string, subject: string, after: number) {
  return Array.from({ length: 150 }, (_, n) => ({
    $type: 'com.atproto.repo.applyWrites#create',
    collection: 'dev.knotless.queue',
    rkey: keyAt(after + 2 * HOUR + n),
    value: { $type: 'dev.knotless.queue', repo, subject, state: 'queued', createdAt: new Date().toISOString() },
  }))
}
