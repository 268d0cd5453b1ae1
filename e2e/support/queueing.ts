/** What a person does with a merge box and a queue page, and what is then in whose account. */
import type { Page } from 'playwright-core'
import type { DevAccount, StoredRecord } from '../../src/devnet/account.ts'
import { until } from '../../test/support/until.ts'

/** What the merge box says first. */
export async function headline(page: Page): Promise<string> {
  return ((await page.locator('#merge-box-t').textContent()) ?? '').trim()
}

export async function waitForHeadline(page: Page, wanted: string | RegExp): Promise<void> {
  let last = ''
  const fits = async () => {
    last = await headline(page)
    return typeof wanted === 'string' ? last === wanted : wanted.test(last)
  }
  await until(fits, { timeout: 20_000, what: `the box to say ${wanted}` }).catch(error => {
    throw new Error(`${error.message}; it says “${last}”`)
  })
}

/** Clicks a button of the merge box. */
export function submit(page: Page, name: string): Promise<void> {
  return page.locator('#merge-box').getByRole('button', { name, exact: true }).click()
}

/** Clicks a button of the merge box, and waits for the answer that it gets. */
export async function submitted(page: Page, name: string): Promise<number> {
  const [response] = await Promise.all([page.waitForResponse(answer => answer.request().method() === 'POST'), submit(page, name)])
  await response.finished()
  await page.locator('#merge-box:not(.htmx-request)').waitFor()
  return response.status()
}

/** Says yes to the next question. */
export function accept(page: Page): void {
  page.once('dialog', dialog => void dialog.accept())
}

/** What waits on the queue page that is shown, in order. */
export function placesOn(page: Page): Promise<{ place: string; title: string }[]> {
  return page.evaluate(`[...document.querySelectorAll('#waiting li[id]')].map(row => ({
    place: row.querySelector('.pos').textContent.replace('Position', '').trim(),
    title: row.querySelector('h3').textContent.trim(),
  }))`)
}

/** The queue records that an account holds, oldest first. */
export function queueRecords(account: DevAccount): Promise<StoredRecord[]> {
  return account.list('dev.knotless.queue')
}

/** What the merge box refuses with. */
export async function alertIn(page: Page): Promise<string> {
  return ((await page.locator('#merge-box [role=alert]').textContent()) ?? '').replace(/\s+/g, ' ').trim()
}
