/** The way in and out in a real browser, with and without scripts, through the account server's own page. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Browser } from 'playwright-core'
import type { DevAccount } from '../src/devnet/account.ts'
import { type Network, startNetwork } from '../src/devnet/network.ts'
import { type Served, serve } from '../test/server/serve.ts'
import { lookAt } from './support/look.ts'
import { signIn, throughTheDoor } from './support/sign-in.ts'
import { openTab, type Tab } from './support/tab.ts'
import { launch } from './support/world.ts'

let network: Network
let server: Served
let browser: Browser
let alice: DevAccount
before(async () => {
  network = await startNetwork()
  alice = await network.createAccount('alice.test')
  server = await serve(network)
  browser = await launch()
})
after(async () => {
  await browser?.close()
  await server?.end()
  await network?.stop()
})

function open(options: Parameters<typeof openTab>[2] = {}): Promise<Tab> {
  return openTab(browser, server.url, options)
}

const text = async (tab: Tab) => (await tab.page.locator('main').textContent()) ?? ''

/** Logs out by the menu, and finds that the account's page is closed. */
async function logOut(tab: Tab): Promise<void> {
  await tab.page.locator('details.menu summary').click()
  await tab.page.getByRole('button', { name: 'Log out' }).click()
  await tab.page.waitForURL(`${server.url}/`)
  await tab.visit('/settings')
  assert.equal(new URL(tab.page.url()).pathname, '/login')
}

test('in, back to the page one wanted, and out again', async () => {
  const tab = await open()
  try {
    await tab.visit('/settings')
    assert.equal(new URL(tab.page.url()).pathname, '/login', 'the page needs a log-in')
    assert.match(await text(tab), /Afterwards you are back at your settings/)
    await throughTheDoor(tab.page, alice)
    assert.equal(tab.page.url(), `${server.url}/settings`)
    assert.match(await text(tab), /this one/)
    await logOut(tab)
    assert.deepEqual(tab.faults(), [], 'no script error, no breach of the policy')
  } finally {
    await tab.close()
  }
})

test('with scripts off too, as far as the account server’s own page, which needs them', async () => {
  const tab = await open({ javaScriptEnabled: false })
  try {
    await tab.visit('/login')
    await tab.page.getByLabel('Your handle').fill('alice.test')
    await tab.page.getByRole('button', { name: 'Continue' }).click()
    await tab.page.getByRole('button', { name: /^Continue at / }).click()
    await tab.page.waitForURL(new RegExp(`^${network.pdsUrl}/oauth/authorize`))
  } finally {
    await tab.close()
  }
  const inside = await open({ javaScriptEnabled: false, storageState: await signIn(browser, server.url, alice) })
  try {
    await inside.visit('/settings')
    assert.match(await text(inside), /this one/)
    await logOut(inside)
  } finally {
    await inside.close()
  }
})

test('one session ends another, which is told so when it comes back', async () => {
  const [one, two] = [await open(), await open()]
  try {
    for (const tab of [one, two]) {
      await tab.visit('/login?next=/settings')
      await throughTheDoor(tab.page, alice)
    }
    await one.page.reload()
    const other = one.page.locator('section[aria-labelledby="h-sess"] li', { hasNotText: 'this one' })
    await other.getByRole('button', { name: /^End/ }).click()
    await one.page.waitForFunction('document.querySelectorAll("[aria-labelledby=h-sess] li").length === 1')
    await two.page.reload()
    assert.match((await two.page.getByRole('alert').textContent()) ?? '', /Your log-in has ended/)
    await throughTheDoor(two.page, alice)
    assert.equal(two.page.url(), `${server.url}/settings`, 'back at the same page')
  } finally {
    await one.close()
    await two.close()
  }
})

test('denying at one’s own server leads back to the form with what was typed', async () => {
  const tab = await open()
  try {
    await tab.visit('/login?next=/settings')
    await tab.page.getByLabel('Your handle').fill('alice.test')
    await tab.page.getByRole('button', { name: 'Continue' }).click()
    await tab.page.getByRole('button', { name: /^Continue at / }).click()
    await tab.page.locator('input[type=password]').fill(alice.password)
    await tab.page.getByRole('button', { name: 'Sign in' }).click()
    await tab.page.getByRole('button', { name: 'Deny access' }).click()
    await tab.page.getByRole('alert').waitFor()
    assert.match((await tab.page.getByRole('alert').textContent()) ?? '', /You denied the request/)
    assert.equal(await tab.page.getByLabel('Your handle').inputValue(), 'alice.test')
    await lookAt(tab, 'login-denied', /422/)
  } finally {
    await tab.close()
  }
})

test('the door, its second step, and the pages of what went wrong look as they should', async () => {
  const tab = await open()
  try {
    await tab.visit('/login?next=/alice.test/orchard/queue/main')
    await lookAt(tab, 'login')
    await tab.page.getByLabel('Your handle').fill('bob.tset')
    await tab.page.getByRole('button', { name: 'Continue' }).click()
    await tab.page.getByRole('alert').waitFor()
    assert.match((await tab.page.getByRole('alert').textContent()) ?? '', /There is no account called bob\.tset/)
    await lookAt(tab, 'login-nobody', /422/)
    await tab.page.getByLabel('Your handle').fill('alice.test')
    await tab.page.getByRole('button', { name: 'Continue' }).click()
    await tab.page.getByRole('button', { name: /^Continue at / }).waitFor()
    await lookAt(tab, 'login-continue')
    await tab.visit('/no/such/page')
    await lookAt(tab, 'not-found', /404/)
  } finally {
    await tab.close()
  }
})
