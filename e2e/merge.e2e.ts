/** A pull of a repository that nothing lands is merged from its page, with and without scripts; without the owner's delegation it is not. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { giveDelegation } from '../src/devnet/give-delegation.ts'
import type { SeededPull } from '../src/devnet/seed.ts'
import { uriOf } from '../test/server/gateway-world.ts'
import { until } from '../test/support/until.ts'
import { alertIn, headline, submit, submitted, waitForHeadline } from './support/queueing.ts'
import { startWorld, type World } from './support/world.ts'

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world?.end())

function grafting(): SeededPull {
  const pull = world.samples.almanac.pulls.grafting
  assert.ok(pull)
  return pull
}

/** Another pull of bob's onto the almanac, of the same branch as the one of the samples. */
async function another(title: string): Promise<SeededPull> {
  const { bob } = world.people
  const { uri: repo } = world.samples.almanac
  const head = { repo, branch: 'grafting' }
  const { uri } = await bob.create('dev.knotless.pull', { repo, branch: 'main', head, title, createdAt: new Date().toISOString() })
  await world.settled()
  return { ...grafting(), uri, title }
}

async function tip(): Promise<string | undefined> {
  const record = (await world.people.alice.get('dev.knotless.refs', 'almanac'))?.value
  const refs: unknown[] = Array.isArray(record?.refs) ? record.refs : []
  const main = refs.find(row => typeof row === 'object' && row !== null && 'name' in row && row.name === 'refs/heads/main')
  return typeof main === 'object' && main !== null && 'commit' in main ? String(main.commit) : undefined
}

test('GWY-1 GWY-7 after the owner has withdrawn, a merge is refused and says who has to delegate, and where; a page opened then shows no button', async () => {
  const bob = await world.open({ as: 'bob', javaScriptEnabled: false })
  const before = await tip()
  await bob.visit(world.pathOf(grafting(), 'almanac'))
  await world.server.context.delegations.withdraw(world.people.alice.did)
  assert.equal(await submitted(bob.page, 'Merge'), 422)
  assert.match(
    await alertIn(bob.page),
    /Not merged: this server may not write for alice\.test.*Ask alice\.test to give the delegation in their settings/,
  )
  await bob.visit(world.pathOf(grafting(), 'almanac'))
  const merge = bob.page.locator('#merge-box').getByRole('button', { name: /^(Merge|Add)/ })
  assert.equal(await merge.count(), 0)
  assert.match((await bob.page.locator('#merge-box').textContent()) ?? '', /Ask alice\.test/)
  assert.equal(await tip(), before)
  await bob.close()
})

test('PRO-3 bob merges a pull from its page with scripts, and the page says that it landed', async () => {
  await giveDelegation(world.server.url, world.people.alice)
  const extra = await another('The same branch again')
  const bob = await world.open({ as: 'bob' })
  await bob.visit(world.pathOf(extra, 'almanac'))
  assert.equal(await headline(bob.page), 'No runner lands pulls here')
  const before = await tip()
  assert.equal(await submitted(bob.page, 'Merge'), 200)
  await waitForHeadline(bob.page, /^Landed in main as [0-9a-f]{7}$/)
  const after = await tip()
  assert.notEqual(after, before)
  assert.match(await headline(bob.page), new RegExp(`as ${after?.slice(0, 7)}$`))
  assert.deepEqual(bob.faults(), [])
  await bob.close()
})

test('bob merges a pull from its page without scripts', async () => {
  const { alice } = world.people
  const { gateway } = world.server.context
  const bob = await world.open({ as: 'bob', javaScriptEnabled: false })
  const page = world.pathOf(grafting(), 'almanac')
  await bob.visit(page)
  const seen = await tip()
  const { uri: repo } = world.samples.almanac
  const changes = [{ path: 'july.md', content: 'Summer pruning.\n' }]
  const base = grafting().head
  const more = await gateway.createCommit({ repo: uriOf(repo), caller: alice.did, branch: 'grafting', base, message: 'July', changes })
  assert.ok(more.ok, JSON.stringify(more))
  await world.settled()
  await bob.visit(page)
  await submit(bob.page, 'Merge')
  await until(async () => (await tip()) !== seen, { what: 'main to move' })
  await bob.visit(page)
  assert.match(await headline(bob.page), /^(Landed in main as|Landing)/)
  await bob.close()
})
