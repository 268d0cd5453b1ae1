import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { loadPastFacts } from '../../src/indexer/read.ts'
import { dev } from '../../src/lexicons/index.ts'
import { hostile } from '../views/sample.ts'
import { madeUp, type Orchard, plantOrchard } from './orchard.ts'
import { type Served, serve } from './serve.ts'

const { owner, author, runner } = madeUp
const tip = 'ab'.repeat(20)
let server: Served
let orchard: Orchard
before(async () => {
  server = await serve()
  orchard = await plantOrchard(server.context, {
    count: 4,
    handles: { [owner]: 'alice.test', [author]: 'carol.test', [runner]: 'rigby.test' },
  })
})
after(async () => {
  await orchard?.stop()
  await server?.end()
})

async function get(path: string, headers: Record<string, string> = {}) {
  const answer = await fetch(server.url + path, { headers, redirect: 'manual' })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}

const elements = new Set([
  'feed',
  'id',
  'title',
  'published',
  'updated',
  'author',
  'name',
  'link',
  'entry',
  'summary',
  'svg',
  'rect',
  'path',
  'g',
  'text',
])

/** Throws at the first thing that XML may not be. */
function assertXml(text: string): void {
  assert.match(text, /^<\?xml version="1\.0" encoding="utf-8"\?>\n/)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  assert.doesNotMatch(text, /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/)
  assert(text.isWellFormed())
  const open: string[] = []
  const rest = text
    .replace(/^<\?xml[^>]*\?>\s*/, '')
    .replace(/<(\/?)([a-z]+)((?: [a-z]+="[^"<]*")*)(\/?)>/g, (_, end: string, name: string, _more: string, alone: string) => {
      assert(elements.has(name), `an element ${name}`)
      if (end !== '') assert.equal(open.pop(), name)
      else if (alone === '') open.push(name)
      return ''
    })
  assert.deepEqual(open, [])
  assert.doesNotMatch(rest, /[<>]|&(?!(amp|lt|gt|quot|#39);)/)
}

const entriesOf = (text: string) => text.split('<entry>').slice(1)
const partsOf = (text: string, name: string) =>
  [...text.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map(match => match[1] ?? '')

async function eject(pull: string, reason: string): Promise<string> {
  await orchard.queue(pull)
  return orchard.write(runner, 'dev.knotless.queue', orchard.key(), {
    repo: orchard.repo,
    subject: pull,
    state: 'ejected',
    kind: 'checks',
    reason,
  })
}

test('the feed of a branch that nothing happened on is valid and empty', async () => {
  for (const branch of ['main', 'idle']) {
    const { status, headers, text } = await get(`/alice.test/orchard/atom/${branch}`)
    assert.equal(status, 200)
    assert.equal(headers.get('content-type'), 'application/atom+xml; charset=utf-8')
    assertXml(text)
    assert.deepEqual(entriesOf(text), [])
    assert.equal(partsOf(text, 'updated').length, 1)
    assert.equal(partsOf(text, 'name')[0], 'alice.test')
  }
})

test('the feed holds landings and ejections, newest first, each under a name that stays, also of pulls that came back', async () => {
  const [first = '', second = '', third = ''] = orchard.pulls
  await eject(first, 'test failed. It failed alone, at abc on main.')
  for (const pull of [second, third])
    await orchard.write(owner, 'dev.knotless.state', orchard.key(), {
      repo: orchard.repo,
      subject: pull,
      state: 'merged',
      commit: tip,
      batch: tip,
    })
  const { text } = await get('/alice.test/orchard/atom/main')
  assertXml(text)
  const [landed = '', ejected = '', ...more] = entriesOf(text)
  assert.deepEqual(more, [])
  assert.match(landed, new RegExp(`<id>tag:knotless\\.dev,2026:landing/${owner}/${tip}</id>`))
  assert.match(landed, /<title>Landed: a batch of 2, main is at abababa<\/title>/)
  assert.match(landed, /<summary>Pull 1 \(carol\.test\)\. Pull 2 \(carol\.test\)\.<\/summary>/)
  assert(landed.includes(`href="${server.url}/alice.test/orchard/batches/${tip}"`))
  assert.match(ejected, /<title>Ejected: Pull 0<\/title>/)
  assert.match(ejected, /It was turned away: test failed\. It failed alone, at abc on main\./)
  assert.match(ejected, /<name>rigby\.test<\/name>/)
  assert(ejected.includes(`href="${server.url}/alice.test/orchard/pulls/carol.test/${first.slice(first.lastIndexOf('/') + 1)}"`))
  const times = partsOf(text, 'updated')
  assert.equal(times[0], times[1], 'as new as its newest entry')
  assert(times.every(time => new Date(time).toISOString() === time))

  const ids = partsOf(text, 'id')
  assert.equal(new Set(ids).size, 3)
  await orchard.queue(first)
  const later = await get('/alice.test/orchard/atom/main')
  assert.deepEqual(partsOf(later.text, 'id'), ids)
  // Under its DID as well: nothing in it depends on the address that was asked for.
  assert.equal((await get(`/${owner}/orchard/atom/main`)).text, later.text)
  assert.deepEqual(entriesOf((await get('/alice.test/orchard/atom/idle')).text), [], 'another branch has its own')
})

test('what the steward decided about an ejection is said with it, and nobody else’s word', async () => {
  const [first = ''] = orchard.pulls
  const ejection = await eject(first, 'test failed. It failed alone.')
  const write = (by: string, verdict: string) =>
    orchard.write(by, 'dev.knotless.decision', orchard.key(), {
      repo: orchard.repo,
      subject: first,
      ejection,
      head: 'ab'.repeat(20),
      verdict,
      kind: 'flake',
      entry: 'slow-socket',
      attempt: 1,
      evidence: [],
    })
  const before = partsOf((await get('/alice.test/orchard/atom/main')).text, 'updated')[0]
  await write(runner, 'requeue')
  await write(author, 'reject')
  const { text } = await get('/alice.test/orchard/atom/main')
  const [newest = ''] = entriesOf(text)
  assert.match(
    newest,
    /It failed alone\. The steward put it back: as a flake, 1 of 2 at this head\. Every failed assertion matches slow-socket/,
  )
  const [published = ''] = partsOf(newest, 'published')
  const [updated = ''] = partsOf(newest, 'updated')
  assert.equal(published, before)
  assert(updated > published && updated === partsOf(text, 'updated')[0])
})

test('an ejection by somebody who may not is in no feed (HON-2)', async () => {
  const [, , , fourth = ''] = orchard.pulls
  await orchard.write(author, 'dev.knotless.queue', orchard.key(), {
    repo: orchard.repo,
    subject: fourth,
    state: 'ejected',
    kind: 'checks',
    reason: 'made up',
  })
  assert.doesNotMatch((await get('/alice.test/orchard/atom/main')).text, /made up/)
})

test('whatever people wrote, the feed stays XML, and it is bounded', async () => {
  for (const [n, title] of Object.values({
    ...hostile,
    controls: 'a\u0000b\u0007c\ufffed',
    zalgo: `Z${'\u0335\u0336'.repeat(4_000)}`,
  }).entries()) {
    const pull = await orchard.write(author, 'dev.knotless.pull', orchard.key(), {
      repo: orchard.repo,
      branch: 'main',
      head: { repo: orchard.repo, branch: 'topic-1' },
      title: title.slice(0, 5_000) || `none ${n}`,
    })
    await eject(pull, `${title.slice(0, 900)} failed. ]]> & <b>`)
  }
  const written = await get('/alice.test/orchard/atom/main')
  assertXml(written.text)
  for (const entry of entriesOf(written.text)) assert(entry.length < 25_000, 'an entry is bounded')
  assert(entriesOf(written.text).length > Object.keys(hostile).length)
  const [first = ''] = orchard.pulls
  for (let n = 0; n < 60; n++) await eject(first, 'test failed')
  const { text } = await get('/alice.test/orchard/atom/main')
  assertXml(text)
  const times = entriesOf(text).flatMap(entry => partsOf(entry, 'published'))
  assert.equal(times.length, 50)
  assert.deepEqual(times, times.toSorted().toReversed(), 'newest first')
  assert(Buffer.byteLength(text) < 200_000)
})

test('what happens on other branches crowds nothing out', async () => {
  const idle = await orchard.write(author, 'dev.knotless.pull', orchard.key(), {
    repo: orchard.repo,
    branch: 'idle',
    head: { repo: orchard.repo, branch: 'topic-1' },
    title: 'Onto idle',
  })
  await eject(idle, 'test failed')
  const [first = ''] = orchard.pulls
  await eject(first, 'test failed')
  const loaded = loadPastFacts(server.context.database, orchard.repo, { branch: 'idle', most: 1 })
  assert.deepEqual(
    loaded?.facts.pulls.map(pull => pull.uri),
    [idle],
  )
  assert.deepEqual(partsOf((await get('/alice.test/orchard/atom/idle')).text, 'title').slice(1), ['Ejected: Onto idle'])
})

test('what did not change is a 304 for those who have it; a branch that is not there is a 404', async () => {
  for (const path of ['/alice.test/orchard/atom/main', '/alice.test/orchard/badge/main']) {
    const { headers, text } = await get(path)
    // Compressed, the tag is a weak one.
    const tag = (headers.get('etag') ?? '').replace(/^W\//, '')
    assert.match(tag, /^"[\w-]{22}"$/)
    for (const asked of [tag, `W/${tag}`, `"other", ${tag}`]) {
      const again = await get(path, { 'if-none-match': asked })
      assert.deepEqual([again.status, again.text], [304, ''], asked)
    }
    assert.equal((await get(path, { 'if-none-match': '"other"' })).text, text)
  }
  for (const path of ['atom/pear', 'atom/main/pear', 'badge/pear']) assert.equal((await get(`/alice.test/orchard/${path}`)).status, 404)
  assert.match((await get('/alice.test/orchard/atom/pear')).text, /alice\.test\/orchard has no branch pear\. Pick one of: main/)
  assert.equal((await get('/nobody.test/orchard/atom/main')).status, 404)
})

test('the badge says length and health, may be shown elsewhere and be kept a minute', async () => {
  const { headers, text } = await get('/alice.test/orchard/badge/main')
  assert.equal(headers.get('content-type'), 'image/svg+xml; charset=utf-8')
  assert.equal(headers.get('cross-origin-resource-policy'), 'cross-origin')
  assert.equal(headers.get('cache-control'), 'public, max-age=60')
  const answer = await fetch(`${server.url}/xrpc/dev.knotless.getQueue?repo=${encodeURIComponent(orchard.repo)}&branch=main`)
  const queue = dev.knotless.getQueue.main.output.schema.parse(await answer.json())
  assert.match(text, new RegExp(`aria-label="main: ${queue.length} queued, ${queue.health.label?.toLowerCase()}"`))
  assert.match(text, new RegExp(`>${queue.length} queued, ${queue.health.label?.toLowerCase()}</text>`))
  assertXml(`<?xml version="1.0" encoding="utf-8"?>\n${text.replaceAll(/[a-zA-Z-]+=/g, name => name.replace(/[A-Z-]/g, 'x'))}`)
  const none = await get(`/alice.test/orchard/badge/${encodeURIComponent('"><script>')}`)
  assert.equal(none.status, 404)
  assert.equal(none.headers.get('content-type'), 'image/svg+xml; charset=utf-8')
  assert.match(none.text, /aria-label="&quot;&gt;&lt;script&gt;: no queue here"/)
})

test('robots are told what is worth reading', async () => {
  const { status, headers, text } = await get('/robots.txt')
  assert.deepEqual([status, headers.get('content-type')], [200, 'text/plain; charset=utf-8'])
  assert.match(text, /^User-agent: \*\n/)
  for (const line of ['Disallow: /xrpc/', 'Disallow: /settings', 'Disallow: /*?']) assert(text.includes(`${line}\n`), line)
})

test('the pages of a branch and of its repository lead to its feed, in their head and at their end', async () => {
  for (const path of ['/alice.test/orchard', '/alice.test/orchard/queue/main']) {
    const { text } = await get(path)
    const link =
      '<link rel="alternate" type="application/atom+xml" title="main of alice.test/orchard: landings and ejections" href="/alice.test/orchard/atom/main">'
    assert(text.includes(link), path)
    assert.match(text, /<a href="\/alice\.test\/orchard\/atom\/main">Feed<\/a>/)
    assert(text.includes(`<meta property="og:url" content="${server.url}${path}">`))
  }
})
