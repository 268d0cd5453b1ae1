/** What a page must be whatever it shows: no wider than the screen, clean to axe, quiet in the console. */
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import type { Tab } from './tab.ts'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
/** Where pictures are kept. */
export const shots = join(import.meta.dirname, '..', 'shots')

/** What reaches over the right edge: of the screen, or of a box that cuts off what is over. Boxes that scroll sideways are meant to. */
export function tooWide(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const root = document.documentElement
    const cut = [...document.querySelectorAll('main :is(.file, .box, .sheet, .batch, .queue > li):not(.scroll)')]
    return [root, ...cut].filter(each => each.scrollWidth > each.clientWidth + 1).map(each => each.outerHTML.slice(0, 160))
  })()`)
}

/** What axe has against a page, or the part of it that `within` selects, one line each. */
export async function axeSays(page: Page, within?: string): Promise<string[]> {
  if (!(await page.evaluate<boolean>('typeof axe === "object"'))) await page.evaluate(axe)
  const { violations } = await page.evaluate<AxeResults>(
    `axe.run(${within === undefined ? 'document' : JSON.stringify(within)}, { resultTypes: ["violations"] })`,
  )
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`)
}

/** The four looks of a page. */
export const looks = [
  { width: 360, scheme: 'light' },
  { width: 360, scheme: 'dark' },
  { width: 1280, scheme: 'light' },
  { width: 1280, scheme: 'dark' },
] as const

/** Two looks that differ in both. */
export const twoLooks = [looks[0], looks[3]] as const

/**
 * Looks at the page that a tab shows, in all four looks unless given fewer, and keeps a picture of each. `expected` are console errors that belong
 * to the page, such as the browser's own line for a 404.
 */
export async function lookAt(tab: Tab, name: string, expected?: RegExp, which: readonly (typeof looks)[number][] = looks): Promise<void> {
  mkdirSync(shots, { recursive: true })
  const { page } = tab
  for (const { width, scheme } of which) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme: scheme })
    await page.screenshot({ path: join(shots, `${name}-${width}-${scheme}.png`), fullPage: true })
    assert.deepEqual(await tooWide(page), [], `${name} is too wide at ${width}`)
    assert.deepEqual(await axeSays(page), [], `axe on ${name} at ${width}, ${scheme}`)
  }
  assert.deepEqual(
    tab.faults().filter(fault => expected === undefined || !expected.test(fault)),
    [],
    name,
  )
}
