/** Repository settings in a real browser: an owner protects a branch, names people and gives the repository away, with and without scripts. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { giveDelegation } from '../src/devnet/give-delegation.ts'
import type { Person } from '../src/devnet/samples/people.ts'
import { until } from '../test/support/until.ts'
import { lookAt, twoLooks } from './support/look.ts'
import { atOwnServer } from './support/sign-in.ts'
import type { Tab } from './support/tab.ts'
import { queuePath, startWorld, type World } from './support/world.ts'

const path = '/alice.test/orchard/settings'
let world: World
before(async () => {
  world = await startWorld()
})
after(() => world?.end())

const text = async (tab: Tab) => ((await tab.page.locator('main').textContent()) ?? '').replace(/\s+/g, ' ')
const record = async (person: Person = 'alice') => (await world.people[person].get('dev.knotless.repo', 'orchard'))?.value ?? {}

/** Goes on at one's own server, from a page that asks for the right to write, and back. */
async function grant(tab: Tab, person: Person): Promise<void> {
  await tab.page.getByRole('button', { name: /^Continue at / }).click()
  await atOwnServer(tab.page, world.people[person])
}

/** Says yes to the next question of the browser, and gives what it asked. */
function agree(tab: Tab): Promise<string> {
  return new Promise(resolve =>
    tab.page.once('dialog', dialog => {
      resolve(dialog.message())
      void dialog.accept()
    }),
  )
}

const section = (tab: Tab, name: string) => tab.page.getByRole('region', { name, exact: true })

test('alice makes main queue-only: asked for the right on the way, what she ticked is kept, and the repository says so', async () => {
  const tab = await world.open({ as: 'alice' })
  try {
    await tab.visit('/alice.test/orchard')
    await tab.page.getByRole('navigation', { name: 'alice.test/orchard' }).getByRole('link', { name: 'Settings' }).click()
    await tab.page.waitForURL(world.url(path))
    assert.match(await text(tab), /To change anything here, let this server write your dev\.knotless\.repo records/)
    await lookAt(tab, 'repo-settings-right')
    const main = section(tab, 'Protection').getByRole('group', { name: 'main', exact: true })
    await main.getByLabel('Takes pulls only through the queue').check()
    await section(tab, 'Protection').getByRole('button', { name: 'Save protection' }).click()
    await tab.page.waitForURL(/draft=/)
    assert(await main.getByLabel('Takes pulls only through the queue').isChecked(), 'what was ticked is ticked still')
    await grant(tab, 'alice')
    assert.match(await text(tab), /You can write now What you sent is kept, and nothing is written yet: “Save protection”\./)
    assert.deepEqual((await record()).protections, [])
    await lookAt(tab, 'repo-settings-kept', undefined, twoLooks)
    await section(tab, 'You can write now').getByRole('button', { name: 'Save protection' }).click()
    await tab.page.waitForURL(/done=protection/)
    assert.match((await section(tab, 'Protection').getByRole('status').textContent()) ?? '', /Saved\./)
    assert.deepEqual((await record()).protections, [{ branch: 'main', queue: true }])
    await tab.visit('/alice.test/orchard')
    assert.match(await text(tab), /takes pulls only through the queue/)
    assert.deepEqual(tab.faults(), [])
  } finally {
    await tab.close()
  }
})

test('without scripts: alice takes the rule off and puts it on again, adds carol, and a name that nobody has comes back', async () => {
  const tab = await world.open({ as: 'alice', javaScriptEnabled: false })
  try {
    await tab.visit(path)
    const queueOnly = section(tab, 'Protection').getByRole('group', { name: 'main', exact: true }).getByLabel('Takes pulls only')
    await queueOnly.uncheck()
    await section(tab, 'Protection').getByRole('button', { name: 'Save protection' }).click()
    assert.deepEqual((await record()).protections, [])
    await queueOnly.check()
    await section(tab, 'Protection').getByRole('button', { name: 'Save protection' }).click()
    assert.deepEqual((await record()).protections, [{ branch: 'main', queue: true }])

    const people = section(tab, 'Collaborators')
    await people.getByLabel('Add a collaborator').fill('karol.test')
    await people.getByRole('button', { name: 'Add collaborator' }).click()
    assert.match((await people.getByRole('alert').textContent()) ?? '', /Not added: Nobody found\. There is no account called karol\.test/)
    assert.equal(await people.getByLabel('Add a collaborator').inputValue(), 'karol.test')
    await people.getByLabel('Add a collaborator').fill('carol.test')
    await people.getByRole('button', { name: 'Add collaborator' }).click()
    assert.deepEqual((await record()).collaborators, [{ did: world.people.bob.did }, { did: world.people.carol.did }])
    assert.match((await people.textContent()) ?? '', /carol\.test/)
  } finally {
    await tab.close()
  }
})

test('who watches the queue sees it change when its runner is taken out and named again', async () => {
  const bob = await world.open({ as: 'bob' })
  const alice = await world.open({ as: 'alice' })
  try {
    await bob.visit(queuePath)
    assert.doesNotMatch(await text(bob), /merged by hand/)
    await alice.visit(path)
    const asked = agree(alice)
    await section(alice, 'Runners')
      .getByRole('button', { name: /^Remove ?: runner/ })
      .click()
    assert.match(await asked, /^Remove runner\.test\? .* No runner is left then: pulls are merged by hand\.$/)
    await alice.page.waitForURL(/done=remove/)
    assert.match(await text(alice), /main takes pulls only through the queue, and no runner is named that would land one/)
    await until(async () => /merged by hand/.test(await text(bob)), { what: 'the watched page to change' })
    await section(alice, 'Runners').getByLabel('Add a runner').fill('runner.test')
    await section(alice, 'Runners').getByLabel('Add a runner').press('Enter')
    await alice.page.waitForURL(/done=add/)
    await until(async () => !/merged by hand/.test(await text(bob)), { what: 'the watched page to change back' })
    assert.deepEqual([...bob.faults(), ...alice.faults()], [])
  } finally {
    await bob.close()
    await alice.close()
  }
})

test('by keyboard alone a runner is named, moved up and taken out', async () => {
  const tab = await world.open({ as: 'alice' })
  try {
    await tab.visit(path)
    const runners = section(tab, 'Runners')
    await runners.getByLabel('Add a runner').focus()
    await tab.page.keyboard.type('mallory.test')
    await tab.page.keyboard.press('Tab')
    await tab.page.keyboard.press('Enter')
    await tab.page.waitForURL(/done=add/)
    await runners.getByRole('button', { name: /^Move up ?: mallory\.test$/ }).focus()
    await tab.page.keyboard.press('Enter')
    await tab.page.waitForURL(/done=move/)
    const { did } = world.people.mallory
    assert.deepEqual((await record()).runners, [{ did }, { did: world.people.runner.did }])
    void agree(tab)
    await runners.getByRole('button', { name: /^Remove ?: mallory\.test$/ }).press('Enter')
    await tab.page.waitForURL(/done=remove/)
    assert.deepEqual((await record()).runners, [{ did: world.people.runner.did }])
  } finally {
    await tab.close()
  }
})

test('the page in all looks: full, with a refusal, the question before an account is made void, and to others', async () => {
  const tab = await world.open({ as: 'alice' })
  const bob = await world.open({ as: 'bob' })
  try {
    await tab.visit(path)
    void agree(tab)
    await section(tab, 'Collaborators')
      .getByRole('button', { name: /^Remove ?: carol/ })
      .click()
    await tab.page.waitForURL(/done=remove/)
    await lookAt(tab, 'repo-settings')
    await section(tab, 'Runners').getByLabel('Add a runner').fill('runer.test')
    await section(tab, 'Runners').getByRole('button', { name: 'Add runner' }).click()
    await tab.page.getByRole('alert').waitFor()
    await lookAt(tab, 'repo-settings-refused', /status of 422/)
    await tab.visit(path)
    await tab.page.getByRole('button', { name: /^Make void ?: carol\.test$/ }).click()
    await tab.page.waitForURL(/\/settings\/void/)
    await lookAt(tab, 'repo-settings-void')
    await bob.visit(path)
    assert.match(await text(bob), /These settings are alice\.test’s: the owner alone sees and changes them/)
    await lookAt(bob, 'repo-settings-not-owner', /status of 403/, twoLooks)
  } finally {
    await tab.close()
    await bob.close()
  }
})

test('alice offers the orchard to bob, and bob accepts it: its pulls and branches go on at the new address', async () => {
  const alice = await world.open({ as: 'alice' })
  const bob = await world.open({ as: 'bob' })
  try {
    await world.people.bob.remove('dev.knotless.repo', 'orchard').catch(() => undefined)
    await alice.visit(path)
    await section(alice, 'Transfer').getByLabel('New owner').fill('bob.test')
    await section(alice, 'Transfer').getByRole('button', { name: 'Offer it' }).click()
    await alice.page.waitForURL(/done=offer/)
    assert.match((await section(alice, 'Transfer').textContent()) ?? '', /Offered to bob\.test\/orchard/)
    await lookAt(alice, 'repo-settings-offered', undefined, twoLooks)

    await bob.visit(path)
    assert.match(await text(bob), /alice\.test offers you orchard/)
    await lookAt(bob, 'repo-settings-accept-right', undefined, twoLooks)
    await grant(bob, 'bob')
    await bob.page.getByRole('button', { name: 'Accept' }).click()
    assert.match((await bob.page.getByRole('alert').textContent()) ?? '', /this server may not yet write git states to your account/)
    await lookAt(bob, 'repo-settings-accept', /status of 422/)
    await giveDelegation(world.server.url, world.people.bob)
    await bob.page.getByRole('button', { name: 'Accept' }).click()
    await bob.page.waitForURL(world.url('/bob.test/orchard/settings?done=accept&at=transfer'))
    assert.match(await text(bob), /Accepted: the repository is yours now/)
    assert.equal((await record('bob')).transferredFrom, world.samples.orchard.uri)
    await bob.visit('/bob.test/orchard')
    assert.match(await text(bob), /Label trees by variety as well as by number/)
    await alice.visit(path)
    assert.match(await text(alice), /These settings are bob\.test’s/)
  } finally {
    await alice.close()
    await bob.close()
  }
})
