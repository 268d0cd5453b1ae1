/** Hostile texts and lying records: shown as text or ignored; no page breaks, none grows wider than the screen, nothing runs. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ignoredCounts } from '../src/indexer/read.ts'
import { until } from '../test/support/until.ts'
import { addBranches, deleteAccount, writeMany } from './support/crowd.ts'
import { hostile, hostileBody } from './support/hostile-texts.ts'
import { lookAt, twoLooks } from './support/look.ts'
import { headline, submit, waitForHeadline } from './support/queueing.ts'
import { type About, type Records, recordsIn } from './support/records.ts'
import type { Tab } from './support/tab.ts'
import { plantThicket, topic } from './support/thicket.ts'
import { queuePath, startWorld, type World } from './support/world.ts'

let world: World
let write: Records
let bob: Tab
before(async () => {
  world = await startWorld()
  write = recordsIn(world)
  bob = await world.open({ as: 'bob' })
})
after(() => world?.end())

const now = () => new Date().toISOString()
const pathOf = (pull: Pick<About, 'uri'>, repo = 'orchard') =>
  `/alice.test/${repo}/pulls/${pull.uri.slice('at://'.length).replace('/dev.knotless.pull', '')}`
const ignored = () => new Map(ignoredCounts(world.server.context.database))

/** Goes to a page and finds it whole: nothing of it ran, none of it loads from elsewhere. */
async function whole(path: string, name: string, expected?: RegExp): Promise<void> {
  const response = await bob.visit(path)
  assert.ok(response.status() < 500, `${path} answered ${response.status()}`)
  assert.doesNotMatch(await bob.page.title(), /^(broken|1)$/)
  assert.equal(await bob.page.locator('main :is(script, iframe, style, img:not([src^="/"]), form[action="/logout"])').count(), 0)
  assert.equal(await bob.page.evaluate(`performance.getEntriesByType('resource').filter(each => !each.name.startsWith(origin)).length`), 0)
  await lookAt(bob, name, expected, twoLooks)
}

test('titles and bodies of every hostile kind are text, in lists, on pages and in the queue', async () => {
  const { alice } = world.people
  for (const [at, title] of [hostile.html, hostile.attribute, hostile.marks, hostile.emoji, hostile.zalgo, hostile.template].entries()) {
    await write.queue(alice, await write.pull(alice, 'label-variety', { title, body: at === 0 ? hostileBody : title }), 'queued')
  }
  const long = await write.pull(alice, 'label-variety', { title: hostile.long, body: hostileBody })
  await write.queue(alice, long, 'queued')
  await world.settled()
  await whole(queuePath, 'hostile-queue')
  assert.match((await bob.page.locator('#waiting').textContent()) ?? '', /<script>document\.title='broken'<\/script>/)
  assert.equal(await bob.page.locator('#waiting li[id]').count(), 7)
  const news = await bob.page.locator('#news').boundingBox()
  assert.ok(news !== null && news.height < 120, 'the last change is a few lines, whatever the title')
  await whole('/alice.test/orchard', 'hostile-repository')
  await whole(pathOf(long), 'hostile-pull')
  await whole(`${pathOf(long)}/leave`, 'hostile-leave')
  const first = (await alice.list('dev.knotless.pull')).find(({ value }) => value.title === hostile.html)
  assert.ok(first)
  await whole(pathOf(first), 'hostile-body')
  assert.equal(await bob.page.locator('#merge-box').count(), 1)
})

test('what was queued with a hostile title can be left, and the question before it is plain', async () => {
  const { bob: account } = world.people
  const pull = await write.pull(account, 'csv-semicolons', {
    title: hostile.attribute,
    head: { repo: world.samples.orchard.uri, branch: 'hedge-rows' },
  })
  await world.settled()
  await bob.visit(pathOf(pull))
  await submit(bob.page, 'Add to merge queue')
  await waitForHeadline(bob.page, /^Queued, 8th of 8/)
  bob.page.once('dialog', dialog => {
    assert.match(dialog.message(), /^Leave the queue\? This gives up 8th place/)
    void dialog.accept()
  })
  await submit(bob.page, 'Leave queue')
  await waitForHeadline(bob.page, 'Ready to land')
})

test('checks and ejections with hostile words', async () => {
  const { runner, bob: account } = world.people
  const pull = world.pull('rename-spacing')
  await write.queue(account, pull, 'queued')
  const check = await write.check(pull, hostile.html.slice(0, 255), 'success', { summary: hostileBody.slice(0, 9_000) })
  await write.queue(runner, pull, 'ejected', {
    reason: `${hostile.html} ${'l'.repeat(8_000)}. ${hostile.marks}`,
    kind: 'checks',
    commit: pull.head,
    checks: [{ workflow: hostile.attribute, status: 'failure', check: check.uri }],
  })
  await world.settled()
  await whole(world.pathOf(pull), 'hostile-ejection')
  await whole(queuePath, 'hostile-ejected')
})

test('a repository of hostile branches, files and commit messages', async () => {
  const repo = await plantThicket(world)
  const pull = await world.people.alice.create('dev.knotless.pull', {
    repo,
    branch: 'main',
    head: { repo, branch: topic },
    title: 'A thicket',
    createdAt: now(),
  })
  await world.settled()
  await whole('/alice.test/thicket', 'hostile-thicket')
  await whole(pathOf(pull, 'thicket'), 'hostile-changes')
  assert.equal(await headline(bob.page), 'Ready, and nothing checks main')
  assert.equal(await bob.page.evaluate(`getComputedStyle(document.querySelector('#under code')).unicodeBidi`), 'isolate')
  assert.match((await bob.page.locator('main').textContent()) ?? '', /onerror="document\.title=1">\.txt/)
  await submit(bob.page, 'Add to merge queue')
  await waitForHeadline(bob.page, /^Queued, 1st of 1/)
  await whole('/', 'hostile-home')
})

test('REC-11 a repository with 10,000 collaborators is none', async () => {
  const collaborators = Array.from({ length: 10_000 }, (_, at) => ({
    did: `did:plc:${at
      .toString(32)
      .padStart(24, 'a')
      .replace(/[0189]/g, 'b')}`,
  }))
  const record = { defaultBranch: 'main', collaborators, runners: [], protections: [], createdAt: now() }
  await world.people.mallory.put('dev.knotless.repo', 'crowd', record)
  await world.settled()
  assert.equal(ignored().get('over-bound'), 1)
  await whole('/mallory.test/crowd', 'hostile-crowd', /404/)
  assert.match((await bob.page.locator('main').textContent()) ?? '', /no repository mallory\.test\/crowd/i)
  // A known repository whose record becomes so is none until the record is one again; its queue waits.
  const kept = await world.people.alice.get('dev.knotless.repo', 'orchard')
  await world.people.alice.put('dev.knotless.repo', 'orchard', { ...kept?.value, collaborators })
  await world.settled()
  await whole('/alice.test/orchard', 'hostile-crowded', /404/)
  await world.people.alice.put('dev.knotless.repo', 'orchard', { ...kept?.value })
  await world.settled()
  await bob.visit(queuePath)
  assert.equal(await bob.page.locator('#waiting li[id]').count(), 7)
})

test('REC-3 REC-6 REC-12 lying records count for nothing, are counted by reason, and break no page', async () => {
  const { bob: b, mallory, alice } = world.people
  const before = ignored()
  const repo = world.samples.orchard.uri
  const subject = world.pull('frost-two-degrees').uri
  const queued = { repo, subject, state: 'queued', createdAt: now() }
  await b.create('dev.knotless.queue', queued, 'not-a-tid')
  await b.create('dev.knotless.queue', { ...queued, subject: repo })
  await b.create('dev.knotless.queue', { ...queued, repo: world.samples.almanac.uri })
  await b.create('dev.knotless.queue', { ...queued, state: 'first' })
  await b.create('dev.knotless.queue', { ...queued, repo: 'at://alice.test/dev.knotless.repo/orchard' })
  await b.create('dev.knotless.queue', { ...queued, createdAt: 'yesterday' })
  await b.create('dev.knotless.queue', { state: 'queued' })
  await b.create('dev.knotless.queue', { ...queued, branch: 'ma\u0007in' })
  await b.create('dev.knotless.state', { ...queued, state: 'merged', commit: 'z'.repeat(40) })
  await mallory.create('dev.knotless.pull', {
    repo: 'at://did:plc:nobody/dev.knotless.repo/none',
    branch: 'main',
    head: {},
    title: 'x',
    createdAt: now(),
  })
  await mallory.create('dev.knotless.pull', { repo, branch: 'ma\nin', head: { repo, branch: 'x' }, title: 'x', createdAt: now() })
  await mallory.put('dev.knotless.refs', 'orchard', { repo, refs: [], packs: [], updatedAt: now() })
  await alice.create('dev.knotless.queue', { ...queued, subject: 'at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/dev.knotless.pull/3k2aaaaaaaa22' })
  await world.settled()
  const after = ignored()
  for (const reason of ['key-not-tid', 'bad-subject', 'bad-repository', 'lexicon', 'control-characters', 'bad-commit', 'misfiled'])
    assert.ok((after.get(reason) ?? 0) > (before.get(reason) ?? 0), `counted under ${reason}`)
  await bob.visit(world.pathOf(world.pull('frost-two-degrees')))
  assert.equal(await headline(bob.page), 'Ready to land')
  for (const path of ['/', '/alice.test/orchard', queuePath, '/alice.test/almanac/queue/main'])
    assert.equal((await bob.visit(path)).status(), 200)
})

test('a refs record that lies leaves what was known, and the repository says so', async () => {
  const { carol } = world.people
  const kept = await carol.get('dev.knotless.refs', 'orchard')
  assert.ok(kept)
  const lie = [{ name: 'refs/heads/main', commit: 'd'.repeat(40), generation: 1 }]
  await carol.put('dev.knotless.refs', 'orchard', { ...kept.value, refs: lie })
  await world.settled()
  await whole('/carol.test/orchard', 'hostile-refs')
  assert.match((await bob.page.locator('main').textContent()) ?? '', /git state|could not be read|not there/i)
  await bob.visit(world.pathOf(world.pull('csv-semicolons')))
  assert.match(await headline(bob.page), /branch is gone/)
  await carol.put('dev.knotless.refs', 'orchard', kept.value)
  await world.settled()
  await bob.visit(world.pathOf(world.pull('csv-semicolons')))
  assert.equal(await headline(bob.page), 'Ready to land')
})

test('QUE-2 an author without a handle is a DID, and one that vanishes takes the pull out', async () => {
  world.network.faults.add({ fault: 'refuse', method: 'com.atproto.identity.resolveHandle', account: 'erin.test', status: 400 })
  const erin = await world.network.createAccount('erin.test')
  const pull = await write.pull(erin, 'label-variety', { title: 'By nobody in particular' })
  await write.queue(world.people.bob, pull, 'queued')
  await world.settled()
  await whole(pathOf(pull), 'hostile-nameless')
  assert.match((await bob.page.locator('#under').textContent()) ?? '', new RegExp(erin.did))
  assert.match(await headline(bob.page), /^Queued/)
  await whole(queuePath, 'hostile-nameless-queue')
  world.network.faults.clear()

  await erin.call('com.atproto.server.deactivateAccount', { input: {} })
  await world.settled()
  await waitForHeadline(bob.page.url().includes('/pulls/') ? bob.page : (await go(pathOf(pull))).page, 'Closed without landing')
  assert.match((await bob.page.locator('#merge-box').textContent()) ?? '', /Its record or its author’s account is gone/)
  await bob.visit(queuePath)
  assert.doesNotMatch((await bob.page.locator('#waiting').textContent()) ?? '', /By nobody in particular/)
  assert.deepEqual(bob.faults(), [])
})

test('HON-2 an account that is deleted takes what it wrote with it, and the pages that showed it stay whole', async () => {
  const frank = await world.network.createAccount('frank.test')
  const pull = await write.pull(frank, 'label-variety', { title: 'By somebody who goes' })
  await write.queue(world.people.bob, pull, 'queued')
  await world.settled()
  await bob.visit(queuePath)
  assert.match((await bob.page.locator('#waiting').textContent()) ?? '', /By somebody who goes/)
  await deleteAccount(world, frank)
  await world.settled()
  await whole(queuePath, 'hostile-deleted-queue')
  assert.doesNotMatch((await bob.page.locator('#waiting').textContent()) ?? '', /By somebody who goes/)
  const response = await bob.visit(pathOf(pull))
  assert.ok(response.status() < 500)
  await whole(pathOf(pull), 'hostile-deleted', /status of 404/)
})

test('times are right in time zones of half and of quarter hours', async () => {
  const utc = await world.open({ timezoneId: 'UTC', javaScriptEnabled: false })
  await utc.visit(queuePath)
  const iso = await utc.page.locator('#news time').first().getAttribute('datetime')
  assert.ok(iso)
  for (const [timezoneId, minutes] of [
    ['Asia/Kolkata', 330],
    ['Asia/Kathmandu', 345],
    ['America/St_Johns', -210],
  ] as const) {
    const tab = await world.open({ timezoneId })
    await tab.visit(queuePath)
    const there = new Date(Date.parse(iso) + minutes * 60_000).toISOString().slice(11, 16)
    assert.equal(await tab.page.locator('#news time').first().textContent(), there, timezoneId)
    assert.deepEqual(tab.faults(), [])
    await tab.close()
  }
  await utc.close()
})

test('30 branches with queues are listed, and each has its page', async () => {
  const { alice, bob: account } = world.people
  const repo = world.samples.orchard.uri
  const names = Array.from({ length: 29 }, (_, at) => `release/${at + 1}.0`).concat(`a-branch-${'of-a-very-long-name-'.repeat(10)}`)
  await addBranches(world, names)
  const head = { repo, branch: 'label-variety' }
  const pulls = await writeMany(
    alice,
    'dev.knotless.pull',
    names.map(branch => ({ repo, branch, head, title: `Onto ${branch}`, createdAt: now() })),
  )
  const queued = (subject: string) => ({ repo, subject, state: 'queued', createdAt: now() })
  await writeMany(account, 'dev.knotless.queue', pulls.map(queued))
  await world.settled()
  await whole('/alice.test/orchard', 'hostile-branches')
  await whole('/', 'hostile-branches-home')
  await whole(`/alice.test/orchard/queue/${names[29]}`, 'hostile-branches-queue')
  assert.equal(await bob.page.locator('.pick li').count(), 31)
  await bob.page.getByRole('link', { name: 'release/17.0 · 1' }).click()
  assert.equal(await bob.page.locator('h1').textContent(), 'Queue for release/17.0')
  assert.equal(await bob.page.locator('#waiting li[id]').count(), 1)
})

test('a queue of 1,000 is read page by page', async () => {
  const { carol, bob: account } = world.people
  const repo = world.samples.orchard.uri
  const head = { repo, branch: 'label-variety' }
  const branch = 'release/1.0'
  const titles = ['Plain', hostile.zalgo, hostile.html, hostile.marks, hostile.emoji.slice(0, 60)]
  const record = (_: unknown, at: number) => ({ repo, branch, head, title: `${at} ${titles[at % titles.length]}`, createdAt: now() })
  const pulls = await writeMany(carol, 'dev.knotless.pull', Array.from({ length: 999 }, record))
  const queued = (subject: string) => ({ repo, subject, state: 'queued', createdAt: now() })
  await writeMany(account, 'dev.knotless.queue', pulls.map(queued))
  const path = `/alice.test/orchard/queue/${branch}`
  // Whether each of them still merges is found out long after all of them are listed.
  const listed = async () => /1 to 50 of 1,000/.test(await (await fetch(world.url(path))).text())
  await until(listed, { timeout: 120_000, what: 'a queue of 1,000 to be listed' })
  await whole(path, 'hostile-thousand')
  assert.equal(await bob.page.locator('#waiting li[id]').count(), 50)
  assert.match((await bob.page.locator('#waiting').textContent()) ?? '', /1 to 50 of 1,000/)
  await bob.page.getByRole('link', { name: 'Later' }).click()
  await bob.page.getByText('51 to 100 of 1,000').waitFor()
  await bob.visit(`${path}?page=20`)
  assert.match((await bob.page.locator('#waiting li[id] .pos').last().textContent()) ?? '', /1,?000th/)
  await bob.visit(`${path}?q=998`)
  assert.equal(await bob.page.locator('#waiting li[id]').count(), 1)
  const last = pulls.at(-1) ?? ''
  await bob.visit(pathOf({ uri: last }))
  assert.match(await headline(bob.page), /^Queued, 1,?000th of 1,?000/)
  assert.deepEqual(bob.faults(), [])
})

async function go(path: string): Promise<Tab> {
  await bob.visit(path)
  return bob
}
