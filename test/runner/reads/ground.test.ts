import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { awayAppview, queueOf, type ReadsWorld, startReadsWorld, viewOf } from './support.ts'

describe('a repository as it is read for a pass', { timeout: 120_000 }, () => {
  let world: ReadsWorld
  before(async () => {
    world = await startReadsWorld()
  })
  after(() => world.end())

  test('NOT-1 a record that the index has not seen counts, and so does its pull', async () => {
    const { people, network } = world
    const repo = await world.orchard('unseen')
    network.faults.hold()
    try {
      const eyes = world.runner()
      const pull = await openUnseen(world, repo, 'pear')
      await world.queue(people.alice, repo.uri, pull)
      const ground = await eyes.reads.ground(repo.uri)
      assert.deepEqual(queueOf(ground), [pull])
      assert.equal(ground.refs.refs.find(row => row.name === 'refs/heads/main')?.commit, repo.tip)
      assert.deepEqual(ground.unread, [])
    } finally {
      network.faults.clear()
    }
  })

  test('NOT-1 the index and fresh reads together; QUE-1 oldest key first', async () => {
    const { people } = world
    const repo = await world.orchard('both')
    const one = await repo.openPull({ branch: 'one', files: { 'one.txt': '1\n' } })
    const two = await repo.openPull({ branch: 'two', files: { 'two.txt': '2\n' }, fork: true })
    await world.indexed((await world.queue(people.bob, repo.uri, two.uri)).uri)
    await world.queue(people.alice, repo.uri, one.uri)
    const { reads } = world.runner()
    const ground = await reads.ground(repo.uri)
    assert.deepEqual(queueOf(ground), [two.uri, one.uri])
    assert.equal(viewOf(ground, two).head, two.head)
    const heads = await reads.heads(ground, [viewOf(ground, one), viewOf(ground, two)])
    assert.deepEqual(heads.get(one.uri), { state: 'at', commit: one.head })
    assert.deepEqual(heads.get(two.uri), { state: 'at', commit: two.head })
    assert.ok(reads.accountsOf(ground).includes(people.carol.did))
  })

  test('NOT-1 without the index a pass goes on from the accounts alone', async () => {
    const { people } = world
    const repo = await world.orchard('away')
    const pull = await repo.openPull({ branch: 'plum', files: { 'plum.txt': '1\n' } })
    await world.queue(people.bob, repo.uri, pull.uri)
    const { reads, lines } = world.runner({ appview: awayAppview(people.rigby.writer) })
    const ground = await reads.ground(repo.uri)
    assert.deepEqual(queueOf(ground), [pull.uri])
    assert.deepEqual(
      lines.map(line => line.event),
      ['the index does not answer'],
    )
  })
})

/** A pull of which the server hears nothing. */
async function openUnseen(world: ReadsWorld, repo: Awaited<ReturnType<ReadsWorld['orchard']>>, branch: string): Promise<string> {
  const { carol } = world.people
  await repo.push(branch, repo.tip)
  const { uri } = await carol.create('dev.knotless.pull', {
    repo: repo.uri,
    branch: 'main',
    head: { repo: repo.uri, branch },
    title: `Change ${branch}`,
    createdAt: new Date().toISOString(),
  })
  return uri
}
