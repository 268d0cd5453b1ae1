/** Every page as the browser lays it out: nothing wider than the screen, axe content, no script error, on phone and desktop, light and dark. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { after, before, test } from 'node:test'
import type { AxeResults } from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { rendered } from '../test/views/rendered.ts'
import { type Site, serveViews } from './views-site.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const pages = new Map(rendered().map(({ name, html }) => [`/${name}`, html]))
/** One box in each tone; all of them are the same page otherwise. */
const boxes = /^\/pull-(0|5|8|11|12|17|19|21|23)-|^\/pull-[a-z]/
const names = [...pages.keys()].filter(name => !name.startsWith('/pull-') || boxes.test(name))

let site: Site
let browser: Browser
before(async () => {
  site = await serveViews(request => {
    const html = pages.get(request.path)
    return html === undefined ? { status: 404, html: '' } : { status: 200, html }
  })
  browser = await chromium.launch({ executablePath: process.env.KNOTLESS_CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox'] })
})
after(async () => {
  await browser?.close()
  await site?.close()
})

/** What reaches over the right edge: of the screen, or of a box that cuts off what is over. */
function tooWide(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const root = document.documentElement
    const cut = [...document.querySelectorAll('main :is(.file, .box, .sheet, .batch, .queue > li)')]
    return [root, ...cut].filter(each => each.scrollWidth > each.clientWidth + 1).map(each => each.outerHTML.slice(0, 160))
  })()`)
}

async function violations(page: Page): Promise<string[]> {
  const { violations: found } = await page.evaluate<AxeResults>('axe.run(document, { resultTypes: ["violations"] })')
  return found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`)
}

const looks = {
  common: [
    { width: 360, scheme: 'light', axe: true },
    { width: 320, scheme: 'light', axe: false },
    { width: 1280, scheme: 'dark', axe: true },
  ],
  other: [
    { width: 360, scheme: 'dark', axe: true },
    { width: 1280, scheme: 'light', axe: true },
  ],
} as const

async function look(name: string, at: keyof typeof looks): Promise<void> {
  const page = await browser.newPage({ reducedMotion: 'reduce' })
  try {
    const faults: string[] = []
    page.on('pageerror', error => faults.push(error.message))
    page.on('console', message => {
      // The streams of the sample pages lead nowhere, which the browser reports as a 404.
      if (message.type() === 'error' && !message.text().includes('404')) faults.push(message.text())
    })
    await page.goto(site.url + name)
    await page.evaluate(axe)
    for (const { width, scheme, axe: withAxe } of looks[at]) {
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme: scheme })
      assert.deepEqual(await tooWide(page), [], `too wide at ${width}`)
      if (withAxe) assert.deepEqual(await violations(page), [], `axe at ${width}, ${scheme}`)
    }
    assert.deepEqual(faults, [])
  } finally {
    await page.close()
  }
}

for (const name of names) test(`${name} on phone in light and on desktop in dark`, () => look(name, 'common'))

for (const name of ['/home', '/repository', '/queue', '/pull-8-queued', '/settings']) {
  test(`${name} on phone in dark and on desktop in light`, () => look(name, 'other'))
}
