/** Adding while an account server is slow, down, or answers garbage: the box says so, nothing is half-written, nothing is lost, nothing is queued twice. */
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { createGuardedFetch, type GuardedFetch } from '../src/atproto/guarded-fetch.ts'
import type { FaultInput } from '../src/devnet/faults/schema.ts'
import { tidMillis } from '../src/queue/tid.ts'
import { until } from '../test/support/until.ts'
import { axeSays, tooWide } from './support/look.ts'
import { alertIn, placesOn, queueRecords, submit, submitted, waitForHeadline } from './support/queueing.ts'
import type { Tab } from './support/tab.ts'
import { queuePath, startWorld, type World } from './support/world.ts'

/** The longest wait for an answer to begin, in milliseconds: as in life, but sooner over. */
const PATIENCE = 2_000

let world: World
let bob: Tab
before(async () => {
  world = await startWorld({ overrides: { fetch: impatient() } })
  bob = await world.open({ as: 'bob' })
})
after(() => world?.end())
afterEach(async () => {
  world.network.faults.clear()
  await cleanUp()
})

function impatient(): GuardedFetch {
  const real = createGuardedFetch({ allowLoopback: true })
  const fetch = (...[url, request]: Parameters<GuardedFetch>) =>
    real(url, { ...request, firstByteMs: Math.min(request.firstByteMs ?? PATIENCE, PATIENCE) })
  return Object.assign(fetch, { close: real.close })
}

const createRecord = 'com.atproto.repo.createRecord'
const getRecord = 'com.atproto.repo.getRecord'
const listRecords = 'com.atproto.repo.listRecords'
const mine = async () => (await queueRecords(world.people.bob)).map(({ value }) => value.state)

/** Adds a pull while something is wrong, and gives what the box then says. */
async function addDespite(branch: string, ...faults: FaultInput[]): Promise<string> {
  await bob.visit(world.pathOf(world.pull(branch)))
  const on = faults.map(fault => world.network.faults.add(fault))
  assert.equal(await submitted(bob.page, 'Add to merge queue'), 422)
  await bob.page.locator('#merge-box [role=alert]').waitFor()
  for (const fault of on) assert.ok(fault.hits() > 0, `${fault.rule.fault} was met`)
  world.network.faults.clear()
  assert.deepEqual([...(await tooWide(bob.page)), ...(await axeSays(bob.page))], [])
  return alertIn(bob.page)
}

/** Adds it again with nothing wrong. */
async function addAtLast(place: RegExp): Promise<void> {
  await submit(bob.page, 'Add to merge queue')
  await waitForHeadline(bob.page, place)
  assert.deepEqual(await mine(), ['queued'])
}

/** Takes bob's records away, so that the next test begins with none. */
async function cleanUp(): Promise<void> {
  const { bob: account } = world.people
  for (const { uri } of await queueRecords(account)) await account.remove('dev.knotless.queue', uri.slice(uri.lastIndexOf('/') + 1))
  await world.settled()
}

const author = () => world.people.carol.did
const noAnswer = /^Not queued: localhost:\d+ did not answer in time\. Nothing was written\. Try again in a minute\.$/

test('the author’s server is slow: ADM-3 cannot be kept, so nothing is written', async () => {
  assert.match(await addDespite('csv-semicolons', { fault: 'stall', method: getRecord, account: author() }), noAnswer)
  assert.deepEqual(await mine(), [])
  await addAtLast(/^Queued, 1st of 1/)
})

test('the author’s server is down, or answers garbage', async () => {
  assert.match(await addDespite('csv-semicolons', { fault: 'refuse', method: getRecord, account: author() }), /^Not queued: localhost:\d+ /)
  assert.match(
    await addDespite('csv-semicolons', { fault: 'garble', method: getRecord, account: author() }),
    /^Not queued: localhost:\d+ answered with something that cannot be used\. Nothing was written/,
  )
  assert.deepEqual(await mine(), [])
  await addAtLast(/^Queued, 1st of 1/)
})

test('one’s own server says no when the record is to be written', async () => {
  const write = { fault: 'refuse', method: createRecord, account: world.people.bob.did } as const
  assert.match(
    await addDespite('label-variety', { ...write, status: 400, error: 'InvalidRequest' }),
    /^Not queued: localhost:\d+ refused the write\. Nothing was written\./,
  )
  assert.match(await addDespite('label-variety', { ...write, status: 500, error: 'InternalServerError' }), /Nothing was written\./)
  assert.match(
    await addDespite('label-variety', { ...write, status: 429, error: 'RateLimitExceeded' }),
    /^Too many requests from you just now\. Try again in 1 min\.$/,
  )
  assert.deepEqual(await mine(), [])
  await addAtLast(/^Queued, 1st of 1/)
})

test('STO-7 one’s own server is down or answers garbage when the record is to be written: nothing is claimed', async () => {
  const write = { method: createRecord, account: world.people.bob.did }
  for (const fault of [
    { fault: 'refuse', ...write },
    { fault: 'garble', ...write },
    { fault: 'garble', ...write, body: '<html>' },
  ] as const) {
    const said = await addDespite('label-variety', fault)
    assert.match(said, /^Not known yet: localhost:\d+ gave no answer that can be used\./, JSON.stringify(fault))
    assert.deepEqual(await mine(), [])
  }
  await addAtLast(/^Queued, 1st of 1/)
})

test('STO-7 the answer is lost after the write: it is recognised, and queued once', async () => {
  world.network.faults.hold()
  await bob.visit(world.pathOf(world.pull('label-variety')))
  const lost = world.network.faults.add({ fault: 'lose', method: createRecord, account: world.people.bob.did, times: 1 })
  await submit(bob.page, 'Add to merge queue')
  await waitForHeadline(bob.page, /^Queued, 1st of 1/)
  assert.equal(lost.hits(), 1)
  assert.deepEqual(await mine(), ['queued'])
  world.network.faults.release()
  await world.settled()
  await bob.visit(queuePath)
  assert.equal((await placesOn(bob.page)).length, 1)
})

test('STO-7 lost and not to be read back: nothing is claimed, and a second click queues once', async () => {
  const { faults } = world.network
  const { did } = world.people.bob
  const click = async (status: number) => assert.equal(await submitted(bob.page, 'Add to merge queue'), status)
  faults.hold()
  await bob.visit(world.pathOf(world.pull('label-variety')))
  faults.add({ fault: 'lose', method: createRecord, account: did })
  const blind = faults.add({ fault: 'refuse', method: getRecord, account: did })
  await click(422)
  assert.match(
    await alertIn(bob.page),
    /^Not known yet: localhost:\d+ gave no answer that can be used\. Whether it was written is not known/,
  )
  assert.ok(blind.hits() > 0)
  assert.deepEqual(await mine(), ['queued'], 'it was written')

  // What was queued before cannot be seen: nothing is written on top of it.
  const unlisted = faults.add({ fault: 'refuse', method: listRecords, account: did })
  await click(422)
  assert.match(await alertIn(bob.page), /^Not queued: localhost:\d+ gave no answer that can be used\. Nothing was written/)
  unlisted.clear()
  blind.clear()
  assert.deepEqual(await mine(), ['queued'])
  await click(200)
  await waitForHeadline(bob.page, /^Queued, 1st of 1/)
  assert.deepEqual(await mine(), ['queued'])
  faults.release()
})

test('STO-7 what may still be under way is tried again with the very same key and content', async () => {
  const down = world.network.faults.add({ fault: 'refuse', method: createRecord, account: world.people.bob.did })
  await bob.visit(world.pathOf(world.pull('label-variety')))
  assert.equal(await submitted(bob.page, 'Add to merge queue'), 422)
  const between = Date.now()
  down.clear()
  assert.equal(await submitted(bob.page, 'Add to merge queue'), 200)
  await waitForHeadline(bob.page, /^Queued, 1st of 1/)
  const [record, ...more] = await queueRecords(world.people.bob)
  assert.deepEqual(more, [])
  const key = record?.uri.slice(record.uri.lastIndexOf('/') + 1) ?? ''
  assert.ok(tidMillis(key) <= between)
  assert.ok(Date.parse(String(record?.value.createdAt)) <= between)
})

test('a double click, and two tabs at once, queue once while the server is slow', async () => {
  const path = world.pathOf(world.pull('label-variety'))
  const other = await bob.beside()
  const third = await world.open({ as: 'bob', javaScriptEnabled: false })
  await Promise.all([bob.visit(path), other.visit(path), third.visit(path)])
  const slow = world.network.faults.add({ fault: 'stall', method: createRecord, account: world.people.bob.did, ms: 1_000 })
  await Promise.all([
    bob.page.locator('#merge-box').getByRole('button', { name: 'Add to merge queue' }).dblclick(),
    submit(other.page, 'Add to merge queue'),
    submit(third.page, 'Add to merge queue'),
  ])
  for (const tab of [bob, other, third]) await waitForHeadline(tab.page, /^Queued, 1st of 1/)
  assert.ok(slow.hits() > 0)
  await until(async () => (await mine()).length > 0)
  await world.settled()
  assert.deepEqual(await mine(), ['queued'])
  await other.page.close()
  await third.close()
})

test('the server that keeps one’s account is gone altogether: the box says so and nothing breaks', async () => {
  const said = await addDespite('label-variety', { fault: 'stall', account: world.people.bob.did })
  assert.match(said, /^Not queued: localhost:\d+ gave no answer that can be used\. Nothing was written\./)
  await bob.visit(queuePath)
  assert.deepEqual(await placesOn(bob.page), [])
  assert.deepEqual(await mine(), [])
  assert.deepEqual(
    bob.faults().filter(fault => !/status of 422/.test(fault)),
    [],
  )
})
