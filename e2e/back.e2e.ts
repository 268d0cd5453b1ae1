/** Steps back in the browser: a page is asked for again, so that it says what is so now, to whoever is there now. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { submit, waitForHeadline } from './support/queueing.ts'
import { queuePath, startWorld, type World } from './support/world.ts'

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world?.end())

test('a step back to the list of pulls shows where the pull that was added stands', async () => {
  const bob = await world.open({ as: 'bob' })
  const { page } = bob
  const { title } = world.pull('label-variety')
  const row = page.locator('.rows > li', { hasText: title })
  await bob.visit('/alice.test/orchard')
  assert.match((await row.textContent()) ?? '', /Open/)
  await row.getByRole('link', { name: title }).click()
  await submit(page, 'Add to merge queue')
  await waitForHeadline(page, /^Queued, 1st of 1/)
  await page.goBack()
  assert.match((await row.textContent()) ?? '', /Queued, 1st of 1/)
  assert.deepEqual(bob.faults(), [])
  await bob.close()
})

test('after a log-out a step back shows no more of whose it was', async () => {
  const bob = await world.open({ as: 'bob' })
  const { page } = bob
  await bob.visit(queuePath)
  await bob.visit('/settings')
  await page.locator('.menu summary').click()
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.waitForURL(world.url('/'))
  await page.goBack()
  await page.goBack()
  assert.equal(page.url(), world.url(queuePath))
  assert.match((await page.locator('header.top').textContent()) ?? '', /Log in/)
  await bob.close()
})
