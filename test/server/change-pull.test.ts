import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { DevAccount } from '../../src/devnet/account.ts'
import { recordAt } from '../../src/indexer/read.ts'
import { commit, git, newRepo } from '../git/support.ts'
import { until } from '../support/until.ts'
import { type Demo, startDemo } from './demo.ts'
import { openSignIn } from './log-in.ts'
import { type Answer, tokenOn, Visitor } from './visitor.ts'

let demo: Demo
let people: Demo['people']
let samples: Demo['samples']
let server: Demo['server']
const now = () => new Date().toISOString()

before(async () => {
  demo = await startDemo()
  ;({ people, samples, server } = demo)
})
after(() => demo?.end())

/** A pull of carol's onto the orchard, and the path of its page. */
async function openPull(more: Record<string, unknown> = {}): Promise<{ uri: string; path: string }> {
  const head = Object.values(samples.orchard.pulls)[0]
  assert.ok(head)
  const fields = {
    repo: samples.orchard.uri,
    branch: 'main',
    head: { repo: head.headRepo, branch: head.branch },
    title: 'Prune the old trees',
    ...more,
  }
  const { uri } = await people.carol.create('dev.knotless.pull', { ...fields, createdAt: now() }, demo.key())
  const path = `${server.url}/alice.test/orchard/pulls/${people.carol.did}/${uri.split('/').at(-1)}`
  await until(async () => (await fetch(path)).status === 200)
  return { uri, path }
}

async function press(account: DevAccount, path: string, act: string, headers: Record<string, string> = {}): Promise<Answer> {
  const visitor = await demo.as(account)
  return visitor.post(`${path}/${act}`, { _csrf: tokenOn((await visitor.get(path)).text) }, headers)
}

const plain = (html: string) => html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
const boxOf = (html: string) => plain(/<section class="box"[\s\S]*?<\/section>/.exec(html)?.[0] ?? '')
/** The changes that a page offers, by their addresses. */
const offered = (html: string) => [...html.matchAll(/action="[^"]+\/(close|open|ready|draft)"/g)].map(([, act]) => act)

/** Grants the right that a page asks for. Gives the page that the browser comes back to. */
async function grant(account: DevAccount, page: string, answer: 'authorize' | 'deny' = 'authorize'): Promise<Answer & { url: string }> {
  const visitor = await demo.as(account)
  const href = /href="(\/login\/start\?[^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const begun = await visitor.get(`${server.url}${href}`)
  return visitor.follow(await (await openSignIn(visitor, String(begun.headers.location), account))[answer]())
}

/** As the page of whoever has the right: presses, grants what is asked, and presses again. */
async function pressWithRight(account: DevAccount, path: string, act: string): Promise<Answer> {
  const first = await press(account, path, act)
  if (!first.text.includes('/login/start')) return first
  await grant(account, first.text)
  return press(account, path, act)
}

async function statesOn(account: DevAccount, uri: string): Promise<unknown[]> {
  return (await account.list('dev.knotless.state')).filter(({ value }) => value.subject === uri).map(({ value }) => value.state)
}

test('HON-6 its author closes and reopens a pull; the right is asked for when it is first needed, and denied it is said', async () => {
  const { carol } = people
  const { uri, path } = await openPull()
  const first = await press(carol, path, 'close')
  assert.equal(first.status, 422)
  assert.match(first.text, /role="alert">To close and reopen pulls here, let this server write <code>dev\.knotless\.state<\/code> records/)
  const denied = await grant(carol, first.text, 'deny')
  assert.match(boxOf(denied.text), /Not closed: you denied the right to close and reopen pulls here\./)
  const back = await grant(carol, denied.text)
  assert.match(new URL(back.url).search, /wants=close/)
  assert.match(boxOf(back.text), /Nothing was changed yet: press “Close”\./)
  assert.deepEqual(await statesOn(carol, uri), [])

  const done = await press(carol, path, 'close')
  assert.equal(done.status, 303, done.text)
  const [closed] = (await carol.list('dev.knotless.state')).filter(({ value }) => value.subject === uri)
  assert.ok(closed)
  assert.deepEqual([closed.value.state, closed.value.repo], ['closed', samples.orchard.uri])
  assert.ok(recordAt(server.context.database, closed.uri), 'it is indexed at once')
  const page = (await (await demo.as(carol)).get(path)).text
  assert.match(boxOf(page), /Closed without landing/)
  assert.deepEqual(offered(page), ['open'])
  assert.doesNotMatch((await (await demo.as(carol)).get(`${path}?wants=close`)).text, /Nothing was changed yet/, 'it is over')

  const reopened = await press(carol, path, 'open', { 'hx-request': 'true' })
  assert.equal(reopened.status, 200)
  assert.match(reopened.text, /^\s*<section class="box"/)
  assert.deepEqual((await statesOn(carol, uri)).sort(), ['closed', 'open'])
  assert.match((await (await demo.as(carol)).get(path)).text, /opened it again/)
})

test('HON-6 QUE-5 who may do what: nobody is offered what would be refused, and what is refused says who may', async () => {
  const { alice, bob, carol, mallory } = people
  const { uri, path } = await openPull()
  const offers = async (account: DevAccount) => offered((await (await demo.as(account)).get(path)).text)
  assert.deepEqual(await offers(carol), ['draft', 'close'])
  assert.deepEqual(await offers(alice), ['close'])
  assert.deepEqual(await offers(bob), ['close'])
  assert.deepEqual(await offers(mallory), [])
  assert.deepEqual(offered(await (await fetch(path)).text()), [])
  const stranger = await press(mallory, path, 'close')
  assert.equal(stranger.status, 422)
  assert.match(boxOf(stranger.text), /Not closed: only alice\.test , bob\.test and carol\.test can do that here/)
  const owner = await press(alice, path, 'draft', { 'hx-request': 'true' })
  assert.equal(owner.status, 422)
  assert.match(boxOf(owner.text), /Not made a draft: only carol\.test can do that here\. Ask them\./)
  assert.equal((await (await demo.as(carol)).post(`${path}/close`, { _csrf: 'wrong' })).status, 403)
  assert.deepEqual(await statesOn(mallory, uri), [])
})

test('QUE-5 an author makes a pull a draft and marks it as ready: the rest of the record stays as it was', async () => {
  const { carol } = people
  const { uri, path } = await openPull({ body: 'It is *time*.', colour: 'green' })
  const key = uri.split('/').at(-1) ?? ''
  const before = await carol.get('dev.knotless.pull', key)
  assert.equal((await pressWithRight(carol, path, 'draft')).status, 303)
  assert.deepEqual((await carol.get('dev.knotless.pull', key))?.value, { ...before?.value, draft: true })
  const page = (await (await demo.as(carol)).get(path)).text
  assert.match(boxOf(page), /Draft/)
  assert.deepEqual(offered(page), ['ready', 'close'])
  const again = await press(carol, path, 'draft', { 'hx-request': 'true' })
  assert.match(boxOf(again.text), /It is a draft already\. Nothing was written\./)
  assert.equal((await press(carol, path, 'ready')).status, 303)
  assert.deepEqual((await carol.get('dev.knotless.pull', key))?.value, before?.value)
})

test('QUE-2 QUE-5 what takes a queued pull out of the queue is asked before, with scripts off by a page', async () => {
  const { alice, carol } = people
  const { uri, path } = await openPull()
  const entry = { repo: samples.orchard.uri, subject: uri, state: 'queued', createdAt: now() }
  await alice.create('dev.knotless.queue', entry, demo.key())
  const carols = await demo.as(carol)
  const page = await until(async () => {
    const { text } = await carols.get(path)
    return /Queued, 1st of 1/.test(text) && text
  })
  assert.match(
    page,
    /<form method="get" action="[^"]+\/close" hx-post="[^"]+\/close"[^>]+hx-confirm="Close this pull\? It leaves the queue/,
  )
  assert.match(boxOf(page), /Closing it or making it a draft takes it out of the queue as well\./)
  for (const [act, says] of [
    [
      'close',
      /Close this pull\? [\s\S]*It leaves the queue and gives up 1st place; nobody else is affected\. Reopening it does not queue it again\./,
    ],
    ['draft', /Make this pull a draft\? [\s\S]*Add it again once it is ready\./],
  ] as const) {
    const asks = await carols.get(`${path}/${act}`)
    assert.equal(asks.status, 200)
    assert.match(plain(asks.text), says)
  }
  const form = await carols.get(`${path}/close`)
  const done = await carols.post(`${path}/close`, { _csrf: tokenOn(form.text) })
  assert.equal(done.status, 303)
  assert.equal((await carols.get(`${path}/close`)).status, 422, 'there is nothing left to ask')
  assert.match(boxOf((await carols.get(path)).text), /Closed without landing/)
  const stranger = await new Visitor().get(`${path}/close`)
  assert.deepEqual([stranger.status, String(stranger.headers.location).startsWith('/login?next=')], [303, true])
})

test('two clicks, and an answer that is lost, close it once', async () => {
  const { carol } = people
  const { uri, path } = await openPull()
  const both = await Promise.all([press(carol, path, 'close'), press(carol, path, 'close')])
  assert.deepEqual(
    both.map(answer => answer.status),
    [303, 303],
  )
  assert.deepEqual(await statesOn(carol, uri), ['closed'])

  const other = await openPull()
  const fault = demo.network.faults.add({ fault: 'lose', method: 'com.atproto.repo.createRecord', times: 1 })
  const lost = await press(carol, other.path, 'close')
  fault.clear()
  assert.equal(fault.hits(), 1)
  assert.ok([303, 422].includes(lost.status), String(lost.status))
  await press(carol, other.path, 'close')
  assert.deepEqual(await statesOn(carol, other.uri), ['closed'])
})

test('HON-8 what is marked merged and is not on the branch is reopened by the owner, not by its author', async () => {
  const { alice, carol } = people
  const { uri, path } = await openPull()
  const merged = { repo: samples.orchard.uri, subject: uri, state: 'merged', commit: 'f'.repeat(40), createdAt: now() }
  await alice.create('dev.knotless.state', merged, demo.key())
  await until(async () => /Marked merged, but not on/.test((await (await demo.as(alice)).get(path)).text))
  assert.deepEqual(offered((await (await demo.as(carol)).get(path)).text), [])
  const author = await press(carol, path, 'open')
  assert.match(boxOf(author.text), /Not reopened: only alice\.test and bob\.test can do that here/)
  assert.deepEqual(offered((await (await demo.as(alice)).get(path)).text), ['open'])
  assert.equal((await pressWithRight(alice, path, 'open')).status, 303)
  assert.match(boxOf((await (await demo.as(alice)).get(path)).text), /This server may not land pulls for you yet/)
  assert.deepEqual((await statesOn(alice, uri)).sort(), ['merged', 'open'])
})

test('each line of the timeline leads to the record that says so, verbatim and with where it lies', async () => {
  const { alice, carol, mallory } = people
  const { uri, path } = await openPull({ title: 'Record <this>' })
  const by = async (account: DevAccount) => {
    const entry = { repo: samples.orchard.uri, subject: uri, state: 'queued', createdAt: now() }
    return (await account.create('dev.knotless.queue', entry, demo.key())).uri
  }
  const [counted, stranger] = [await by(alice), await by(mallory)]
  const page = await until(async () => {
    const { text } = await (await demo.as(carol)).get(path)
    return text.includes(`href="/at/${counted.slice('at://'.length)}"`) && text
  })
  assert.ok(page.includes(`href="/at/${uri.slice('at://'.length)}"`), 'that it was opened')
  assert.ok(!page.includes(stranger.slice('at://'.length)), 'HON-2')
  const at = (record: string) => `${server.url}/at/${record.slice('at://'.length)}`
  const shown = await fetch(at(counted))
  const text = await shown.text()
  assert.equal(shown.status, 200)
  assert.match(plain(text), /A change of a queue It lies in the account of alice\.test at localhost:\d+ , as its writer wrote it/)
  assert.match(text, /It counts for the pull that it is about\./)
  assert.match(text, /Record &lt;this&gt;<\/a>/)
  assert.match(text, new RegExp(`&quot;subject&quot;: &quot;${uri}&quot;`))
  const json: unknown = await (await fetch(`${at(counted)}?as=json`)).json()
  const own = (await alice.list('dev.knotless.queue')).find(one => one.uri === counted)
  assert.deepEqual(json, { uri: counted, cid: own?.cid, value: own?.value })
  assert.match(
    await until(async () => {
      const answer = await fetch(at(stranger))
      return answer.status === 200 && (await answer.text())
    }),
    /It counts for nothing here/,
  )
  for (const wrong of ['/at/x/y/z', `/at/${carol.did}/dev.knotless.queue/3aaaaaaaaaaaa`, `/at/${carol.did}/app.bsky.feed.post/x`]) {
    assert.equal((await fetch(server.url + wrong)).status, 404, wrong)
  }
})

test('a diff with a line of 5 MB, bytes that are no text, thousands of lines and files, and text that is not what it seems', async t => {
  const { carol } = people
  const dir = newRepo(t)
  const files = { 'a.txt': 'one\n' }
  commit(dir, 'main', files)
  git(dir, ['branch', 'topic', 'main'])
  const changed: Parameters<typeof commit>[2] = {
    ...files,
    'a-line.txt': `${'x'.repeat(5 * 2 ** 20)}\n`,
    'a-long.txt': `${'y'.repeat(3 * 2 ** 20)}\n`,
    'b-bytes.bin': '\0\u0001\0',
    'b-lines.txt': 'line\n'.repeat(3000),
    'c-seems.ts': 'if (admin) { \u202e } \u2066// begin\u2069\n',
  }
  for (let n = 0; n < 1_400; n++) changed[`many/${String(n).padStart(4, '0')}`] = '\n'
  commit(dir, 'topic', changed)
  await carol.put('dev.knotless.repo', 'wide', { defaultBranch: 'main', collaborators: [], runners: [], createdAt: now() })
  const repo = await demo.push(carol, 'wide', dir, ['main', 'topic'])
  const fields = { repo, branch: 'main', head: { repo, branch: 'topic' }, title: 'Wide', createdAt: now() }
  const { uri } = await carol.create('dev.knotless.pull', fields, demo.key())
  const path = `${server.url}/carol.test/wide/pulls/${carol.did}/${uri.split('/').at(-1)}`
  const page = await until(async () => {
    const answer = await fetch(path)
    const text = answer.status === 200 ? await answer.text() : ''
    return text.includes('a-line.txt') && text
  })
  assert.ok(page.length < 2_000_000, `${page.length} characters`)
  const section = (name: string) =>
    plain(new RegExp(`<details class="file sheet"[^>]*>\\s*<summary><span><bdi>${name}[\\s\\S]*?</details>`).exec(page)?.[0] ?? '')
  assert.match(section('a-line\\.txt'), /Too much changed here to be shown\. Show them/)
  assert.match(section('a-long\\.txt'), /y{1900,2000}…/)
  assert.match(section('b-bytes\\.bin'), /These bytes are no text\./)
  assert.match(section('b-lines\\.txt'), /\+3,000 −0 3,000 changed lines are not shown\. Show them/)
  assert.match(section('c-seems\\.ts'), /if \(admin\) \{ \[U\+202E\] \} \[U\+2066\] \/\/ begin \[U\+2069\]/)
  assert.match(plain(page), /Files changed 1,405 files, over \+/)
  assert.match(plain(page), /1,000 more files many\/0295 [\s\S]*105 more files not listed/)
  const href = /href="([^"]+\?file=b-lines\.txt[^"]*)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? ''
  const alone = await (await fetch(new URL(href, server.url))).text()
  assert.match(plain(alone), /Files changed 1 file, \+3,000 −0 Only b-lines\.txt is shown\. Show all files/)
  assert.equal(alone.match(/class="add"/g)?.length, 3000)
  const none = await (await fetch(`${path}?file=nothing`)).text()
  assert.match(plain(none), /This pull does not change it\./)
  for (const odd of [':(glob)**', ':', '--output=x', '.../x', '\u202e', '=\n'])
    assert.match(plain(await (await fetch(`${path}?file=${encodeURIComponent(odd)}`)).text()), /This pull does not change it\./, odd)
  for (const no of ['file=a%00b', 'file=a&was=%00', 'file=', 'file=../a', 'file=/a', 'file=a//b', 'file=a/..', 'file=./a'])
    assert.equal((await fetch(`${path}?${no}`)).status, 400, no)
})
