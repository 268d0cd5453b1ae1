/** Giving a delegation on Settings, through the account server's consent page, and taking it back; with and without scripts. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { parseDid, parseRecordKey, repoUri } from '../src/atproto/ids.ts'
import { lookAt, twoLooks } from './support/look.ts'
import { atOwnServer } from './support/sign-in.ts'
import type { Tab } from './support/tab.ts'
import { startWorld, type World } from './support/world.ts'

let world: World
before(async () => {
  world = await startWorld({ delegated: false })
  const pull = world.pull('label-variety')
  const record = { repo: world.samples.orchard.uri, subject: pull.uri, state: 'queued', createdAt: new Date().toISOString() }
  await world.people.bob.create('dev.knotless.queue', record)
  await world.settled()
})
after(() => world?.end())

const main = async (tab: Tab) => ((await tab.page.locator('main').textContent()) ?? '').replace(/\s+/g, ' ')
const sheet = (tab: Tab) => tab.page.locator('#delegation')
const state = () => world.server.context.delegations.of(world.people.alice.did).state

/** From Settings to the account's own server. */
async function goToServer(tab: Tab): Promise<void> {
  await tab.visit('/settings')
  await sheet(tab).getByRole('button', { name: 'Give delegation' }).click()
  await tab.page.waitForURL('**/settings/delegation/continue')
  await tab.page.getByRole('button', { name: /^Continue at / }).click()
  await tab.page.waitForURL(new RegExp(`^${world.people.alice.pdsUrl}/oauth/authorize`))
}

test('GWY-1 GWY-7 alice delegates on Settings through her own server’s page, bob may queue; she withdraws, and he may not', async () => {
  const tab = await world.open({ as: 'alice' })
  const bob = await world.open({ as: 'bob' })
  const other = world.pathOf(world.pull('frost-two-degrees'))
  try {
    await tab.visit('/settings')
    assert.match(await main(tab), /Not given This server writes nothing for you yet/)
    assert.match(await main(tab), /1 repository waits for it: alice\.test\/orchard with 1 queued\./)
    await lookAt(tab, 'delegation-never')
    await bob.visit(other)
    assert.match(await main(bob), /This server may not land pulls for alice\.test/)
    assert.equal(await bob.page.getByRole('button', { name: 'Add to merge queue' }).count(), 0)

    await sheet(tab).getByRole('button', { name: 'Give delegation' }).click()
    await tab.page.waitForURL('**/settings/delegation/continue')
    await lookAt(tab, 'delegation-continue')
    await tab.page.getByRole('button', { name: /^Continue at / }).click()
    await atOwnServer(tab.page, world.people.alice)
    assert.equal(tab.page.url(), world.url('/settings#delegation'))
    assert.match(await main(tab), /Given This server may write to your account\. You gave it that right on .*, until .* at the latest/)
    assert.equal(state(), 'given')
    noteSome()
    await tab.visit('/settings')
    await lookAt(tab, 'delegation-given')
    const heights = await tab.page.locator('.audit .state').evaluateAll(all => all.map(each => each.getBoundingClientRect().height))
    assert.match(await main(tab), /runner\.test by push orchard main/)
    assert(heights.length > 0 && heights.every(height => height < 30), `verdicts are on one line each: ${heights}`)

    await bob.page.getByRole('button', { name: 'Add to merge queue' }).click()
    await bob.page
      .getByText(/Queued, 2nd of 2/)
      .first()
      .waitFor()

    const asked: string[] = []
    tab.page.once('dialog', dialog => {
      asked.push(dialog.message())
      void dialog.accept()
    })
    await sheet(tab).getByRole('button', { name: 'Withdraw delegation' }).click()
    await sheet(tab).getByText('You took it back').waitFor()
    assert.deepEqual(asked, [
      'Withdraw the delegation? From then on this server refuses merges, pushes and landings in all your repositories.',
    ])
    assert.equal(state(), 'withdrawn')
    assert.match(await main(tab), /1 repository waits for it: alice\.test\/orchard with 2 queued\./)
    await lookAt(tab, 'delegation-withdrawn', undefined, twoLooks)

    await bob.visit(world.pathOf(world.pull('harvest-pounds')))
    assert.match(await main(bob), /This server may not land pulls for alice\.test/)
    assert.deepEqual(bob.faults(), [])
  } finally {
    await tab.close()
    await bob.close()
  }
})

test('GWY-7 with scripts off a delegation is given, but for the account server’s own page, which needs them, and withdrawn', async () => {
  const tab = await world.open({ as: 'alice', javaScriptEnabled: false })
  try {
    await goToServer(tab)
    const scripted = await world.browser.newContext({ storageState: await tab.context.storageState() })
    try {
      const page = await scripted.newPage()
      await page.goto(tab.page.url())
      await atOwnServer(page, world.people.alice)
      assert.equal(page.url(), world.url('/settings#delegation'))
    } finally {
      await scripted.close()
    }
    await tab.visit('/settings')
    assert.match(await main(tab), /Given This server may write to your account/)
    await sheet(tab).getByRole('button', { name: 'Withdraw delegation' }).click()
    await tab.page.waitForURL('**/settings#delegation')
    assert.match(await main(tab), /Withdrawn You took it back/)
    assert.equal(state(), 'withdrawn')
  } finally {
    await tab.close()
  }
})

test('a denied consent leads back to Settings, which says so', async () => {
  const tab = await world.open({ as: 'alice' })
  try {
    await goToServer(tab)
    await tab.page.locator('input[type=password]').fill(world.people.alice.password)
    await tab.page.getByRole('button', { name: 'Sign in' }).click()
    await tab.page.getByRole('button', { name: 'Deny access' }).click()
    await tab.page.getByRole('alert').waitFor()
    assert.match((await tab.page.getByRole('alert').textContent()) ?? '', /You denied the request, so nothing was delegated\./)
    await lookAt(tab, 'delegation-denied', /422/, twoLooks)
  } finally {
    await tab.close()
  }
})

/** Some lines of the log, long ones among them. */
function noteSome(): void {
  const { audit } = world.server.context
  const owner = parseDid(world.people.alice.did)
  const caller = parseDid(world.people.runner.did)
  const key = parseRecordKey('orchard')
  assert(owner !== undefined && caller !== undefined && key !== undefined)
  const line = { owner, caller, repo: repoUri(owner, key), door: 'push' as const, from: 'a'.repeat(40), to: 'b'.repeat(40) }
  audit.settle(audit.begin([{ ...line, ref: 'refs/heads/main', reason: 'a batch of 2 queued pulls' }]), 'written')
  audit.refused([
    { ...line, ref: `refs/heads/${'long'.repeat(60)}`, reason: 'main takes pulls only through the queue', code: 'queue-only' },
  ])
  audit.begin([{ ...line, ref: 'refs/heads/topic', to: null, reason: `as a collaborator, ${'and more '.repeat(40)}` }])
}
