import assert from 'node:assert/strict'
import type { Browser, BrowserContext, BrowserContextOptions, Page, Response } from 'playwright-core'

/** A tab in a browser of its own, that remembers what went wrong in it. */
export interface Tab {
  readonly page: Page
  readonly context: BrowserContext
  /** Goes to a path of the server and gives the answer. */
  visit(path: string): Promise<Response>
  /** Console errors, script errors and breaches of the content security policy so far; taken, they are forgotten. */
  faults(): string[]
  /** Another tab of the same browser. */
  beside(): Promise<Tab>
  close(): Promise<void>
}

/** Opens a tab with collectors on it. */
export async function openTab(browser: Browser, base: string, options: BrowserContextOptions = {}): Promise<Tab> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options })
  return tabIn(context, base)
}

async function tabIn(context: BrowserContext, base: string): Promise<Tab> {
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  const faults: string[] = []
  page.on('pageerror', error => faults.push(`script error: ${error.message}`))
  page.on('console', message => {
    if (message.type() === 'error') faults.push(`console: ${message.text()} ${message.location().url}`)
  })
  await page.exposeFunction('breachOfPolicy', (breach: string) => faults.push(`content security policy: ${breach}`))
  // Set from outside the page, so that its own policy does not concern it.
  await page.addInitScript(`addEventListener('securitypolicyviolation', event => {
    breachOfPolicy(event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample)
  })`)
  return {
    page,
    context,
    async visit(path) {
      const response = await page.goto(new URL(path, base).href)
      assert.ok(response !== null)
      return response
    },
    faults: () => faults.splice(0),
    beside: () => tabIn(context, base),
    close: () => context.close(),
  }
}
