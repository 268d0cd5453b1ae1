/** The orchard's pulls, queued in a browser and landed by the real runner: who lands, who is turned away and why, as the pages show it. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { SeededPull } from '../src/devnet/seed.ts'
import { until } from '../test/support/until.ts'
import { type Lander, startLander } from './support/lander.ts'
import { lookAt, twoLooks } from './support/look.ts'
import { headline, submit, submitted, waitForHeadline } from './support/queueing.ts'
import { atOwnServer } from './support/sign-in.ts'
import type { Tab } from './support/tab.ts'
import { queuePath, startWorld, type World } from './support/world.ts'

let world: World
let lander: Lander
let bob: Tab
/** The queue page, which somebody has open all the while. */
let watcher: Tab

before(async () => {
  world = await startWorld()
  // Long enough for somebody to add a second pull, however slow the machine is.
  lander = await startLander(world, { wait: '12s', notice: '5s' })
  bob = await world.open({ as: 'bob' })
  watcher = await world.open()
})
after(async () => {
  await lander?.stop()
  await world?.end()
})

const one = (branch: string) => world.pull(branch)

async function add(pull: SeededPull): Promise<void> {
  await bob.visit(world.pathOf(pull))
  await submit(bob.page, 'Add to merge queue')
  await waitForHeadline(bob.page, /^(Queued|In a batch)/)
}

/** Waits until the box of a pull says so, without anybody touching the page. */
async function becomes(tab: Tab, wanted: RegExp): Promise<void> {
  let last = ''
  const fits = async () => {
    last = await headline(tab.page)
    return wanted.test(last)
  }
  await until(fits, { timeout: 90_000, what: `the box to say ${wanted}` }).catch(error => {
    throw new Error(`${error.message}; it says “${last}”: ${lander.log()}`)
  })
}

async function textOf(tab: Tab, selector: string): Promise<string> {
  return ((await tab.page.locator(selector).textContent()) ?? '').replace(/\s+/g, ' ').trim()
}

/** The branch as its owner's account has it. */
async function tip(): Promise<string> {
  const record = (await world.people.alice.get('dev.knotless.refs', 'orchard'))?.value
  const refs: unknown[] = Array.isArray(record?.refs) ? record.refs : []
  const main = refs.find(row => typeof row === 'object' && row !== null && 'name' in row && row.name === 'refs/heads/main')
  return typeof main === 'object' && main !== null && 'commit' in main ? String(main.commit) : ''
}

test('WHO-5 the queue page names the lander, how it is set, and that it does not isolate', async () => {
  await watcher.visit(queuePath)
  const health = await textOf(watcher, '#health')
  assert.match(health, /^Health Healthy and idle: nothing is queued, and nothing has landed yet\./)
  assert.match(
    health,
    /runner\.test lands this queue, seen .* ago\. Set to batches of up to 8, one ahead, waits up to 12 s, 45 min time limit\./,
  )
  assert.match(health, /Not isolated: runner\.test runs the code of pulls straight on its machine/)
})

test('ADM-5 the pull in conflict with the branch is refused at the door', async () => {
  await bob.visit(world.pathOf(one('rootstock-feet')))
  assert.equal(await bob.page.getByRole('button', { name: 'Add to merge queue' }).count(), 0)
  assert.match(await textOf(bob, '#merge-box'), /docs\/rootstocks\.md/)
})

test('STA-1 LND-5 two that pass land in one batch, and the page that was open shows each step', async () => {
  const before = await tip()
  const flying = watcher.page.locator('#flight .batch').first().waitFor({ timeout: 90_000 })
  await add(one('label-variety'))
  await add(one('frost-two-degrees'))
  await flying
  assert.match(await textOf(watcher, '#flight'), /Batch of 2/)
  await becomes(bob, /^Landed in main as [0-9a-f]{7}$/)
  assert.match(await textOf(bob, '#merge-box'), /In a batch of 2 by runner\.test, after every check of it passed\. Queued by bob\.test\./)
  assert.match(await textOf(bob, '#merge-box'), /It landed together with: Label trees by variety/)
  assert.notEqual(await tip(), before)
  await until(async () => /Batch of 2 · landed/.test(await textOf(watcher, '#landed')), { what: 'the open page to list the batch' })
  assert.match(await textOf(watcher, '#landed'), /check: passed.*test: passed/)
  assert.deepEqual(watcher.faults(), [])
})

test('LND-6 the issue that a landed pull names is closed, once, by it', async () => {
  const { runner } = world.people
  const closes = (await runner.list('dev.knotless.state')).filter(state => state.value.subject === world.samples.orchard.issue)
  assert.deepEqual(
    closes.map(({ value }) => [value.state, value.pull]),
    [['closed', one('label-variety').uri]],
  )
})

test('LND-4 of a pull that landed the page shows what it changed, though its branch is gone', async () => {
  const label = await world.open()
  await label.visit(world.pathOf(one('label-variety')))
  await becomes(label, /^Landed in main/)
  await until(
    async () => {
      await label.page.reload()
      return (await label.page.locator('pre.diff').count()) > 0
    },
    { timeout: 30_000, what: 'the changes of a landed pull' },
  )
  assert.match(await textOf(label, '#checks'), /^Checks of its batch at [0-9a-f]{7}/)
  await lookAt(label, 'landing-landed')
  await label.close()
})

test('PRE-6 the one that fails alone is ejected by its pre-flight, with its log one click away', async () => {
  await add(one('harvest-pounds'))
  await becomes(bob, /^Ejected: check failed before it joined a batch$/)
  const box = bob.page.locator('#merge-box')
  assert.match((await box.textContent()) ?? '', /Its pre-flight failed at [0-9a-f]{7} merged with main at [0-9a-f]{7}\./)
  await lookAt(bob, 'landing-preflight', undefined, twoLooks)
  await box.getByRole('link', { name: 'check: failed' }).click()
  await bob.page.waitForURL(/\/checks\/runner\.test\//)
  assert.match(await textOf(bob, '#result'), /Failed after .*with exit code 1: sh tests\/check\.sh/)
  await until(
    async () => {
      await bob.page.reload()
      return /data\/harvest\.tsv: line 9 has 3 columns, not 4/.test(await textOf(bob, '#log'))
    },
    { timeout: 30_000, what: 'the log to be there' },
  )
  await lookAt(bob, 'landing-log')
  await until(async () => /check failed before it joined a batch/.test(await textOf(watcher, '#ejected')), {
    what: 'the queue page to say so',
  })
})

test('FAI-3 FAI-4 FAI-7 of the pair that fails together halving finds the second, and the reason says with which it fails', async () => {
  const other = await bob.beside()
  await bob.visit(world.pathOf(one('rename-spacing')))
  await other.visit(world.pathOf(one('hedge-rows')))
  // The order is that of the records, whose keys the server chooses.
  assert.equal(await submitted(bob.page, 'Add to merge queue'), 200)
  await submit(other.page, 'Add to merge queue')
  await becomes(bob, /^Landed in main as [0-9a-f]{7}$/)
  await becomes(other, /^Ejected: test failed/)
  const box = await textOf(other, '#merge-box')
  assert.match(box, /It failed on top of “Rename spacing_of to spacing_dm”, in a batch of 2 on main at [0-9a-f]{7}\./)
  assert.match(box, /Halving the batch found it/)
  await lookAt(other, 'landing-halved', undefined, twoLooks)
  await other.page.locator('#merge-box').getByRole('link', { name: 'test: failed' }).click()
  await other.page.waitForURL(/\/checks\/runner\.test\//)
  assert.match(await textOf(other, 'main'), /Batch of 2 on main/)
  await other.page.close()
})

test('BLD-6 of two in conflict with one another, queued together, the second is ejected at the build, naming the first and its branch', async () => {
  const other = await bob.beside()
  await bob.visit(world.pathOf(one('water-young-trees')))
  await other.visit(world.pathOf(one('water-after-rain')))
  // The order is that of the records, whose keys the server chooses.
  assert.equal(await submitted(bob.page, 'Add to merge queue'), 200)
  await submit(other.page, 'Add to merge queue')
  await becomes(other, /^Ejected: /)
  const box = await textOf(other, '#merge-box')
  assert.match(box, /src\/water\.sh/)
  assert.match(box, /Water young trees more in their first summers/)
  assert.match(box, /water-young-trees/)
  await becomes(bob, /^Landed in main/)
  await other.page.close()
  await watcher.page.reload()
  await lookAt(watcher, 'landing-queue')
})

test('RUN-6 a rerun that is asked for on the pull’s page is run, and its run shows there', async () => {
  await bob.visit(world.pathOf(one('harvest-pounds')))
  await bob.page.getByRole('button', { name: 'Run again' }).click()
  await bob.page.getByRole('button', { name: /^Continue at / }).waitFor()
  await lookAt(bob, 'rerun-right', /422/, twoLooks)
  await bob.page.getByRole('button', { name: /^Continue at / }).click()
  await atOwnServer(bob.page, world.people.bob)
  await bob.page.waitForURL(/\/pulls\/bob\.test\//)
  // The run may show, and take the notice's place, before anybody could look.
  const answer = bob.page.waitForResponse(response => response.request().method() === 'POST' && response.url().endsWith('/rerun'))
  await bob.page.getByRole('button', { name: 'Run again' }).click()
  assert.match(await (await answer).text(), /Asked for\./)
  await until(async () => /test.*Failed/.test(await textOf(bob, '#checks')), { timeout: 60_000, what: 'the run to show' }).catch(error => {
    throw new Error(`${error.message}: ${lander.log()}`)
  })
  bob.faults()
})

test('STA-4 MOV-5 a runner that stops says so, and the page says it at once', async () => {
  await watcher.visit(queuePath)
  await lander.stop()
  await until(async () => /Winding down|Stalled|stopp/.test(await textOf(watcher, '#health')), {
    what: 'the page to say that the runner stopped',
  })
  assert.match(await textOf(watcher, '#health'), /Stopped: runner\.test was stopped, so nothing lands here for now\./)
})
