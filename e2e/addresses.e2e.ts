/**
 * Addresses that lead nowhere, parameters that are wrong, requests that make no sense, sessions that end, steps back: each is told what is wrong or
 * what is so now, none breaks the server.
 */
import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { z } from 'zod'
import { hostile } from './support/hostile-texts.ts'
import { oddRequests, rawAnswer } from './support/odd-requests.ts'
import { submit, waitForHeadline } from './support/queueing.ts'
import { throughTheDoor } from './support/sign-in.ts'
import type { Tab } from './support/tab.ts'
import { queuePath, startWorld, type World } from './support/world.ts'

let world: World
let visitor: Tab
before(async () => {
  world = await startWorld()
  visitor = await world.open()
})
after(() => world?.end())

const text = async () => ((await visitor.page.locator('main').textContent()) ?? '').replace(/\s+/g, ' ')

test('an unknown repository, pull or branch is a 404 page that says what was looked for', async () => {
  for (const [path, says] of [
    ['/alice.test/pear', /There is no repository alice\.test\/pear here/],
    ['/nobody.test/orchard', /There is no repository nobody\.test\/orchard here/],
    ['/did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/orchard/queue/main', /There is no repository did:plc:a+\/orchard here/],
    ['/alice.test/pear/queue', /There is no repository alice\.test\/pear here/],
    ['/alice.test/orchard/queue/pear', /alice\.test\/orchard has no branch pear\. Pick one of: main/],
    ['/alice.test/orchard/queue/pear/events', /alice\.test\/orchard has no branch pear\/events/],
    ['/alice.test/orchard/pulls/bob.test/3k2aaaaaaaa22', /There is no pull 3k2aaaaaaaa22 by bob\.test here/],
    ['/alice.test/orchard/pulls/nobody.test/x/leave', /There is no pull x by nobody\.test here/],
    [world.pathOf(world.pull('label-variety')).replace('/orchard/', '/almanac/'), /There is no pull \w+ by alice\.test here/],
    [`/alice.test/${encodeURIComponent(hostile.html)}`, /There is no repository alice\.test\/<script>document\.title/],
    [`/alice.test/orchard/batches/${'e'.repeat(40)}`, /no batch/i],
    ['/alice.test/orchard/checks/runner.test/3k2aaaaaaaa22', /There is no such run by runner\.test here/],
    ['/alice.test/pear/stats', /There is no repository alice\.test\/pear here/],
    ['/alice.test/orchard/atom/pear', /has no branch pear/],
    ['/at/did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/dev.knotless.pull/3k2aaaaaaaa22', /no record/i],
    ['/alice.test/orchard/frob', /There is no page at this address/],
    ['/%00/%0a', /There is no repository/],
  ] as const) {
    const response = await visitor.visit(path)
    assert.equal(response.status(), 404, path)
    assert.match(await text(), says)
  }
  visitor.faults()
})

test('a branch that no pull is onto has a queue, with nothing in it', async () => {
  const response = await visitor.visit('/alice.test/orchard/queue/label-variety')
  assert.equal(response.status(), 200)
  assert.match(await text(), /Nothing is queued on label-variety/)
  assert.deepEqual(visitor.faults(), [])
})

test('parameters that are wrong are a 400 page that names them', async () => {
  const pull = world.pathOf(world.pull('label-variety'))
  for (const [path, name] of [
    [`${queuePath}?page=0`, 'page'],
    [`${queuePath}?page=one`, 'page'],
    [`${queuePath}?every=1`, 'every'],
    [`${queuePath}?have=${'x'.repeat(1_001)}`, 'have'],
    [`${queuePath}?seen=-1`, 'seen'],
    [`${queuePath}?q=${'x'.repeat(300)}`, 'q'],
    [`${pull}?have=${'x'.repeat(1_001)}`, 'have'],
    ['/alice.test/orchard?state=lost', 'state'],
    [`/?cursor=${'x'.repeat(3_000)}`, 'cursor'],
  ] as const) {
    const response = await visitor.visit(path)
    assert.equal(response.status(), 400, path)
    assert.match(await text(), new RegExp(`Not understood: ${name}`), path)
  }
  visitor.faults()
})

const refusal = z.object({ error: z.string(), message: z.string().min(5) })

test('an address that cannot be decoded is a 400 page as well', async () => {
  const response = await visitor.visit('/alice.test/%ff/%')
  assert.equal(response.status(), 400)
  assert.match(response.headers()['content-security-policy'] ?? '', /default-src 'none'/)
  assert.match(await text(), /has parts that cannot be read/)
  visitor.faults()
})

test('XRPC with wrong or missing parameters is the named error, 400', async () => {
  const { uri } = world.samples.orchard
  for (const [method, params, error] of [
    ['getMergeStatus', {}, 'InvalidRequest'],
    ['getMergeStatus', { pull: 'at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/dev.knotless.pull/3k2aaaaaaaa22' }, 'PullNotFound'],
    ['getMergeStatus', { pull: uri }, 'PullNotFound'],
    ['getMergeStatus', { pull: 'pull' }, 'InvalidRequest'],
    ['getQueue', { branch: 'main' }, 'InvalidRequest'],
    ['getQueue', { repo: `${uri}x`, branch: 'main' }, 'RepoNotFound'],
    ['getQueue', { repo: uri, branch: 'pear' }, 'BranchNotFound'],
    ['getQueue', { repo: uri, limit: '0' }, 'InvalidRequest'],
    ['listPulls', { repo: uri, author: 'alice.test' }, 'InvalidRequest'],
    ['listChecks', { repo: uri, commit: 'abc' }, 'InvalidRequest'],
  ] as const) {
    const answer = await fetch(world.url(`/xrpc/dev.knotless.${method}?${new URLSearchParams({ ...params })}`))
    assert.equal(answer.status, 400, `${method} ${JSON.stringify(params)}`)
    assert.equal(answer.headers.get('access-control-allow-origin'), '*')
    assert.equal(refusal.parse(await answer.json()).error, error)
  }
})

test('no request whatever is answered by a fault of ours, or by anything of our insides', async () => {
  await fc.assert(
    fc.asyncProperty(oddRequests(world), async raw => {
      const { status, text: said } = await rawAnswer(world, raw)
      const isXrpc = raw.path.startsWith('/xrpc/')
      // 501 is XRPC's word for an unknown method, 502 says that somebody's own server could not be had.
      const allowed = isXrpc ? status === 501 : status === 502 && raw.path.startsWith('/login')
      assert.ok(status < 500 || allowed, `${status} to ${raw.method} ${raw.path.slice(0, 300)}`)
      assert.doesNotMatch(said, /node_modules|\n\s+at .+:\d+:\d+|SQLITE|TypeError|ReferenceError/)
      if (isXrpc && status >= 400 && raw.method !== 'HEAD') assert.match(refusal.parse(JSON.parse(said)).error, /^[A-Z]\w+$/)
    }),
    { numRuns: 1_500, endOnFailure: true },
  )
  for (const path of ['//<script>', '//elsewhere.example/x', '/..//elsewhere.example/x', '/\\elsewhere.example/x']) {
    const other = await rawAnswer(world, { method: 'GET', path, headers: {} })
    assert.equal(other.status, 404, `${path} is of this server all the same`)
    assert.doesNotMatch(other.text, /(href|action|hx-get)="(\/\/|\/\\|\\)|next=%2F%2F/)
  }
  assert.equal((await visitor.visit('/')).status(), 200)
})

test('asking a stream for its headers alone holds nothing up', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const headers = {}
  assert.equal(
    (await rawAnswer(world, { method: 'HEAD', path: `/events?of=${encodeURIComponent(`${world.samples.orchard.uri}@1`)}`, headers }, agent))
      .status,
    200,
  )
  assert.equal((await rawAnswer(world, { method: 'GET', path: '/', headers }, agent)).status, 200)
  agent.destroy()
})

test('the account’s settings list its browsers; one ends another, or all others, and logs itself out', async () => {
  const [one, two] = [await world.open({ as: 'bob' }), await world.open()]
  await two.visit('/login?next=%2Fsettings')
  await throughTheDoor(two.page, world.people.bob)
  assert.equal(two.page.url(), world.url('/settings'))
  const rows = two.page.locator('section[aria-labelledby="h-sess"] li')
  assert.equal(await rows.count(), 2)
  assert.equal(await rows.filter({ hasText: 'this one' }).count(), 1)

  await rows.filter({ hasNotText: 'this one' }).getByRole('button', { name: /^End/ }).click()
  await two.page.waitForFunction('document.querySelectorAll("[aria-labelledby=h-sess] li").length === 1')
  await one.visit(world.pathOf(world.pull('label-variety')))
  assert.equal(await one.page.locator('#merge-box-t').textContent(), 'Log in to queue this')
  await one.visit('/settings')
  assert.match((await one.page.getByRole('alert').textContent()) ?? '', /Your log-in has ended/)

  await two.page.locator('details.menu summary').click()
  await two.page.getByRole('button', { name: 'Log out' }).click()
  await two.page.waitForURL(world.url('/'))
  const response = await two.visit('/settings')
  assert.equal(new URL(response.url()).pathname, '/login')
  assert.deepEqual([...one.faults(), ...two.faults()], [])
  await one.close()
  await two.close()
})

test('REA-2 a page that outlived its session leads to the log-in and back to the pull, with and without script', async () => {
  const path = world.pathOf(world.pull('label-variety'))
  for (const javaScriptEnabled of [true, false]) {
    const tab = await world.open({ as: 'alice', javaScriptEnabled })
    await tab.visit(path)
    await world.server.context.sessions.endAll(world.people.alice.did)
    await submit(tab.page, 'Add to merge queue')
    await tab.page.waitForURL(/\/login\?next=/)
    assert.match((await tab.page.getByRole('alert').textContent()) ?? '', /Your log-in has ended/)
    assert.equal(new URL(tab.page.url()).searchParams.get('next'), path)
    await tab.close()
    world.forget('alice')
  }
})

test('REA-2 whose grant is gone at their own server logs in again, and is back at the pull', async () => {
  const path = world.pathOf(world.pull('label-variety'))
  const tab = await world.open({ as: 'alice' })
  await tab.visit(path)
  await world.server.context.db.deleteFrom('oauth_session').where('key', '=', world.people.alice.did).execute()
  await submit(tab.page, 'Add to merge queue')
  await tab.page.waitForURL(/\/login\?next=/)
  await throughTheDoor(tab.page, world.people.alice)
  assert.equal(tab.page.url(), world.url(path))
  await submit(tab.page, 'Add to merge queue')
  await waitForHeadline(tab.page, /^Queued, 1st of 1/)
  await tab.close()
})

test('a step back to the list of pulls shows where the pull that was added stands', async () => {
  world.forget('bob')
  const bob = await world.open({ as: 'bob' })
  const { page } = bob
  const { title } = world.pull('csv-semicolons')
  const row = page.locator('.rows > li', { hasText: title })
  await bob.visit('/alice.test/orchard')
  assert.match((await row.textContent()) ?? '', /Ready/)
  await row.getByRole('link', { name: title }).click()
  await submit(page, 'Add to merge queue')
  await waitForHeadline(page, /^Queued, 2nd of 2/)
  await page.goBack()
  assert.match((await row.textContent()) ?? '', /Queued, 2nd of 2/)
  assert.deepEqual(bob.faults(), [])
  await bob.close()
})

test('after a log-out a step back shows no more of whose it was', async () => {
  const bob = await world.open({ as: 'bob' })
  const { page } = bob
  await bob.visit(queuePath)
  await bob.visit('/settings')
  await page.locator('.menu summary').click()
  await page.getByRole('button', { name: 'Log out' }).click()
  await page.waitForURL(world.url('/'))
  await page.goBack()
  await page.goBack()
  assert.equal(page.url(), world.url(queuePath))
  assert.match((await page.locator('header.top').textContent()) ?? '', /Log in/)
  await bob.close()
})
