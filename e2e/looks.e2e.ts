/**
 * Every page over a lively repository, signed out and in, on phone and desktop, in light and dark: nothing wider than the screen, nothing that axe
 * objects to, nothing in the console, no breach of the content security policy. Pictures of all of it are kept in e2e/shots.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { lookAt, looks, twoLooks } from './support/look.ts'
import { recordsIn } from './support/records.ts'
import type { Tab } from './support/tab.ts'
import { queuePath, startWorld, type World } from './support/world.ts'

let world: World
let visitor: Tab
let bob: Tab
before(async () => {
  world = await startWorld()
  visitor = await world.open()
  bob = await world.open({ as: 'bob' })
  await enliven()
})
after(() => world?.end())

const pull = (branch: string) => world.pull(branch)

/** Something of each kind: landed, in flight, waiting, ejected, closed. */
async function enliven(): Promise<void> {
  const write = recordsIn(world)
  const { alice, bob: b, runner } = world.people
  const [tip = '', before = ''] = await write.commits()
  await write.lander()
  const landed = [
    await write.pull(b, 'frost-two-degrees', { title: 'Frost: list the rootstocks' }),
    await write.pull(alice, 'label-variety'),
  ]
  for (const [at, one] of landed.entries()) {
    await write.queue(b, one, 'queued')
    await write.state(runner, one, 'merged', { commit: at === 0 ? before : tip, batch: tip })
  }
  for (const name of ['label-variety', 'frost-two-degrees', 'csv-semicolons', 'rename-spacing', 'water-young-trees'])
    await write.queue(b, pull(name), 'queued')
  const lower = await write.batch([pull('label-variety'), pull('frost-two-degrees')], { check: 'success', test: 'running' })
  await write.batch([pull('csv-semicolons')], { check: 'running', test: 'queued' }, { base: lower })
  await write.check(pull('rename-spacing'), 'check', 'running', { queue: 'first' })
  const red = await write.check(pull('hedge-rows'), 'test', 'failure', { summary: 'two of nine tests failed' })
  await write.queue(alice, pull('hedge-rows'), 'queued')
  await write.queue(runner, pull('hedge-rows'), 'ejected', {
    reason: 'Its batch failed. It fails together with “Rename spacing_of to spacing_dm”. Push a fix and add it again.',
    kind: 'checks',
    commit: pull('hedge-rows').head,
    checks: [{ workflow: 'test', status: 'failure', check: red.uri }],
  })
  await write.state(b, pull('water-after-rain'), 'closed')
  await world.settled()
}

/** Name of the picture, path, and what the page must hold to be the one that is meant. */
const pages: readonly [name: string, path: string | (() => string), holds: RegExp, gone?: boolean][] = [
  ['home', '/', /alice\.test\/orchard/],
  ['home-none', '/?q=nothing-like-it', /No repository found/],
  ['repository', '/alice.test/orchard', /Open pulls|Pulls/i],
  ['repository-merged', '/alice.test/orchard?state=merged', /Frost: list the rootstocks/],
  ['repository-bare', '/alice.test/almanac', /merged by hand/],
  ['queue', queuePath, /2 batches, 3 pulls/],
  ['queue-filtered', `${queuePath}?q=water`, /Water young trees/],
  ['queue-none', '/alice.test/almanac/queue/main', /merged by hand/],
  ['pull-waiting', () => world.pathOf(pull('water-young-trees')), /Queued, 5th of 5/],
  ['pull-in-batch', () => world.pathOf(pull('frost-two-degrees')), /In a batch of 2 being checked/],
  ['pull-ejected', () => world.pathOf(pull('hedge-rows')), /Ejected: Its batch failed/],
  ['pull-conflict', () => world.pathOf(pull('rootstock-feet')), /Conflicts with main/],
  ['no-repository', '/alice.test/pear', /no repository alice\.test\/pear/i, true],
  ['no-branch', '/alice.test/orchard/queue/pear', /no branch pear/i, true],
  ['no-pull', '/alice.test/orchard/pulls/bob.test/3k2aaaaaaaa22', /no pull 3k2aaaaaaaa22/i, true],
]

async function look(tab: Tab, who: string, [name, path, holds, gone = false]: (typeof pages)[number]): Promise<void> {
  const response = await tab.visit(typeof path === 'string' ? path : path())
  assert.equal(response.status(), gone ? 404 : 200)
  const text = (await tab.page.locator('main').textContent()) ?? ''
  assert.match(text, holds)
  assert.doesNotMatch(text, /did:plc:/, 'accounts that have a handle are called by it')
  assert.doesNotMatch(text, /\w\.\.(?!\.)|undefined|NaN|\[object/, 'sentences are whole')
  await lookAt(tab, `${name}-${who}`, gone ? /status of 404/ : undefined, gone && who === 'in' ? twoLooks : looks)
}

for (const page of pages) {
  test(`${page[0]}, signed out`, () => look(visitor, 'out', page))
  test(`${page[0]}, signed in`, () => look(bob, 'in', page))
}

test('home with one’s own, the account’s settings, the open menu', async () => {
  await look(bob, 'in', ['home-mine', '/?mine=1', /alice\.test\/orchard/])
  await look(bob, 'in', ['settings', '/settings', /this one/])
  await bob.page.locator('details.menu summary').click()
  await lookAt(bob, 'menu-in')
})

test('what no page offers is refused on a page of its own', async () => {
  const response = await visitor.visit('/?cursor=made-up')
  assert.ok(response.status() < 500)
  const bad = await visitor.visit(`${queuePath}?page=minus-one`)
  assert.equal(bad.status(), 400)
  await lookAt(visitor, 'bad-request', /status of 400/)
})
