/** Joining and leaving a queue with scripts off: plain forms, a page that asks before leaving, refusals as a page of their own. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { lookAt, tooWide, twoLooks } from './support/look.ts'
import { accept, alertIn, headline, placesOn, queueRecords, submit, submitted, waitForHeadline } from './support/queueing.ts'
import { type About, madeUpCommit, type Records, recordsIn } from './support/records.ts'
import { send } from './support/send.ts'
import { atOwnServer } from './support/sign-in.ts'
import type { Tab } from './support/tab.ts'
import { queuePath, startWorld, type World } from './support/world.ts'

let world: World
let write: Records
let bob: Tab
before(async () => {
  world = await startWorld()
  write = recordsIn(world)
  bob = await world.open({ as: 'bob', javaScriptEnabled: false })
})
after(() => world?.end())

const mine = () => queueRecords(world.people.bob)
const states = async () => (await mine()).map(({ value }) => value.state)
const pathOf = (pull: About) => `/alice.test/orchard/pulls/${pull.uri.slice('at://'.length).replace('/dev.knotless.pull', '')}`

test('scripts are off', async () => {
  await bob.visit(queuePath)
  await bob.page.evaluate('1').catch(() => undefined)
  assert.match((await bob.page.locator('noscript').first().textContent()) ?? '', /Without scripts this page stays as it is/)
  assert.equal(await bob.page.locator('#zone').textContent(), 'Times are in UTC.')
})

test('ADM-9 Add is a plain form that leads back to the pull with its place', async () => {
  const [one, two] = [world.pull('label-variety'), world.pull('csv-semicolons')]
  for (const [pull, place] of [
    [one, 'Queued, 1st of 1'],
    [two, 'Queued, 2nd of 2'],
  ] as const) {
    await bob.visit(world.pathOf(pull))
    await submit(bob.page, 'Add to merge queue')
    await bob.page.getByRole('button', { name: 'Leave queue' }).waitFor()
    assert.equal(bob.page.url(), world.url(world.pathOf(pull)))
    assert.ok((await headline(bob.page)).startsWith(place), await headline(bob.page))
  }
  assert.deepEqual(await states(), ['queued', 'queued'])
  await bob.visit(queuePath)
  assert.deepEqual(await placesOn(bob.page), [
    { place: '1st', title: one.title },
    { place: '2nd', title: two.title },
  ])
})

test('ADM-8 Leave asks on a page of its own, from which one can go back', async () => {
  const pull = world.pull('label-variety')
  await bob.visit(world.pathOf(pull))
  await submit(bob.page, 'Leave queue')
  await bob.page.getByRole('heading', { name: 'Leave the queue?' }).waitFor()
  assert.match((await bob.page.locator('main').textContent()) ?? '', /gives up 1st place\. Adding it again puts it at the back\./)
  assert.deepEqual(await tooWide(bob.page), [])
  await bob.page.getByRole('button', { name: 'Keep it queued' }).click()
  await bob.page.waitForURL(world.url(world.pathOf(pull)))
  assert.deepEqual(await states(), ['queued', 'queued'])

  await submit(bob.page, 'Leave queue')
  await bob.page.getByRole('heading', { name: 'Leave the queue?' }).waitFor()
  await bob.page.getByRole('button', { name: 'Leave queue' }).click()
  await bob.page.waitForURL(world.url(world.pathOf(pull)))
  assert.equal(await headline(bob.page), 'Ready to land')
  assert.deepEqual(await states(), ['queued', 'queued', 'left'])
  await bob.visit(queuePath)
  assert.deepEqual(await placesOn(bob.page), [{ place: '1st', title: world.pull('csv-semicolons').title }])
})

/** An Add that the box does not offer, by a form made by hand: answered by the page of the pull, 422, with why in its box. */
async function refused(tab: Tab, pull: About, why: RegExp, act: 'queue' | 'leave' = 'queue'): Promise<void> {
  const before = await Promise.all(Object.values(world.people).map(queueRecords))
  await tab.visit('/')
  const response = await send(tab, `${pathOf(pull)}/${act}`)
  assert.equal(response.status(), 422)
  assert.match(await alertIn(tab.page), why)
  assert.deepEqual(await tooWide(tab.page), [])
  assert.deepEqual(await Promise.all(Object.values(world.people).map(queueRecords)), before, 'nothing was written')
}

test('ADM-5 a pull that conflicts is refused, its files named', () =>
  refused(
    bob,
    world.pull('rootstock-feet'),
    /^Not queued: it does not apply on main at [0-9a-f]{7}\. These files conflict: docs\/rootstocks\.md\./,
  ))

test('ADM-1 a stranger is refused, with who may', async () => {
  const mallory = await world.open({ as: 'mallory', javaScriptEnabled: false })
  await refused(
    mallory,
    world.pull('frost-two-degrees'),
    /^Not queued: only alice\.test and bob\.test can do that here\. Ask one of them\./,
  )
  await refused(mallory, world.pull('csv-semicolons'), /^Nothing done: only alice\.test and bob\.test can do that here\./, 'leave')
  await mallory.close()
})

test('ADM-2 a repository without runners says that it is merged by hand', async () => {
  const pull = world.samples.almanac.pulls.grafting
  assert.ok(pull !== undefined)
  const path = world.pathOf(pull, 'almanac')
  await bob.visit(path)
  assert.equal(await headline(bob.page), 'No runner lands pulls here')
  assert.match((await bob.page.locator('#merge-box').textContent()) ?? '', /its pulls are merged by hand by alice\.test and bob\.test/)
  const response = await send(bob, `${path}/queue`)
  assert.equal(response.status(), 422)
  assert.match(
    await alertIn(bob.page),
    /^Not queued: alice\.test\/almanac names no runner, so nothing would land it\. Its pulls are merged by hand/,
  )
  await bob.visit('/alice.test/almanac/queue/main')
  assert.match((await bob.page.locator('main').textContent()) ?? '', /merged by hand/)
})

test('ADM-3 a draft, a closed and a merged pull are refused', async () => {
  const { alice } = world.people
  await refused(
    bob,
    await known(write.pull(alice, 'label-variety', { draft: true })),
    /^Not queued: this pull is a draft\. Mark it as ready/,
  )
  const closed = await known(write.pull(alice, 'label-variety'))
  await write.state(alice, closed, 'closed')
  await refused(bob, closed, /^Not queued: this pull was closed \d+ s ago\. Reopen it first/)
  const merged = await known(write.pull(alice, 'label-variety'))
  await write.state(alice, merged, 'merged', { commit: madeUpCommit('nowhere') })
  await refused(bob, merged, /^Not queued: this pull was merged \d+ s ago\. Open a new one/)
})

async function known(pull: Promise<About>): Promise<About> {
  const made = await pull
  await world.settled()
  return made
}

test('ADM-6 ADM-7 a check that failed at head and tip is refused by name; one that runs is not', async () => {
  const pull = world.pull('harvest-pounds')
  await write.check(pull, 'test', 'running')
  await write.check(pull, 'check', 'failure', { baseCommit: madeUpCommit('an older tip') })
  await world.settled()
  await bob.visit(world.pathOf(pull))
  await submit(bob.page, 'Add to merge queue')
  await bob.page.getByRole('button', { name: 'Leave queue' }).waitFor()
  await write.queue(world.people.alice, pull, 'left')
  await write.check(pull, 'test', 'failure')
  await world.settled()
  await refused(bob, pull, /^Not queued: test failed at [0-9a-f]{7} merged with main\. Push a fix, or read the log\./)
})

test('ADM-8 leaving what was never queued, or was ejected, says so', async () => {
  const pull = world.pull('hedge-rows')
  await refused(bob, pull, /^It is not in the queue\. Nothing was written\./, 'leave')
  await write.queue(world.people.bob, pull, 'queued')
  await write.queue(world.people.runner, pull, 'ejected', { reason: 'Its batch failed. Look at it.' })
  await world.settled()
  await refused(bob, pull, /^It is not in the queue any more: ejected \d+ s ago\. Nothing was written\./, 'leave')
  const response = await bob.visit(`${world.pathOf(pull)}/leave`)
  assert.equal(response.status(), 422)
  assert.match((await bob.page.locator('main').textContent()) ?? '', /not in the queue/)
})

test('ADM-3 a head that moved since the page was read is not queued unseen', async () => {
  const pull = await known(write.pull(world.people.bob, 'frost-two-degrees'))
  await bob.visit(pathOf(pull))
  const moved = await write.tip('label-variety')
  await write.setRef('frost-two-degrees', moved)
  await submit(bob.page, 'Add to merge queue')
  await bob.page.locator('#merge-box [role=alert]').waitFor()
  assert.match(await alertIn(bob.page), new RegExp(`^Not queued: .*${moved.slice(0, 7)}`))
})

test('ADM-3 ADM-5 a branch that moved into a conflict is read fresh, whatever the index knows', async () => {
  const pull = world.pull('water-after-rain')
  await bob.visit(world.pathOf(pull))
  assert.equal(await headline(bob.page), 'Ready to land')
  const main = await write.tip()
  world.network.faults.hold()
  try {
    const moved = await write.tip('water-young-trees')
    await write.setRef('main', moved)
    await submit(bob.page, 'Add to merge queue')
    await bob.page.locator('#merge-box [role=alert]').waitFor()
    const why = `^Not queued: it does not apply on main at ${moved.slice(0, 7)}\\. These files conflict: src/water\\.sh`
    assert.match(await alertIn(bob.page), new RegExp(why))
  } finally {
    world.network.faults.release()
  }
  await write.setRef('main', main)
  await world.settled()
})

test('a form of a session that has ended, or without its token, writes nothing', async () => {
  const path = `${world.pathOf(world.pull('water-after-rain'))}/queue`
  const before = await mine()
  await bob.visit('/')
  const response = await send(bob, path, { _csrf: 'made-up' })
  assert.equal(response.status(), 403)
  assert.match((await bob.page.locator('main').textContent()) ?? '', /form/)
  const nobody = await world.open({ javaScriptEnabled: false })
  await nobody.visit('/')
  await send(nobody, path)
  assert.equal(new URL(nobody.page.url()).pathname, '/login')
  assert.deepEqual(await mine(), before)
  await nobody.close()
})

test('the page of a refusal and the page before leaving look as they should', async () => {
  // With scripts, since axe needs them: the same pages, by the same form.
  const tab = await world.open({ as: 'bob' })
  await tab.visit('/')
  await send(tab, `${pathOf(world.pull('rootstock-feet'))}/queue`)
  await lookAt(tab, 'pull-refused', /422/)
  await tab.visit(`${pathOf(world.pull('csv-semicolons'))}/leave`)
  await lookAt(tab, 'leave')
  await tab.close()
})

/** From a box that asks for a right, over the account server's own page, back to the pull. */
async function grantRight(tab: Tab, path: string): Promise<void> {
  await tab.page.getByRole('button', { name: /^Continue at / }).click()
  await atOwnServer(tab.page, world.people.bob)
  await tab.page.waitForURL(url => url.pathname === path)
}

const drafts = async (uri: string) => (await world.people.bob.get('dev.knotless.pull', uri.split('/').at(-1) ?? ''))?.value.draft

test('QUE-5 with scripts, drafts are made and marked as ready in the box; the right is asked for once, and comes back to the page', async () => {
  const pull = world.pull('frost-two-degrees')
  const path = world.pathOf(pull)
  const tab = await world.open({ as: 'bob' })
  const { page } = tab
  try {
    await tab.visit(path)
    await submit(page, 'Add to merge queue')
    await waitForHeadline(page, /^Queued/)
    accept(page)
    assert.equal(await submitted(page, 'Make a draft'), 422)
    assert.match(await alertIn(page), /^To say here whether your pulls are drafts, let this server change dev\.knotless\.pull records/)
    await lookAt(tab, 'pull-right', /422/, twoLooks)
    await grantRight(tab, path)
    assert.match((await page.locator('#merge-box').textContent()) ?? '', /Nothing was changed yet: press “Make a draft”\./)
    assert.equal(await drafts(pull.uri), undefined)
    accept(page)
    await page.locator('#merge-box').getByRole('button', { name: 'Make a draft' }).focus()
    await page.keyboard.press('Enter')
    await waitForHeadline(page, /^Draft/)
    assert.equal(await drafts(pull.uri), true)
    await lookAt(tab, 'pull-draft', /422/, twoLooks)
    assert.equal(await submitted(page, 'Mark as ready'), 200)
    await waitForHeadline(page, /^(?!Draft)/)
    assert.equal(await drafts(pull.uri), undefined)
    assert.deepEqual(
      tab.faults().filter(fault => !/422/.test(fault)),
      [],
    )
  } finally {
    await tab.close()
  }
})

test('HON-6 with scripts off, Close and Reopen are plain forms; of a queued pull a page asks first', async () => {
  const pull = world.pull('frost-two-degrees')
  const path = world.pathOf(pull)
  await bob.visit(path)
  await submit(bob.page, 'Leave queue')
  await submitMain(bob, 'Leave queue')
  await submit(bob.page, 'Close')
  assert.match(await alertIn(bob.page), /^To close and reopen pulls here/)
  const tab = await world.open({ as: 'bob' })
  try {
    await tab.visit(path)
    await submitted(tab.page, 'Close')
    await grantRight(tab, path)
  } finally {
    await tab.close()
  }
  await bob.visit(path)
  await submit(bob.page, 'Close')
  await bob.page.waitForURL(world.url(path))
  assert.equal(await headline(bob.page), 'Closed without landing')
  await submit(bob.page, 'Reopen')
  await bob.page.waitForURL(world.url(path))
  await submit(bob.page, 'Add to merge queue')
  await bob.page.getByRole('button', { name: 'Leave queue' }).waitFor()
  await submit(bob.page, 'Close')
  await bob.page.getByRole('heading', { name: 'Close this pull?' }).waitFor()
  assert.match((await bob.page.locator('main').textContent()) ?? '', /It leaves the queue and gives up \d+\w\w place/)
  assert.deepEqual(await tooWide(bob.page), [])
  await submitMain(bob, 'Close')
  assert.equal(await headline(bob.page), 'Closed without landing')
  await bob.page.locator('#timeline .when').last().click()
  await bob.page.waitForURL(/\/at\//)
  assert.match((await bob.page.locator('main').textContent()) ?? '', /A change of state[\s\S]*"state": "closed"/)
})

/** Clicks the button of a page that asks, and waits for the pull's page. */
async function submitMain(tab: Tab, name: string): Promise<void> {
  await tab.page.locator('main').getByRole('button', { name, exact: true }).click()
  await tab.page.locator('#merge-box').waitFor()
}

test('the page of a record and the page before closing look as they should', async () => {
  const tab = await world.open({ as: 'bob' })
  try {
    const pull = world.pull('hedge-rows')
    await tab.visit(`/at/${pull.uri.slice('at://'.length)}`)
    await lookAt(tab, 'record')
    await tab.visit(`${world.pathOf(pull)}/close`)
    await lookAt(tab, 'confirm-change', undefined, twoLooks)
  } finally {
    await tab.close()
  }
})
