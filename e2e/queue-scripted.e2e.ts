/** Joining and leaving a queue as bob, in a real browser with scripts, signed in through his account server's own page. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { until } from '../test/support/until.ts'
import { accept, headline, placesOn, queueRecords, submit, waitForHeadline } from './support/queueing.ts'
import { atOwnServer } from './support/sign-in.ts'
import type { Tab } from './support/tab.ts'
import { queuePath, startWorld, type World } from './support/world.ts'

let world: World
let bob: Tab
/** Another tab of bob's, in which he pressed Add on the second pull. */
let other: Tab
before(async () => {
  world = await startWorld()
  bob = await world.open()
})
after(() => world?.end())

const one = () => world.pull('label-variety')
const two = () => world.pull('csv-semicolons')
const mine = () => queueRecords(world.people.bob)

test('signed out, Add leads to the log-in and back to the same pull', async () => {
  const { page } = bob
  const path = world.pathOf(one())
  await bob.visit(path)
  assert.equal(await headline(page), 'Log in to queue this')
  await page.getByRole('button', { name: 'Add to merge queue' }).click()
  await page.waitForURL(/\/login\?/)
  assert.match((await page.locator('main').textContent()) ?? '', /Afterwards you are back at alice\.test\/orchard, a pull\./)
  await page.getByLabel('Your handle').fill('bob.test')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: /^Continue at localhost/ }).click()
  await atOwnServer(page, world.people.bob)
  assert.equal(page.url(), world.url(path))
  assert.equal(await headline(page), 'Ready to land')
  assert.match((await page.locator('header.top').textContent()) ?? '', /bob\.test/)
})

test('ADM-9 REA-2 Add writes the record and shows the place at once, before the stream brings it', async () => {
  world.network.faults.hold()
  try {
    assert.deepEqual(await mine(), [])
    await submit(bob.page, 'Add to merge queue')
    await waitForHeadline(bob.page, /^Queued, 1st of 1\b/)
    other = await bob.beside()
    await other.visit(world.pathOf(two()))
    await submit(other.page, 'Add to merge queue')
    await waitForHeadline(other.page, /^Queued, 2nd of 2\b/)
    assert.equal(other.page.url(), world.url(world.pathOf(two())))

    await bob.visit(queuePath)
    assert.deepEqual(await placesOn(bob.page), [
      { place: '1st', title: one().title },
      { place: '2nd', title: two().title },
    ])
    assert.equal((await mine()).length, 2)
  } finally {
    world.network.faults.release()
  }
  await world.settled()
  await bob.visit(queuePath)
  assert.equal((await placesOn(bob.page)).length, 2, 'the echo of the stream changes nothing')
})

test('REA-2 REC-1 the records are in bob’s account and in nobody else’s, and say what was queued', async () => {
  const [a, b, ...more] = await mine()
  assert.deepEqual(more, [])
  const { orchard } = world.samples
  for (const [record, pull] of [
    [a, one()],
    [b, two()],
  ] as const) {
    const { createdAt, ...value } = record?.value ?? {}
    assert.deepEqual(value, {
      $type: 'dev.knotless.queue',
      repo: orchard.uri,
      subject: pull.uri,
      state: 'queued',
      head: pull.head,
      branch: 'main',
    })
    assert.ok(Math.abs(Date.parse(String(createdAt)) - Date.now()) < 120_000)
    assert.match(String(record?.uri), /\/[2-7a-z]{13}$/)
  }
  for (const name of ['alice', 'carol', 'mallory', 'runner'] as const) assert.deepEqual(await queueRecords(world.people[name]), [], name)
})

/** Keeps a tab from being told of changes, and, where another tab tells it, from asking for them. */
async function stayOld(page: Page): Promise<void> {
  await page.route(/\/events\?|[?&]have=/, route => route.abort())
}

test('ADM-4 Add on a page from before keeps the place and writes nothing', async () => {
  const stale = await bob.beside()
  const path = world.pathOf(world.pull('frost-two-degrees'))
  await stayOld(stale.page)
  await stale.visit(path)
  await bob.visit(path)
  await submit(bob.page, 'Add to merge queue')
  await waitForHeadline(bob.page, /^Queued, 3rd of 3\b/)
  const before = await mine()
  await submit(stale.page, 'Add to merge queue')
  await waitForHeadline(stale.page, /^Queued, 3rd of 3\b/)
  assert.match(
    (await stale.page.locator('#merge-box [role=alert], #merge-box [role=status]').textContent()) ?? '',
    /already queued, 3rd of 3/,
  )
  assert.deepEqual(await mine(), before)
  await stale.page.close()
})

test('QUE-1 ADM-8 Leave asks first; then the next one moves up, on its own page too', async () => {
  await bob.visit(world.pathOf(one()))
  const questions: string[] = []
  bob.page.once('dialog', dialog => {
    questions.push(dialog.message())
    void dialog.dismiss()
  })
  await bob.page.getByRole('button', { name: 'Leave queue' }).click()
  await until(() => questions.length === 1)
  assert.deepEqual(questions, ['Leave the queue? This gives up 1st place; nobody else is affected.'])
  assert.equal((await mine()).length, 3, 'nothing was written yet')

  accept(bob.page)
  await bob.page.getByRole('button', { name: 'Leave queue' }).click()
  await waitForHeadline(bob.page, 'Ready to land')
  await waitForHeadline(other.page, /^Queued, 1st of 2\b/)
  const records = await mine()
  assert.deepEqual(
    records.map(({ value }) => [value.state, value.subject]),
    [
      ['queued', one().uri],
      ['queued', two().uri],
      ['queued', world.pull('frost-two-degrees').uri],
      ['left', one().uri],
    ],
  )
  assert.equal(records.at(-1)?.value.ends, records[0]?.uri)
  await bob.visit(queuePath)
  assert.deepEqual(
    (await placesOn(bob.page)).map(({ title }) => title),
    [two().title, world.pull('frost-two-degrees').title],
  )
})

test('ADM-8 Leave on a page from before says that it is out already, and writes nothing', async () => {
  const stale = await bob.beside()
  const path = world.pathOf(world.pull('frost-two-degrees'))
  await stayOld(stale.page)
  await stale.visit(path)
  await bob.visit(path)
  accept(bob.page)
  await bob.page.getByRole('button', { name: 'Leave queue' }).click()
  await waitForHeadline(bob.page, 'Ready to land')
  const before = await mine()
  accept(stale.page)
  await stale.page.getByRole('button', { name: 'Leave queue' }).click()
  await stale.page.waitForSelector('#merge-box [role=alert]')
  assert.match((await stale.page.locator('#merge-box [role=alert]').textContent()) ?? '', /not in the queue any more: taken out/)
  assert.deepEqual(await mine(), before)
  await stale.page.close()
})

test('QUE-4 QUE-6 what is queued again goes to the back; from the queue page it can be left as well', async () => {
  await bob.visit(world.pathOf(one()))
  await submit(bob.page, 'Add to merge queue')
  await waitForHeadline(bob.page, /^Queued, 2nd of 2\b/)
  await bob.visit(queuePath)
  assert.deepEqual(
    (await placesOn(bob.page)).map(({ title }) => title),
    [two().title, one().title],
  )
  await bob.page
    .locator('#waiting li[id]')
    .first()
    .getByRole('button', { name: /^Leave the queue/ })
    .click()
  await bob.page.getByRole('heading', { name: 'Leave the queue?' }).waitFor()
  await bob.page.getByRole('button', { name: 'Leave queue' }).click()
  await waitForHeadline(bob.page, 'Ready to land')
  assert.equal(bob.page.url(), world.url(world.pathOf(two())))
  await bob.visit(queuePath)
  assert.deepEqual(await placesOn(bob.page), [{ place: '1st', title: one().title }])
  assert.deepEqual([...bob.faults(), ...other.faults()], [])
})
