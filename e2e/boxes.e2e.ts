/**
 * The merge box in every state that records can produce: each written on the account server by whoever may, each read in a real browser and held
 * against what the XRPC answer says.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { z } from 'zod'
import { axeSays, tooWide } from './support/look.ts'
import { headline, waitForHeadline } from './support/queueing.ts'
import { type About, madeUpCommit, type Records, recordsIn } from './support/records.ts'
import type { Tab } from './support/tab.ts'
import { queuePath, startWorld, type World } from './support/world.ts'

let world: World
let write: Records
let bob: Tab
before(async () => {
  world = await startWorld()
  write = recordsIn(world)
  bob = await world.open({ as: 'bob', viewport: { width: 360, height: 800 } })
})
after(() => world?.end())

const pathOf = (pull: About) => `/alice.test/orchard/pulls/${pull.uri.slice('at://'.length).replace('/dev.knotless.pull', '')}`
const pull = (branch: string) => world.pull(branch)

/** Of a pull onto a branch that takes pulls past its queue as well. */
const addOrMerge = ['Add to merge queue', 'Merge now']

interface Expected {
  headline: string | RegExp
  says?: RegExp
  /** What the box offers; nothing unless given. */
  offers?: string | readonly string[]
}

/** The box of a pull once all that was written is known, as a person sees it. */
async function see(about: About, expected: Expected, tab = bob): Promise<void> {
  await world.settled()
  await tab.visit(pathOf(about))
  await waitForHeadline(tab.page, expected.headline)
  const box = tab.page.locator('#merge-box')
  const offered = (await box.getByRole('button').allTextContents()).map(text => text.trim())
  assert.deepEqual(offered, [expected.offers ?? []].flat())
  const text = ((await box.textContent()) ?? '').replace(/\s+/g, ' ')
  if (expected.says !== undefined) assert.match(text, expected.says)
  const told = await byXrpc(about.uri)
  if (tab === bob && told !== undefined) assert.equal(told, await headline(tab.page))
  assert.deepEqual(await tooWide(tab.page), [])
  assert.deepEqual(await axeSays(tab.page), [])
}

const status = z.object({ box: z.object({ headline: z.string(), key: z.string() }) })

/** STA-3: the headline that a program is told; undefined where it depends on who asks. */
async function byXrpc(uri: string): Promise<string | undefined> {
  const answer = await fetch(world.url(`/xrpc/dev.knotless.getMergeStatus?pull=${encodeURIComponent(uri)}`))
  assert.equal(answer.status, 200)
  const { box } = status.parse(await answer.json())
  return box.key === 'signed-out' ? undefined : box.headline
}

test('ADM-1 who may queue is said to the signed out and to strangers, by name', async () => {
  const says = /alice\.test and bob\.test can/
  const [nobody, mallory] = [await world.open(), await world.open({ as: 'mallory' })]
  await see(pull('label-variety'), { headline: 'Log in to queue this', says, offers: 'Add to merge queue' }, nobody)
  await see(pull('label-variety'), { headline: 'You cannot queue pulls here', says }, mallory)
  assert.deepEqual([...nobody.faults(), ...mallory.faults()], [])
  await nobody.close()
  await mallory.close()
})

test('ready; a draft is held; head and target must exist', async () => {
  const { alice, bob: author } = world.people
  const offers = addOrMerge
  await see(pull('label-variety'), { headline: 'Ready to land', says: /It applies on main at [0-9a-f]{7}\. .* would be 1st of 1/, offers })
  await see(await write.pull(alice, 'label-variety', { draft: true }), { headline: 'Draft: held' })
  await see(await write.pull(author, 'nowhere'), { headline: 'Its branch is gone', says: /nowhere no longer exists/ })
  await see(await write.pull(author, 'label-variety', { branch: 'nowhere' }), { headline: 'There is no branch nowhere' })
})

test('ADM-5 a conflict names its files', async () => {
  await see(pull('rootstock-feet'), { headline: 'Conflicts with main', says: /These files need a hand: docs\/rootstocks\.md/ })
})

test('ADM-11 a branch whose tip no workflow checks is said to be unchecked', async () => {
  const [, , , second] = await write.commits()
  await write.setRef('old', second)
  const unchecked = await write.pull(world.people.bob, 'label-variety', { branch: 'old' })
  const says = /No workflow on old runs on a pull into it.* It changes \.knotless, and so what checks it/
  await see(unchecked, { headline: 'Ready, and nothing checks old', says, offers: addOrMerge })
})

test('ADM-6 ADM-7 a check that runs is no refusal; one that failed is, by name', async () => {
  await write.check(pull('harvest-pounds'), 'test', 'running')
  await see(pull('harvest-pounds'), { headline: 'Ready to queue', says: /1 of 1 check is still running/, offers: addOrMerge })
  await write.check(pull('harvest-pounds'), 'test', 'failure')
  await see(pull('harvest-pounds'), { headline: 'test failed at this head', says: /Push a fix/ })
})

test('STA-1 STA-3 STA-4 queued without a lander, with one, and waiting for a pre-flight', async () => {
  const offers = 'Leave queue'
  await write.queue(world.people.bob, pull('label-variety'), 'queued')
  await see(pull('label-variety'), { headline: 'Queued, 1st of 1, but no lander has been seen', says: /never seen/, offers })
  await write.lander()
  await see(pull('label-variety'), { headline: 'Queued, 1st of 1', says: /Lander runner\.test, seen \d+ s ago/, offers })
  await write.check(pull('label-variety'), 'check', 'running', { queue: 'first' })
  await see(pull('label-variety'), { headline: 'Queued, 1st of 1, waiting for its pre-flight: check', offers })
})

test('STA-1 STA-2 in a batch; in one that stands on another', async () => {
  const offers = 'Leave queue'
  await write.queue(world.people.bob, pull('frost-two-degrees'), 'queued')
  await write.queue(world.people.alice, pull('rename-spacing'), 'queued')
  const lower = [pull('label-variety'), pull('frost-two-degrees')]
  const tip = await write.batch(lower, { check: 'success', test: 'running' })
  await see(pull('frost-two-degrees'), { headline: 'In a batch of 2 being checked', says: /2nd of 2 .* test is still running/, offers })
  const upper = [pull('rename-spacing')]
  await write.batch(upper, { check: 'queued', test: 'queued' }, { base: tip })
  await see(pull('rename-spacing'), { headline: 'In a batch of 1 being checked', says: /stands on the batch of 2/, offers })
  await write.batch(upper, { check: 'success', test: 'failure' }, { base: tip })
  await see(pull('rename-spacing'), { headline: 'In a batch of 1, red but undecided', says: /decided only once the batch of 2/, offers })
  await write.batch(upper, { check: 'success', test: 'success' }, { base: tip })
  await see(pull('rename-spacing'), { headline: 'In a batch of 1 that passed, waiting for the batch under it', offers })
  await bob.visit(queuePath)
  assert.match((await bob.page.locator('main').textContent()) ?? '', /2 batches, 3 pulls/)
  assert.deepEqual([...(await tooWide(bob.page)), ...(await axeSays(bob.page))], [])
})

test('STA-1 landing, while Leave is still to be had', async () => {
  await write.batch([pull('label-variety'), pull('frost-two-degrees')], { check: 'success', test: 'success' })
  await see(pull('frost-two-degrees'), { headline: 'Landing', says: /runner\.test is moving main to/, offers: 'Leave queue' })
})

test('a batch that failed lands nobody: its pulls wait again', async () => {
  await write.batch([pull('label-variety'), pull('frost-two-degrees')], { check: 'success', test: 'failure' })
  await see(pull('frost-two-degrees'), { headline: 'Queued, 2nd of 3', offers: 'Leave queue' })
})

test('REC-2 HON-3 ejected, with reason and checks; Add again goes to the back', async () => {
  const { runner } = world.people
  const log = await write.check(pull('csv-semicolons'), 'test', 'success')
  await write.queue(world.people.bob, pull('csv-semicolons'), 'queued')
  await write.queue(runner, pull('csv-semicolons'), 'ejected', {
    reason: 'Its batch failed. Read the log, mend it and add it again.',
    kind: 'checks',
    commit: pull('csv-semicolons').head,
    checks: [{ workflow: 'test', status: 'failure', check: log.uri }],
  })
  const says = /Read the log, mend it and add it again\. .*test: failed.*It goes to the back/
  await see(pull('csv-semicolons'), { headline: 'Ejected: Its batch failed', says, offers: 'Add again' })
})

test('HON-6 STA-5 REA-5 closed; merged but not there; landed by hand and in a batch', async () => {
  const { alice, runner } = world.people
  await write.state(alice, pull('hedge-rows'), 'closed')
  await see(pull('hedge-rows'), { headline: 'Closed without landing', says: /alice\.test closed it/ })
  await write.state(alice, pull('water-after-rain'), 'merged', { commit: madeUpCommit('nowhere') })
  await see(pull('water-after-rain'), { headline: 'Marked merged, but not on main', says: /Nothing has landed/ })
  const tip = await write.tip()
  await write.state(alice, pull('water-young-trees'), 'merged', { commit: tip })
  await see(pull('water-young-trees'), { headline: `Landed in main as ${tip.slice(0, 7)}`, says: /alice\.test merged it by hand/ })
  await write.state(runner, pull('rename-spacing'), 'merged', { commit: tip, batch: tip })
  await see(pull('rename-spacing'), { headline: `Landed in main as ${tip.slice(0, 7)}`, says: /In a batch of 1 by runner\.test/ })
  await bob.visit(queuePath)
  assert.match((await bob.page.locator('#landed').textContent()) ?? '', /Rename spacing_of to spacing_dm/)
})

test('HON-2 HON-3 STA-7 nothing of this can be said by a stranger', async () => {
  const { mallory } = world.people
  const about = pull('label-variety')
  await write.queue(mallory, about, 'ejected', { reason: 'Because. I say so.' })
  await write.state(mallory, about, 'closed')
  await mallory.create('dev.knotless.check', {
    repo: world.samples.orchard.uri,
    workflow: 'test',
    status: 'failure',
    ref: 'refs/heads/main',
    generation: 1,
    commit: about.head,
    baseCommit: await write.tip(),
    pull: about.uri,
    createdAt: new Date().toISOString(),
  })
  await see(about, { headline: 'Queued, 1st of 2, waiting for its pre-flight: check', offers: 'Leave queue' })
  assert.deepEqual(bob.faults(), [])
})
