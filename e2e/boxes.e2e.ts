/**
 * The merge box in every state: the gallery that `npm run gallery` shows, each state of it in a real browser, held against the snapshot of what
 * assistive technology is told (`aria/`) and against what the XRPC answer says to the same person.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import type { Page } from 'playwright-core'
import { z } from 'zod'
import { galleryPage, pathOfScene } from '../src/devnet/gallery/page.ts'
import { type Group, groups, type Scene } from '../src/devnet/gallery/scene.ts'
import { ignoredCounts } from '../src/indexer/read.ts'
import { boxTones } from '../src/queue/words/box.ts'
import { until } from '../test/support/until.ts'
import { type GalleryWorld, startGallery } from './support/gallery.ts'
import { axeSays, tooWide } from './support/look.ts'
import { headline, submitted, waitForHeadline } from './support/queueing.ts'

let gallery: GalleryWorld
before(async () => {
  gallery = await startGallery()
})
after(() => gallery?.end())

/** What is shown of each part of the order of precedence. */
const shown: Readonly<Record<Group, string>> = {
  Merged: 'STA-5 REA-5 merged: in a batch, by hand, with more pushed since, and not there at all',
  Closed: 'HON-6 closed, by whom',
  Draft: 'QUE-5 a draft: by itself, queued, and taken out',
  Landing: 'STA-1 landing: being moved, being recorded, recorded and not read',
  'In a batch': 'STA-1 STA-2 CHK-6 in a batch: its place, what runs, what it stands on',
  Queued: 'STA-1 STA-4 STA-7 queued: why it does not move, and stranded never looks alike',
  Ejected: 'REC-2 HON-3 FAI-7 STW-10 ejected: reason, blame, evidence, the steward, and Add again',
  'What git says': 'ADM-5 what git says: conflicts with their files, branches that are gone or cannot be read',
  'Checks failed': 'ADM-6 a check that failed at the head, by name',
  'No delegation': 'ADM-10 no delegation: the owner gets the button, everybody else a name',
  'No runners': 'ADM-2 PRO-4 no runners: merged by hand, or not at all',
  'Not allowed': 'ADM-1 who may queue is said to the signed out and to strangers, by name',
  Ready: 'ADM-7 ADM-9 ADM-11 ready: what it rests on, and what would come of it',
  'When it says no': 'STO-7 a refusal comes back inside the box',
}

const keys = new Set<string>()

for (const group of groups) {
  test(shown[group], async t => {
    const scenes = gallery.scenes.filter(scene => scene.group === group)
    assert.ok(scenes.length > 0)
    for (const scene of scenes) await see(t, scene)
  })
}

test('every state that the box has is in the gallery', () => {
  assert.deepEqual([...keys].sort(), Object.keys(boxTones).sort())
})

async function see(t: TestContext, scene: Scene): Promise<void> {
  const { page, visit, faults } = await gallery.tabOf(scene.as)
  await visit(pathOfScene(gallery, scene))
  const told = await byXrpc(scene)
  keys.add(told.key)
  assert.equal(await headline(page), told.headline, `STA-3 ${scene.id}`)
  if (scene.press !== undefined) await submitted(page, scene.press)
  t.assert.fileSnapshot(await asTold(page), join(import.meta.dirname, 'aria', `${scene.id}.yml`), { serializers: [String] })
  assert.deepEqual(await tooWide(page), [], scene.id)
  assert.deepEqual(await axeSays(page, '#merge-box'), [], scene.id)
  const expected = scene.press === undefined ? /^$/ : /status of 422/
  assert.deepEqual(
    faults().filter(fault => !expected.test(fault)),
    [],
    scene.id,
  )
}

/** The box as assistive technology is told of it, without addresses and without what differs by when and where this runs. */
async function asTold(page: Page): Promise<string> {
  const snapshot = await page.locator('#merge-box').ariaSnapshot()
  return `${snapshot
    .split('\n')
    .filter(line => !line.trim().startsWith('- /url:'))
    .join('\n')
    .replace(/\b\d+ h \d+ min\b|\b(?:\d+–)?\d+ (?:s|min|h|days)\b/g, '‹span›')
    .replace(/\b(?:\d+ [A-Z][a-z]{2}, )?\d\d:\d\d(?: UTC)?/g, '‹clock›')
    .replace(/(127\.0\.0\.1|localhost):\d+/g, '$1')}\n`
}

const status = z.object({ box: z.object({ headline: z.string(), key: z.string() }) })

/** What a program of whoever looks is told. */
async function byXrpc({ pull, as }: Scene): Promise<{ headline: string; key: string }> {
  const headers: Record<string, string> = {}
  if (as !== 'nobody') {
    const params = { aud: gallery.server.context.config.did, lxm: 'dev.knotless.getMergeStatus' }
    const answer = await gallery.cast[as].call('com.atproto.server.getServiceAuth', { params })
    headers.authorization = `Bearer ${z.object({ token: z.string() }).parse(answer).token}`
  }
  const url = `${gallery.server.url}/xrpc/dev.knotless.getMergeStatus?pull=${encodeURIComponent(pull)}`
  const answer = await fetch(url, { headers })
  assert.equal(answer.status, 200)
  return status.parse(await answer.json()).box
}

test('the list of the gallery leads to every state, and is fit to be read', async () => {
  const { page } = await gallery.tabOf('nobody')
  await page.setContent(galleryPage(gallery, gallery.server.url))
  const links = await page.locator('.rows a').evaluateAll(found => found.map(link => link.getAttribute('href')))
  assert.deepEqual(
    links,
    gallery.scenes.map(scene => `${gallery.server.url}${pathOfScene(gallery, scene)}`),
  )
  assert.deepEqual(await axeSays(page), [])
})

function scene(id: string): Scene {
  const found = gallery.scenes.find(one => one.id === id)
  assert.ok(found, id)
  return found
}

/** How often bob queued a pull. */
async function queuedTimes({ pull }: Scene): Promise<number> {
  const records = await gallery.cast.bob.list('dev.knotless.queue')
  return records.filter(({ value }) => value.subject === pull && value.state === 'queued').length
}

test('ADM-4 PRE-3 a double click adds once, and what the lander has not seen waits for its pre-flight', async () => {
  const about = scene('ready-unrun')
  const { page, visit } = await gallery.tabOf('bob')
  await visit(pathOfScene(gallery, about))
  await page.locator('#merge-box').getByRole('button', { name: 'Add to merge queue' }).dblclick()
  await waitForHeadline(page, /^Queued, 11th of 11/)
  assert.match((await page.locator('#merge-box').textContent()) ?? '', /its pre-flight: check has not started/)
  assert.equal(await queuedTimes(about), 1)
})

test('by keyboard alone: Add is reached and pressed, and the keyboard stays in the box', async () => {
  const about = scene('ready-not-all')
  const { page, visit } = await gallery.tabOf('bob')
  await visit(pathOfScene(gallery, about))
  const add = page.locator('#merge-box').getByRole('button', { name: 'Add to merge queue' })
  await add.waitFor()
  const reached = () => page.evaluate<boolean>(`document.activeElement.textContent.trim() === 'Add to merge queue'`)
  for (let presses = 0; presses < 60 && !(await reached()); presses++) await page.keyboard.press('Tab')
  assert.ok(await reached())
  await page.keyboard.press('Enter')
  await waitForHeadline(page, /^Queued, 12th of 12/)
  await until(() => page.evaluate<boolean>('document.activeElement.closest("#merge-box") !== null'), { what: 'the focus to be in the box' })
  assert.equal(await queuedTimes(about), 1)
})

test('HON-2 HON-3 STA-7 nothing of this can be said by a stranger', async () => {
  const about = scene('queued')
  const { mallory } = gallery.cast
  const record = { repo: about.repo.uri, subject: about.pull, createdAt: new Date().toISOString() }
  await mallory.create('dev.knotless.queue', { ...record, state: 'ejected', reason: 'Because. I say so.' })
  await mallory.create('dev.knotless.state', { ...record, state: 'closed' })
  await mallory.create('dev.knotless.decision', {
    ...record,
    ejection: about.pull,
    head: 'a'.repeat(40),
    verdict: 'reject',
    kind: 'other',
    evidence: [],
    attempt: 1,
  })
  const count = () => ignoredCounts(gallery.server.context.database).get('unknown-collection') ?? 0
  const read = count()
  await mallory.create('dev.knotless.marker', { at: record.createdAt })
  await until(() => count() > read, { timeout: 30_000, what: 'the server to read what mallory wrote' })
  const { page, visit } = await gallery.tabOf('bob')
  await visit(pathOfScene(gallery, about))
  assert.equal(await headline(page), 'Queued, 1st of 1')
})
