/**
 * Sample pages that real records seldom make, as the browser lays them out: nothing wider than the screen, axe content, no script error. Every page
 * over real records is looked at in `looks.e2e.ts`.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { rendered } from '../test/views/rendered.ts'
import { axeSays, tooWide } from './support/look.ts'
import { openTab, type Tab } from './support/tab.ts'
import { launch } from './support/world.ts'
import { type Site, serveViews } from './views-site.ts'

const pages = new Map(rendered().map(({ name, html }) => [`/${name}`, html]))
/** One box in each tone; all of them are the same page otherwise. */
const boxes = /^\/pull-(0|5|8|11|12|17|19|21|23)-|^\/pull-[a-z]/
const names = [...pages.keys()].filter(name => !name.startsWith('/pull-') || boxes.test(name))

let site: Site
let browser: Browser
let tab: Tab
before(async () => {
  site = await serveViews(request => {
    const html = pages.get(request.path)
    return html === undefined ? { status: 404, html: '' } : { status: 200, html }
  })
  browser = await launch()
  tab = await openTab(browser, site.url)
})
after(async () => {
  await browser?.close()
  await site?.close()
})

for (const [at, name] of names.entries()) {
  // Each in one scheme, by turns: what they are made of is looked at in both.
  const colorScheme = at % 2 === 0 ? 'light' : 'dark'
  test(`${name} on phones and on a desktop, in ${colorScheme}`, async () => {
    const { page } = tab
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width: 360, height: 900 })
    await tab.visit(name)
    assert.deepEqual(await axeSays(page), [])
    for (const width of [320, 360, 1280]) {
      await page.setViewportSize({ width, height: 900 })
      assert.deepEqual(await tooWide(page), [], `too wide at ${width}`)
    }
    // The streams of the sample pages lead nowhere, which the browser reports as a 404.
    assert.deepEqual(
      tab.faults().filter(fault => !fault.includes('404')),
      [],
    )
  })
}
