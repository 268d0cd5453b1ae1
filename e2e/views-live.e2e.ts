/** What pages do while one looks: regions that follow the stream, forms that answer in place, the notice of a lost connection. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import * as refusals from '../src/queue/words/refusals.ts'
import type { BoxModel } from '../src/views/models.ts'
import { pageParts } from '../src/views/render.ts'
import { until } from '../test/support/until.ts'
import { renderer } from '../test/views/rendered.ts'
import { frame } from '../test/views/sample.ts'
import { boxes, boxModel, pullPage } from '../test/views/sample-pull.ts'
import { busyQueue } from '../test/views/sample-queue.ts'
import { type Site, type SiteRequest, serveViews } from './views-site.ts'

function state(key: string): BoxModel {
  const parts = boxes.find(each => each.key === key)
  assert.ok(parts)
  return boxModel(parts)
}

const queue = busyQueue()
const pull = pullPage(state('ready'))
const world = { version: 1, box: state('ready'), refuse: false, posts: [] as SiteRequest[], held: Promise.resolve() }

function queueModel() {
  const queued = queue.queue.queued.slice(world.version - 1)
  return {
    ...queue,
    frame: frame({ live: '/queue/events', path: '/queue', title: `Queue (${queued.length})` }),
    repo: { ...queue.repo, queued: queued.length },
    queue: { ...queue.queue, version: world.version, queued },
    waiting: { all: queued.length, matching: queued.length },
  }
}

function pullModel(more: Partial<BoxModel> = {}) {
  return { ...pull, frame: frame({ live: '/pull/events', path: '/pull' }), box: { ...world.box, ...more } }
}

function page(path: string, part: string | null) {
  if (path === '/queue') {
    const known = pageParts.queue.find(each => each === part)
    return known === undefined ? renderer().renderPage('queue', queueModel()) : renderer().renderPart('queue', known, queueModel())
  }
  const known = pageParts.pull.find(each => each === part)
  return known === undefined ? renderer().renderPage('pull', pullModel()) : renderer().renderPart('pull', known, pullModel())
}

async function answer(request: SiteRequest) {
  if (request.method !== 'POST') return { status: 200, html: page(request.path, request.query.get('part')) }
  world.posts.push(request)
  await world.held
  if (world.refuse) {
    const refused = refusals.upstreamFailed('queue', 'pds.example', 'silent', true)
    return { status: 422, html: renderer().renderPart('pull', 'box', pullModel({ refused })) }
  }
  world.box = state(request.path.endsWith('/leave') ? 'ready' : 'queued')
  return { status: 200, html: renderer().renderPart('pull', 'box', pullModel()) }
}

let site: Site
let browser: Browser
let context: BrowserContext
let tab: Page
before(async () => {
  site = await serveViews(answer)
  browser = await chromium.launch({ executablePath: process.env.KNOTLESS_CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] })
})
after(async () => {
  await browser?.close()
  await site?.close()
})
beforeEach(async () => {
  await context?.close()
  await until(() => site.streams() === 0, { timeout: 15_000, what: 'the old stream to end' })
  context = await browser.newContext({ timezoneId: 'Asia/Tokyo', viewport: { width: 1000, height: 600 } })
  tab = await context.newPage()
  Object.assign(world, { version: 1, box: state('ready'), refuse: false, posts: [], held: Promise.resolve() })
  site.cut(false)
})

async function visit(path: string): Promise<void> {
  await tab.goto(site.url + path)
  await until(() => site.streams() === 1, { timeout: 15_000, what: 'the stream' })
}

const rows = () => tab.locator('#waiting li[id]').count()
const headline = () => tab.locator('#merge-box-t').textContent()

test('a change on the stream swaps what changed and leaves focus, typed text, open details and scroll alone', async () => {
  await visit('/queue')
  const before = await rows()
  await tab.fill('input[name=q]', 'typed')
  await tab.locator('#landed summary').nth(1).click()
  await tab.locator('#waiting h3 a').nth(3).focus()
  const scroll = await tab.evaluate('scrollY')
  const focused = await tab.evaluate('document.activeElement.textContent')
  world.version = 2
  site.send('changed', 2)
  await until(async () => (await rows()) === before - 1)
  assert.equal(await tab.evaluate('document.activeElement.textContent'), focused)
  assert.equal(await tab.inputValue('input[name=q]'), 'typed')
  assert.notEqual(await tab.locator('#landed details').nth(1).getAttribute('open'), null)
  assert.ok(Math.abs(Number(await tab.evaluate('scrollY')) - Number(scroll)) < 250)
  assert.match((await tab.locator('#waiting').getAttribute('hx-get')) ?? '', /seen=2/)
})

test('the title of the page and the count above it follow the stream too', async () => {
  await visit('/queue')
  const queued = queue.queue.queued.length
  assert.equal(await tab.title(), `Queue (${queued}) · knotless`)
  for (const version of [2, 3]) {
    world.version = version
    site.send('changed', version)
    const left = queued + 1 - version
    await until(async () => (await tab.title()) === `Queue (${left}) · knotless`)
    await until(async () => (await tab.locator('.tabs .n').textContent()) === `${left}`)
    await until(async () => (await tab.locator('#h-wait').textContent()) === `Waiting ${left}`)
    assert.equal(await tab.locator('#news').count(), 1)
  }
})

test('times are shown in the zone of the reader, also in what was swapped in', async () => {
  await visit('/queue')
  assert.equal(await tab.locator('#news time').textContent(), '23:31')
  site.send('changed', 2)
  await until(async () => (await tab.locator('#news time').textContent()) === '23:31')
  assert.equal(await tab.locator('#zone').textContent(), 'Times are shown in your time zone.')
})

test('a lost stream is said with since when, and the notice goes when it is back', async () => {
  await visit('/queue')
  site.cut(true)
  await tab.waitForSelector('#stale:not([hidden])', { timeout: 20_000 })
  assert.match(
    (await tab.locator('#stale').textContent()) ?? '',
    /^Connection lost\. This page is as it was at \d\d:\d\d, \d+ s ago\. Trying again; reload now\.$/,
  )
  site.cut(false)
  await tab.waitForSelector('#stale', { state: 'hidden', timeout: 60_000 })
})

test('a first connection that fails is tried again, and the page stays as it is', async () => {
  site.cut(true)
  await tab.goto(`${site.url}/queue`)
  await tab.waitForSelector('#stale:not([hidden])', { timeout: 20_000 })
  assert.ok((await rows()) > 0)
  site.cut(false)
  await tab.waitForSelector('#stale', { state: 'hidden', timeout: 60_000 })
})

test('a double click on Add is one request, with the token; a refusal comes back in the box', async () => {
  await visit('/pull')
  world.refuse = true
  const release = Promise.withResolvers<void>()
  world.held = release.promise
  await tab.getByRole('button', { name: 'Add to merge queue' }).dblclick()
  await until(() => world.posts.length === 1)
  release.resolve()
  await tab.waitForSelector('#merge-box [role=alert]')
  assert.equal(world.posts.length, 1)
  assert.equal(world.posts[0]?.headers['x-csrf-token'], 'token-1')
  assert.match(world.posts[0]?.body ?? '', /_csrf=token-1&head=1f00d5a/)
  assert.match((await tab.locator('#merge-box').textContent()) ?? '', /Not queued: pds\.example did not answer in time\./)
})

test('Add that nobody answers says so, and another try takes that away', async () => {
  await visit('/pull')
  const notice = tab.locator('#merge-box [role=alert]')
  assert.equal(await notice.count(), 0)
  await tab.route('**/queue', route => route.abort())
  await tab.getByRole('button', { name: 'Add to merge queue' }).click()
  await notice.waitFor()
  assert.match((await notice.textContent()) ?? '', /^No answer from this server\. Whether it was done is not known/)
  assert.equal(world.posts.length, 0)
  await tab.unroute('**/queue')
  await tab.getByRole('button', { name: 'Add to merge queue' }).click()
  await until(async () => (await headline()) === 'Queued, 8th of 12')
  assert.equal(await notice.count(), 0)
})

test('Add, then Leave after it asked what that costs; the keyboard stays where it was', async () => {
  await visit('/pull')
  await tab.getByRole('button', { name: 'Add to merge queue' }).press('Enter')
  await until(async () => (await headline()) === 'Queued, 8th of 12')
  assert.equal(await tab.evaluate('document.activeElement.textContent'), 'Leave queue')
  const questions: string[] = []
  tab.on('dialog', dialog => {
    questions.push(dialog.message())
    void (questions.length === 1 ? dialog.dismiss() : dialog.accept())
  })
  const leave = tab.getByRole('button', { name: 'Leave queue' })
  await leave.click()
  assert.deepEqual(questions, ['Leave the queue? This gives up 8th place; nobody else is affected.'])
  assert.equal(world.posts.length, 1)
  await leave.click()
  await until(async () => (await headline()) === 'Ready to land')
  assert.equal(world.posts.length, 2)
  assert.equal(tab.url(), `${site.url}/pull`)
})

test('the menu closes by Escape and gives the focus back', async () => {
  await visit('/queue')
  await tab.locator('.menu summary').click()
  assert.ok(await tab.getByRole('button', { name: 'Log out' }).isVisible())
  await tab.keyboard.press('Escape')
  assert.ok(await tab.getByRole('button', { name: 'Log out' }).isHidden())
  assert.equal(await tab.evaluate('document.activeElement.tagName'), 'SUMMARY')
})

test('the menu closes when the keyboard goes on', async () => {
  await visit('/queue')
  await tab.locator('.menu summary').press('Enter')
  const last = tab.getByRole('button', { name: 'Log out' })
  await last.focus()
  assert.ok(await last.isVisible())
  await tab.keyboard.press('Tab')
  assert.ok(await last.isHidden())
})
