import assert from 'node:assert/strict'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { DevAccount } from '../../src/devnet/account.ts'

/** What a browser holds of its sessions. */
export type CookieJar = Awaited<ReturnType<BrowserContext['storageState']>>

/** Signs in in a browser of its own, as a person does, and gives the server's cookies. */
export async function signIn(browser: Browser, url: string, account: DevAccount): Promise<CookieJar> {
  const context = await browser.newContext()
  try {
    const page = await context.newPage()
    await page.goto(`${url}/login`)
    await throughTheDoor(page, account)
    await page.waitForURL(`${url}/`)
    const { hostname } = new URL(url)
    const { cookies } = await context.storageState()
    const ours = cookies.filter(cookie => cookie.domain === hostname)
    assert.ok(ours.some(cookie => cookie.httpOnly))
    return { cookies: ours, origins: [] }
  } finally {
    await context.close()
  }
}

/** From the server's log-in form over the account server's own page and back. The page is left where that leads. */
export async function throughTheDoor(page: Page, account: DevAccount): Promise<void> {
  await page.getByLabel('Your handle').fill(account.handle)
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: /^Continue at / }).click()
  await atOwnServer(page, account)
}

/** The account server's own page: password, Sign in, Authorize. */
export async function atOwnServer(page: Page, account: DevAccount): Promise<void> {
  await page.waitForURL(new RegExp(`^${account.pdsUrl}/oauth/authorize`))
  await page.locator('input[type=password]').fill(account.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Authorize' }).click()
  await page.waitForURL(url => !url.href.startsWith(account.pdsUrl) && url.pathname !== '/oauth/callback')
}
