/** What pages do while one looks: regions that follow the stream, forms that answer in place, the notice of a lost connection. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import * as refusals from '../src/queue/words/refusals.ts'
import type { BoxModel } from '../src/views/models.ts'
import { until } from '../test/support/until.ts'
import { renderer } from '../test/views/rendered.ts'
import { frame } from '../test/views/sample.ts'
import { checkPage } from '../test/views/sample-check.ts'
import { boxes, boxModel, pullPage } from '../test/views/sample-pull.ts'
import { busyQueue } from '../test/views/sample-queue.ts'
import { type Site, type SiteRequest, serveViews, shown } from './views-site.ts'

function state(key: string): BoxModel {
  const parts = boxes.find(each => each.key === key)
  assert.ok(parts)
  return boxModel(parts)
}

const queue = busyQueue()
const pull = pullPage(state('ready'))
const live = `/events?of=${shown}@1`
const world = {
  version: 1,
  landed: queue.queue.landed,
  box: state('ready'),
  refuse: false,
  posts: [] as SiteRequest[],
  asked: [] as SiteRequest[],
  held: Promise.resolve(),
}

function queueModel(path = '/queue', of = shown) {
  const queued = queue.queue.queued.slice(world.version - 1)
  return {
    ...queue,
    frame: frame({ live: `/events?of=${of}@1`, path, title: `Queue (${queued.length})` }),
    repo: { ...queue.repo, queued: queued.length },
    queue: { ...queue.queue, version: world.version, queued, landed: world.landed },
    waiting: { all: queued.length, matching: queued.length },
  }
}

function pullModel(more: Partial<BoxModel> = {}) {
  return { ...pull, frame: frame({ live, path: '/pull' }), box: { ...world.box, ...more } }
}

/** A log of 300 lines, and of five more with each version. */
function logModel() {
  const lines = Array.from({ length: 295 + 5 * world.version }, (_, n) => ({ pieces: [{ text: `line ${n + 1}` }] }))
  const log = { shown: true as const, lines, first: 1, of: lines.length, live: true, notes: [] }
  return checkPage({ frame: frame({ live, path: '/log' }), failed: undefined, log })
}

function page(path: string, have: string | null) {
  const views = renderer()
  if (path === '/log') return have === null ? views.renderPage('check', logModel()) : views.renderChanges('check', logModel(), have)
  if (path === '/other') return views.renderPage('queue', queueModel('/other', `${shown}2`))
  if (path === '/queue') return have === null ? views.renderPage('queue', queueModel()) : views.renderChanges('queue', queueModel(), have)
  return have === null ? views.renderPage('pull', pullModel()) : views.renderChanges('pull', pullModel(), have)
}

async function answer(request: SiteRequest) {
  if (request.method !== 'POST') {
    world.asked.push(request)
    const html = page(request.path, request.query.get('have'))
    return { status: html === '' ? 204 : 200, html }
  }
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
  Object.assign(world, {
    version: 1,
    landed: queue.queue.landed,
    box: state('ready'),
    refuse: false,
    posts: [],
    asked: [],
    held: Promise.resolve(),
  })
  site.cut()
  site.change(1)
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
  site.change(2)
  await until(async () => (await rows()) === before - 1)
  assert.equal(await tab.evaluate('document.activeElement.textContent'), focused)
  assert.equal(await tab.inputValue('input[name=q]'), 'typed')
  assert.notEqual(await tab.locator('#landed details').nth(1).getAttribute('open'), null)
  assert.ok(Math.abs(Number(await tab.evaluate('scrollY')) - Number(scroll)) < 250)
  assert.equal(await tab.locator('#waiting').getAttribute('data-with'), 'seen=2')
})

for (const own of [true, false]) {
  test(`what is looked at stays where it is when rows above it go, in a browser that ${own ? 'sees to that itself' : 'does not'}`, async () => {
    await visit('/queue')
    if (!own) await tab.evaluate("document.documentElement.style.overflowAnchor = 'none'; CSS.supports = () => false")
    const row = tab.locator('#waiting li[id]').nth(5)
    await tab.evaluate("document.querySelectorAll('#waiting li[id]')[5].scrollIntoView()")
    const id = await row.getAttribute('id')
    const top = () => tab.evaluate(`Math.round(document.getElementById('${id}').getBoundingClientRect().top)`)
    const [before, rowsBefore] = [await top(), await rows()]
    assert.ok(Number(await tab.evaluate('scrollY')) > 0)
    world.version = 4
    site.change(4)
    await until(async () => (await rows()) === rowsBefore - 3)
    await until(async () => Math.abs(Number(await top()) - Number(before)) <= 2, { timeout: 3_000, what: 'the row to be where it was' })
  })
}

test('a log that grows stays at its end for whoever is there, and where it is for everybody else', async () => {
  await visit('/log')
  const last = () => tab.locator('pre.log code > span').last().getAttribute('id')
  const toEnd = () => tab.evaluate('document.documentElement.scrollHeight - innerHeight - scrollY')
  await tab.evaluate('document.getElementById("L100").scrollIntoView()')
  const before = await tab.evaluate('scrollY')
  world.version = 2
  site.change(2)
  await until(async () => (await last()) === 'L305')
  assert.equal(await tab.evaluate('scrollY'), before)
  await tab.evaluate('scrollTo(0, document.documentElement.scrollHeight)')
  await until(async () => Number(await toEnd()) < 2)
  world.version = 3
  site.change(3)
  await until(async () => (await last()) === 'L310')
  await until(async () => Number(await toEnd()) < 2, { timeout: 3_000, what: 'the end to be in view' })
})

test('one change is one request, which brings the regions that differ; a change of nothing shown brings none', async () => {
  await visit('/queue')
  assert.equal(world.asked.length, 1)
  world.version = 2
  const answered = tab.waitForResponse(response => response.url().includes('have='))
  site.change(2)
  const { status, body } = await answered.then(async response => ({ status: response.status(), body: await response.text() }))
  assert.equal(status, 200)
  const regions = [...body.matchAll(/<hx-partial hx-target="\[data-live=([a-z]+)\]">/g)].map(([, part]) => part)
  assert.deepEqual(regions, ['news', 'waiting'])
  assert.equal(world.asked[1]?.query.get('seen'), '1')
  await until(async () => (await tab.locator('#waiting').getAttribute('data-with')) === 'seen=2')
  const again = tab.waitForResponse(response => response.url().includes('have='))
  site.change(3)
  assert.equal((await again).status(), 204)
  assert.equal(world.asked.length, 3)
})

test('what the reader opened stays open and what was closed stays closed, whatever the server sends', async () => {
  await visit('/queue')
  const opened = (at: number) => tab.locator('#landed details').nth(at).getAttribute('open')
  await tab.locator('#landed summary').nth(0).click()
  await tab.locator('#landed summary').nth(1).click()
  world.landed = queue.queue.landed.map((batch, at) => (at === 0 ? { ...batch, by: { did: 'did:web:somebody.else' } } : batch))
  site.change(2)
  await until(async () => /somebody\.else/.test((await tab.locator('#landed').textContent()) ?? ''))
  assert.deepEqual([await opened(0), await opened(1)], [null, ''])
})

test('a tab that is hidden has no stream, and catches up when it is shown', async () => {
  await visit('/queue')
  const hide = (hidden: boolean) =>
    tab.evaluate(
      `Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))`,
    )
  await hide(true)
  await until(() => site.streams() === 0, { timeout: 10_000, what: 'the stream to end' })
  const before = await rows()
  world.version = 2
  await hide(false)
  await until(async () => (await rows()) === before - 1)
  await until(() => site.streams() === 1)
})

test('eight tabs of one browser share one stream and all stay alive; when the one that holds it is closed, another does', async () => {
  await visit('/queue')
  const tabs = [tab]
  for (let n = 1; n < 8; n++) {
    const other = await context.newPage()
    await other.goto(`${site.url}/queue`)
    tabs.push(other)
  }
  const left = (page: Page) => page.locator('#waiting li[id]').count()
  const before = await left(tab)
  const all = async (version: number) => {
    world.version = version
    site.change(version)
    for (const page of tabs)
      await until(async () => (await left(page)) === before + 1 - version, { timeout: 10_000, what: 'all tabs to change' })
  }
  await all(2)
  assert.equal(site.streams(), 1)
  const opened = site.opened()
  await tabs.shift()?.close()
  await until(() => site.opened() > opened && site.streams() === 1, { timeout: 10_000, what: 'another tab to hold the stream' })
  await all(3)
  assert.equal(site.streams(), 1)
})

test('tabs of different pages share the stream too, each told of its own', async () => {
  await visit('/queue')
  const other = await context.newPage()
  await other.goto(`${site.url}/other`)
  await until(() => site.watched().length === 2, { timeout: 10_000, what: 'both to be watched' })
  assert.equal(site.streams(), 1)
})

test('the title of the page and the count above it follow the stream too', async () => {
  await visit('/queue')
  const queued = queue.queue.queued.length
  assert.equal(await tab.title(), `Queue (${queued}) · knotless`)
  for (const version of [2, 3]) {
    world.version = version
    site.change(version)
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
  site.change(2)
  await until(async () => (await tab.locator('#news time').textContent()) === '23:31')
  assert.equal(await tab.locator('#zone').textContent(), 'Times are shown in your time zone.')
})

test('a lost stream is said with since when, and the notice goes when it is back', async () => {
  await visit('/queue')
  site.cut(503)
  await tab.waitForSelector('#stale:not([hidden])', { timeout: 20_000 })
  assert.match(
    (await tab.locator('#stale').textContent()) ?? '',
    /^Connection lost\. This page is as it was at \d\d:\d\d, \d+ s ago\. Trying again\. Reload now$/,
  )
  site.cut()
  await tab.waitForSelector('#stale', { state: 'hidden', timeout: 60_000 })
})

test('where the server has as many streams as it may, the page says so and still asks', async () => {
  site.cut(429)
  await tab.clock.install()
  await tab.goto(`${site.url}/queue`)
  await until(async () => {
    await tab.clock.runFor(1_000)
    return tab.locator('#stale').isVisible()
  })
  assert.match((await tab.locator('#stale').textContent()) ?? '', /^As many pages follow their changes as this server can tell/)
  const before = world.asked.length
  await tab.clock.runFor(31_000)
  await until(() => world.asked.length > before)
})

test('a first connection that fails is tried again, and the page stays as it is', async () => {
  site.cut(503)
  await tab.goto(`${site.url}/queue`)
  await tab.waitForSelector('#stale:not([hidden])', { timeout: 20_000 })
  assert.ok((await rows()) > 0)
  site.cut()
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

test('when the button that has the focus goes, the keyboard stays in its region and goes on from there', async () => {
  world.box = state('queued')
  await visit('/pull')
  await tab.getByRole('button', { name: 'Leave queue' }).focus()
  world.box = state('merged')
  site.change(2)
  await until(async () => /^Landed in main/.test((await headline()) ?? ''))
  await until(async () => (await tab.evaluate('document.activeElement.id')) === 'merge-box-t')
  await tab.keyboard.press('Tab')
  assert.equal(await tab.evaluate('document.activeElement.closest("#merge-box") !== null'), true)
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
