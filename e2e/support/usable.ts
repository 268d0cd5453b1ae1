/** What a page must be for people who use the keyboard, want no motion, or have their own colours. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { shots, tooWide } from './look.ts'
import type { Tab } from './tab.ts'

/** Everything that the keyboard can reach and that shows no ring of 2 px at 3:1 then, or shows it where it is cut off. */
export function focusFaults(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const rgb = color => (color.match(/[\\d.]+/g) ?? []).map(Number)
    const light = color => {
      const [r, g, b] = rgb(color).map(part => part / 255).map(part => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
      return 0.2126 * r + 0.7152 * g + 0.0722 * b
    }
    const contrast = (one, other) => {
      const [most, least] = [light(one), light(other)].sort((a, b) => b - a)
      return (most + 0.05) / (least + 0.05)
    }
    const ground = element => {
      for (let at = element.parentElement; at !== null; at = at.parentElement) {
        const { backgroundColor } = getComputedStyle(at)
        if (backgroundColor.startsWith('rgb(')) return backgroundColor
      }
      return 'rgb(255, 255, 255)'
    }
    /** The sides of the ring that no box around it cuts off. */
    const sides = (element, out) => {
      const { left, right, top, bottom } = element.getBoundingClientRect()
      const ring = { left: left - out, right: right + out, top: top - out, bottom: bottom + out }
      const seen = new Set(['left', 'right', 'top', 'bottom'])
      for (let at = element.parentElement; at !== null && at !== document.body; at = at.parentElement) {
        const { overflowX, overflowY } = getComputedStyle(at)
        if (overflowX === 'visible' && overflowY === 'visible') continue
        const box = at.getBoundingClientRect()
        for (const side of seen) {
          const isCut = side === 'left' || side === 'top' ? ring[side] < box[side] - 0.5 : ring[side] > box[side] + 0.5
          if (isCut) seen.delete(side)
        }
      }
      return seen.size
    }
    const what = 'a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex="0"]'
    const faults = []
    for (const element of document.querySelectorAll(what)) {
      if (!element.checkVisibility({ visibilityProperty: true }) || element.disabled) continue
      element.focus({ focusVisible: true, preventScroll: true })
      const { outlineStyle, outlineWidth, outlineColor, outlineOffset } = getComputedStyle(element)
      const said = element.outerHTML.slice(0, 120)
      const width = parseFloat(outlineWidth)
      if (document.activeElement !== element) faults.push('takes no focus: ' + said)
      else if (outlineStyle === 'none' || width < 2) faults.push('shows no ring: ' + said)
      else if (contrast(outlineColor, ground(element)) < 3) faults.push('shows a faint ring, ' + outlineColor + ' on ' + ground(element) + ': ' + said)
      else if (getComputedStyle(element).display !== 'inline' && sides(element, width + parseFloat(outlineOffset)) < 3) faults.push('has its ring cut off: ' + said)
    }
    document.activeElement?.blur()
    return faults
  })()`)
}

/** What moves, or would on the next change of state, though the reader wants no motion. */
function motions(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const longest = list => Math.max(0, ...list.split(',').map(parseFloat))
    return [...document.querySelectorAll('body, body *')]
      .filter(each => {
        const { animationName, animationDuration, transitionDuration, scrollBehavior } = getComputedStyle(each)
        return (animationName !== 'none' && longest(animationDuration) > 0.01) || longest(transitionDuration) > 0.01 || scrollBehavior === 'smooth'
      })
      .map(each => each.outerHTML.slice(0, 120))
  })()`)
}

/** What says by colour alone which one it is: in the reader's own colours it could not be told from the ones beside it. */
function lostInForcedColours(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const look = element => {
      const { fontWeight, borderTopColor, borderBottomColor, borderBottomWidth, borderBottomStyle, color } = getComputedStyle(element)
      return [fontWeight, borderTopColor, borderBottomColor, borderBottomWidth, borderBottomStyle, color].join()
    }
    const lost = [...document.querySelectorAll('.tabs [aria-current], .pick [aria-current]')].filter(each => {
      const other = each.closest('ul').querySelector('a:not([aria-current])')
      return other !== null && look(other) === look(each)
    })
    const unframed = [...document.querySelectorAll('main :is(.state:not(.bare), button, [role=button])')].filter(
      each => each.checkVisibility() && parseFloat(getComputedStyle(each).borderTopWidth) < 1,
    )
    return [...lost, ...unframed].map(each => each.outerHTML.slice(0, 120))
  })()`)
}

/** Uses the page that a tab shows by keyboard, without motion and in the reader's own colours, and on the narrowest screen. */
export async function useIt(tab: Tab, name: string): Promise<void> {
  const { page } = tab
  await page.setViewportSize({ width: 320, height: 800 })
  assert.deepEqual(await tooWide(page), [], `${name} is too wide at 320`)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    assert.deepEqual(await focusFaults(page), [], `focus on ${name}, ${colorScheme}`)
  }
  assert.deepEqual(await motions(page), [], `motion on ${name}`)
  await page.setViewportSize({ width: 1280, height: 900 })
  await page.emulateMedia({ forcedColors: 'active' })
  await page.screenshot({ path: join(shots, `${name}-1280-forced.png`), fullPage: true })
  assert.deepEqual(await lostInForcedColours(page), [], `${name} in the reader’s own colours`)
  await page.emulateMedia({ forcedColors: 'none' })
}
