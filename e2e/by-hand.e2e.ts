/** Records that people write by hand into their accounts: those that count show up while one watches, those that do not count are shown nowhere. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { tidAt } from '../src/queue/tid.ts'
import { until } from '../test/support/until.ts'
import { lookAt } from './support/look.ts'
import { headline, placesOn, queueRecords, submit, waitForHeadline } from './support/queueing.ts'
import { type Records, recordsIn } from './support/records.ts'
import type { Tab } from './support/tab.ts'
import { queuePath, startWorld, type World } from './support/world.ts'

let world: World
let write: Records
let visitor: Tab
before(async () => {
  world = await startWorld()
  write = recordsIn(world)
  visitor = await world.open()
})
after(() => world?.end())

const repo = () => world.samples.orchard.uri
const ask = async (method: string, params: Record<string, string>): Promise<string> => {
  const answer = await fetch(world.url(`/xrpc/dev.knotless.${method}?${new URLSearchParams(params)}`))
  assert.equal(answer.status, 200, method)
  return answer.text()
}

/** Every page and query that would tell of a pull's place, without what changes by itself. */
async function everything(): Promise<string[]> {
  const pull = world.pull('label-variety')
  const pages: string[] = []
  for (const path of ['/', '/alice.test/orchard', queuePath, world.pathOf(pull)]) {
    await visitor.visit(path)
    const text = (await visitor.page.locator('main').textContent()) ?? ''
    pages.push(text.replace(/\d+ (s|min)\b/g, 'a while').replace(/\s+/g, ' '))
  }
  const answers = [
    await ask('getQueue', { repo: repo(), branch: 'main' }),
    await ask('listQueues', { repo: repo() }),
    await ask('listPulls', { repo: repo() }),
    await ask('getMergeStatus', { pull: pull.uri }),
  ]
  return [...pages, ...answers.map(answer => answer.replace(/"version":\d+/g, ''))]
}

test('HON-2 REC-3 a stranger’s record, and one whose key lies a year ahead, are shown by no page and no query', async () => {
  const { bob, mallory } = world.people
  const pull = world.pull('label-variety')
  const before = await everything()
  assert.match(before[2] ?? '', /Nothing is queued on main/)
  assert.match(before[0] ?? '', /runner\.test is named as the runner/)
  await write.queue(mallory, pull, 'queued')
  const year = Date.now() + 365 * 24 * 60 * 60_000
  await write.queue(bob, pull, 'queued', { createdAt: new Date(year).toISOString() }, tidAt(year))
  await write.queue(bob, pull, 'queued', {}, tidAt(year + 1_000))
  await world.settled()
  assert.equal((await queueRecords(mallory)).length, 1)
  assert.equal((await queueRecords(bob)).length, 2)
  assert.deepEqual(await everything(), before)

  await write.queue(bob, pull, 'queued')
  await world.settled()
  assert.notDeepEqual(await everything(), before, 'a record that counts is seen by what was looked at')
  await write.queue(bob, pull, 'left')
})

test('REC-3 what waits for its time is listed to the owner alone, with writer and date', async () => {
  await world.settled()
  const [alice, bob] = [await world.open({ as: 'alice' }), await world.open({ as: 'bob' })]
  await alice.visit('/alice.test/orchard')
  const section = alice.page.locator('section', { has: alice.page.getByRole('heading', { name: /Waiting for their time/ }) })
  const listed = ((await section.textContent()) ?? '').replace(/\s+/g, ' ')
  const year = new Date(Date.now() + 365 * 24 * 60 * 60_000).getUTCFullYear()
  assert.match(listed, new RegExp(`queued: ${world.pull('label-variety').title} written by bob\\.test · dated \\d+ \\w+ ${year}`))
  assert.match(listed, /Waiting for their time 1 /, 'one that no time will make count is not listed')
  await lookAt(alice, 'repository-owner')
  await bob.visit('/alice.test/orchard')
  assert.equal(await bob.page.getByRole('heading', { name: /Waiting for their time/ }).count(), 0)
  await bob.close()
  await alice.close()
})

test('REC-7 nobody’s next record goes by a key that does not count yet', async () => {
  const bob = await world.open({ as: 'bob' })
  await bob.visit(world.pathOf(world.pull('label-variety')))
  await submit(bob.page, 'Add to merge queue')
  await waitForHeadline(bob.page, /^Queued, 1st of 1/)
  const keys = (await queueRecords(world.people.bob)).map(({ uri }) => uri.slice(uri.lastIndexOf('/') + 1))
  const soon = tidAt(Date.now() + 60_000)
  assert.equal(keys.filter(key => key > soon).length, 2)
  await bob.visit(world.pathOf(world.pull('label-variety')))
  await bob.close()
})

test('REA-1 whoever watches the queue page sees a record written by hand, without a reload and with the focus kept', async () => {
  const { page } = visitor
  await visitor.visit(queuePath)
  assert.equal((await placesOn(page)).length, 1)
  const field = page.getByLabel('Words in the title')
  await field.fill('fro')
  await field.focus()
  await page.evaluate('globalThis.stillTheSame = true')
  const pull = world.pull('frost-two-degrees')
  await write.queue(world.people.bob, pull, 'queued')
  await until(async () => (await placesOn(page)).length === 2, { timeout: 15_000, what: 'the page to show the pull' })
  assert.deepEqual((await placesOn(page)).at(-1), { place: '2nd', title: pull.title })
  assert.equal(await page.locator('#waiting li[id]').last().locator('.cue').textContent(), 'new')
  assert.equal(await page.evaluate('globalThis.stillTheSame'), true)
  assert.equal(await page.evaluate('document.activeElement.name'), 'q')
  assert.equal(await field.inputValue(), 'fro')
  await until(async () => /bob\.test queued Warn of frost/.test((await page.locator('#news').textContent()) ?? ''), { timeout: 15_000 })
  assert.equal(await page.locator('#news').getAttribute('role'), 'status')

  await write.queue(world.people.alice, world.pull('label-variety'), 'left')
  await until(async () => (await placesOn(page)).length === 1, { timeout: 15_000 })
  assert.deepEqual(await placesOn(page), [{ place: '1st', title: pull.title }])
  assert.equal(await page.locator('#waiting .cue').textContent(), 'was 2nd')
  assert.equal(await page.evaluate('document.activeElement.name'), 'q')
})

test('STA-1 whoever watches a pull’s page sees it queued, ejected and landed', async () => {
  const { page } = visitor
  const pull = world.pull('csv-semicolons')
  await visitor.visit(world.pathOf(pull))
  await page.evaluate('globalThis.stillTheSame = true')
  await write.queue(world.people.alice, pull, 'queued')
  await waitForHeadline(page, /^Queued, 2nd of 2/)
  await write.queue(world.people.runner, pull, 'ejected', { reason: 'Its batch failed. Read the log.', commit: pull.head })
  await waitForHeadline(page, 'Ejected: Its batch failed')
  await write.state(world.people.alice, pull, 'merged', { commit: await write.tip() })
  await waitForHeadline(page, /^Landed in main/)
  assert.match((await page.locator('#timeline').textContent()) ?? '', /alice\.test queued it.*Ejected: Its batch failed.*Landed in main/s)
  assert.equal(await page.evaluate('globalThis.stillTheSame'), true)
  assert.equal(await headline(page), `Landed in main as ${(await write.tip()).slice(0, 7)}`)
  assert.deepEqual(visitor.faults(), [])
})
