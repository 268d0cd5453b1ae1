/**
 * Every page over a lively repository, signed out and in, on phone and desktop, in light and dark: nothing wider than the screen, nothing that axe
 * objects to, nothing in the console, no breach of the content security policy; by keyboard, without motion, in the reader's own colours and on the
 * narrowest screen as well. Pictures of all of it are kept in e2e/shots.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { recordPath } from '../src/views/paths.ts'
import { lookAt, looks, shots, twoLooks } from './support/look.ts'
import { type Records, recordsIn } from './support/records.ts'
import type { Tab } from './support/tab.ts'
import { useIt } from './support/usable.ts'
import { queuePath, startWorld, type World } from './support/world.ts'

let world: World
let visitor: Tab
let bob: Tab
let made: Awaited<ReturnType<typeof enliven>>
before(async () => {
  world = await startWorld()
  visitor = await world.open()
  bob = await world.open({ as: 'bob' })
  made = await enliven(recordsIn(world))
})
after(async () => {
  await world?.end()
  console.log(`pictures: ${shots}`)
})

const pull = (branch: string) => world.pull(branch)

/** Something of each kind: landed, in flight, waiting, ejected, closed; on a second branch as well. */
async function enliven(write: Records) {
  const { alice, bob: b, runner } = world.people
  const [tip = '', before = ''] = await write.commits()
  await write.lander()
  await write.setRef('release/1.0', before)
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
  const ejection = await write.queue(runner, pull('hedge-rows'), 'ejected', {
    reason: 'Its batch failed. It fails together with “Rename spacing_of to spacing_dm”. Push a fix and add it again.',
    kind: 'checks',
    commit: pull('hedge-rows').head,
    checks: [{ workflow: 'test', status: 'failure', check: red.uri }],
  })
  await write.queue(b, await write.pull(b, 'harvest-pounds', { branch: 'release/1.0', title: 'Pounds, backported' }), 'queued')
  await write.state(b, pull('water-after-rain'), 'closed')
  await world.settled()
  return { landed: tip, flying: lower, red: red.uri, ejection: ejection.uri }
}

interface Shown {
  path: string | (() => string)
  /** What the page must hold to be the one that is meant. */
  holds: RegExp
  /** Its status, 200 unless given. */
  status?: number
  /** It shows a record as it is, with the names that accounts have in records. */
  verbatim?: boolean
  /** Who sees it, unless both do: somebody signed out, bob. */
  to?: 'out' | 'in'
}

const repo = '/alice.test/orchard'
const keyOf = (uri: string) => uri.slice(uri.lastIndexOf('/') + 1)

/** Every page by the name of its pictures. A new page gets a row here. */
const pages: Readonly<Record<string, Shown>> = {
  home: { path: '/', holds: /alice\.test\/orchard/ },
  'home-none': { path: '/?q=nothing-like-it', holds: /No repository found/ },
  'home-mine': { path: '/?mine=1', holds: /alice\.test\/orchard/, to: 'in' },
  repository: { path: repo, holds: /Open pulls|Pulls/i },
  'repository-merged': { path: `${repo}?state=merged`, holds: /Frost: list the rootstocks/ },
  'repository-bare': { path: '/alice.test/almanac', holds: /merged by hand/ },
  queue: { path: queuePath, holds: /2 batches, 3 pulls/ },
  'queue-filtered': { path: `${queuePath}?q=water`, holds: /Water young trees/ },
  'queue-release': { path: `${repo}/queue/release/1.0`, holds: /Pounds, backported/ },
  'queue-none': { path: '/alice.test/almanac/queue/main', holds: /merged by hand/ },
  'pull-waiting': { path: () => world.pathOf(pull('water-young-trees')), holds: /Queued, 5th of 5/ },
  'pull-in-batch': { path: () => world.pathOf(pull('frost-two-degrees')), holds: /In a batch of 2 being checked/ },
  'pull-ejected': { path: () => world.pathOf(pull('hedge-rows')), holds: /Ejected: Its batch failed/ },
  'pull-conflict': { path: () => world.pathOf(pull('rootstock-feet')), holds: /Conflicts with main/ },
  check: { path: () => `${repo}/checks/runner.test/${keyOf(made.red)}`, holds: /two of nine tests failed/ },
  stats: { path: `${repo}/stats`, holds: /How the queue did/ },
  'stats-day': { path: () => `${repo}/stats?day=${new Date().toISOString().slice(0, 10)}`, holds: /Ejected: checks 1/, to: 'out' },
  batch: { path: () => `${repo}/batches/${made.flying}`, holds: /Batch of 2/ },
  'batch-landed': { path: () => `${repo}/batches/${made.landed}`, holds: /Batch of 2/ },
  'stats-none': { path: '/alice.test/almanac/stats', holds: /Day by day/ },
  record: { path: () => recordPath(made.ejection), holds: /fails together/, verbatim: true },
  'close-question': { path: () => `${world.pathOf(pull('frost-two-degrees'))}/close`, holds: /Close/, to: 'in' },
  pulls: { path: '/pulls', holds: /Warn of frost/, to: 'in' },
  settings: { path: '/settings', holds: /this one/, to: 'in' },
  'repo-settings-others': { path: `${repo}/settings`, holds: /the owner alone sees and changes them/, status: 403, to: 'in' },
  help: { path: '/help', holds: /How a pull lands/ },
  leave: { path: () => `${world.pathOf(pull('frost-two-degrees'))}/leave`, holds: /Leave the queue\?/, to: 'in' },
  login: { path: `/login?next=${encodeURIComponent(queuePath)}`, holds: /Your handle/, to: 'out' },
  'no-page': { path: '/no/such/page/at/all', holds: /no page at this address/i, status: 404 },
  'no-repository': { path: '/alice.test/pear', holds: /no repository alice\.test\/pear/i, status: 404 },
  'no-branch': { path: `${repo}/queue/pear`, holds: /no branch pear/i, status: 404 },
  'no-batch': { path: `${repo}/batches/${'e'.repeat(40)}`, holds: /no batch/i, status: 404 },
  'no-pull': { path: `${repo}/pulls/bob.test/3k2aaaaaaaa22`, holds: /no pull 3k2aaaaaaaa22/i, status: 404 },
  'bad-request': { path: `${queuePath}?page=minus-one`, holds: /Not understood: page/, status: 400 },
}

/** By how much the layout has shifted, as browsers count it; those entries come with a frame. */
const shiftOfLayout = `new Promise(done => {
  let sum = 0
  new PerformanceObserver(list => {
    for (const entry of list.getEntries()) sum += entry.value
  }).observe({ type: 'layout-shift', buffered: true })
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(sum))))
})`

async function look(who: 'out' | 'in', name: string, { path, holds, status = 200, verbatim = false, to }: Shown): Promise<void> {
  const tab = who === 'in' ? bob : visitor
  const response = await tab.visit(typeof path === 'string' ? path : path())
  assert.equal(response.status(), status)
  const text = (await tab.page.locator('main').textContent()) ?? ''
  assert.match(text, holds)
  if (!verbatim) assert.doesNotMatch(text, /did:plc:/, 'accounts that have a handle are called by it')
  assert.doesNotMatch(text, /\w\.\.(?!\.)|undefined|NaN|\[object/, 'sentences are whole')
  const shift = Number(await tab.page.evaluate(shiftOfLayout))
  assert.ok(shift <= 0.02, `what stands on it moved by ${shift} while it was loaded`)
  const expected = status === 200 ? undefined : new RegExp(`status of ${status}`)
  await lookAt(tab, `${name}-${who}`, expected, status !== 200 && who === 'in' ? twoLooks : looks)
  if (who === (to ?? 'in')) await useIt(tab, name)
}

for (const [name, shown] of Object.entries(pages)) {
  if (shown.to !== 'in') test(`${name}, signed out`, () => look('out', name, shown))
  if (shown.to !== 'out') test(`${name}, signed in`, () => look('in', name, shown))
}

test('the open menu', async () => {
  await bob.visit('/')
  await bob.page.locator('details.menu summary').click()
  await lookAt(bob, 'menu-in')
  await useIt(bob, 'menu')
})

test('the figures are printed without what is for the screen alone', async () => {
  await visitor.visit(`${repo}/stats`)
  const { page } = visitor
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
  await page.setViewportSize({ width: 760, height: 1000 })
  await page.screenshot({ path: join(shots, 'stats-print.png'), fullPage: true })
  for (const unprinted of ['header.top', '.tabs', '.pick', 'form', '.foot'])
    for (const each of await page.locator(unprinted).all()) assert.ok(await each.isHidden(), unprinted)
  assert.ok(await page.locator('table.wide').isVisible())
  assert.equal(await page.evaluate(`document.documentElement.scrollWidth > innerWidth`), false)
  assert.equal(await page.evaluate(`getComputedStyle(document.documentElement).backgroundColor`), 'rgb(255, 255, 255)')
  await page.emulateMedia({ media: 'screen' })
})

test('what was looked for is on no page but its own', async () => {
  const response = await visitor.visit('/?cursor=made-up')
  assert.ok(response.status() < 500)
})
