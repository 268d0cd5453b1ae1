import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { madeUp, type Orchard, plantOrchard } from './orchard.ts'
import { type Served, serve } from './serve.ts'

const { owner, author, collaborator } = madeUp
let server: Served
let orchard: Orchard
before(async () => {
  server = await serve()
  orchard = await plantOrchard(server.context, {
    count: 4,
    handles: { [owner]: 'alice.test', [author]: 'carol.test', [collaborator]: 'bob.test' },
  })
})
after(async () => {
  await orchard?.stop()
  await server?.end()
})

async function get(path: string, as?: string) {
  const headers: Record<string, string> = {}
  if (as !== undefined) {
    const { id } = await server.context.sessions.begin({ did: as }, undefined)
    headers.cookie = `${server.context.cookies.session}=${id}`
  }
  const answer = await fetch(server.url + path, { headers, redirect: 'manual' })
  const text = await answer.text()
  const main = /<main[\s\S]*<\/main>/.exec(text)?.[0] ?? ''
  const says = main
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  return { status: answer.status, location: answer.headers.get('location'), text, main, says }
}

test('one’s own pulls are listed over all repositories by where they stand, and nobody else’s', async () => {
  const [first = '', second = '', third = ''] = orchard.pulls
  const other = await plantOrchard(server.context, { count: 1, name: 'almanac', handles: { [owner]: 'alice.test' } })
  await orchard.queue(first)
  await orchard.queue(second)
  await orchard.write(madeUp.runner, 'dev.knotless.queue', orchard.key(), {
    repo: orchard.repo,
    subject: second,
    state: 'ejected',
    kind: 'checks',
    reason: 'test failed. It failed alone.',
  })
  await orchard.write(author, 'dev.knotless.state', orchard.key(), { repo: orchard.repo, subject: third, state: 'closed' })
  const mine = await get('/pulls', author)
  assert.equal(mine.status, 200)
  assert.match(mine.says, /My pulls .*In the queue 1 Pull 0 alice\.test\/orchard · onto main .*Queued, 1st of 1/)
  assert.match(mine.says, /Turned away 1 Pull 1 .*Ejected/)
  assert.match(mine.says, /Not queued 2 Pull 0 alice\.test\/almanac .*Pull 3 alice\.test\/orchard/)
  assert.doesNotMatch(mine.says, /Pull 2/)
  const key = first.slice(first.lastIndexOf('/') + 1)
  assert(mine.main.includes(`href="/alice.test/orchard/pulls/carol.test/${key}"`))
  assert.match((await get('/pulls?state=closed', author)).says, /Closed 1 Pull 2/)
  assert.match((await get('/pulls', owner)).says, /You have no open pull/)
  assert.equal((await get('/pulls?state=lost', author)).status, 400)
  await other.stop()
})

test('a list of one’s own pulls goes on where it ended', async () => {
  const write = (n: number) =>
    orchard.write(collaborator, 'dev.knotless.pull', orchard.key(), {
      repo: orchard.repo,
      branch: 'main',
      head: { repo: orchard.repo, branch: 'topic-1' },
      title: `Bulk ${n}`,
    })
  for (let n = 0; n < 53; n++) await write(n)
  const first = await get('/pulls', collaborator)
  const later = /href="(\/pulls\?cursor=[^"]+)">Later/.exec(first.text)?.[1] ?? ''
  const titles = (text: string) => [...text.matchAll(/>(Bulk \d+)</g)].map(match => match[1])
  const second = await get(later, collaborator)
  assert.deepEqual([titles(first.main).length, titles(second.main)], [50, ['Bulk 2', 'Bulk 1', 'Bulk 0']])
  assert.match(second.text, /href="\/pulls">Earlier/)
  assert.doesNotMatch(second.text, />Later</)
})

test('one’s own pulls ask for a log-in, and come back', async () => {
  const { status, location } = await get('/pulls?state=merged')
  assert.deepEqual([status, location], [303, '/login?next=%2Fpulls%3Fstate%3Dmerged'])
  const page = await get('/', author)
  assert.match(page.text, /<a href="\/pulls">My pulls<\/a>/)
  assert.doesNotMatch((await get('/')).text, /href="\/pulls"/)
})

test('the page of help says what every label means, and is at the end of every page', async () => {
  const { status, says } = await get('/help')
  assert.equal(status, 200)
  for (const word of ['In a batch', 'Running ahead', 'No verdict', 'Stalled']) assert(says.includes(word), word)
  for (const path of ['/', '/login', '/nowhere', '/alice.test/orchard', '/alice.test/orchard/queue/main'])
    assert.match((await get(path)).text, /<a href="\/help">Help<\/a>/, path)
})

test('the list of repositories shows those of one’s own whose queue needs a look', async () => {
  // What is merged by hand needs nobody.
  await orchard.write(owner, 'dev.knotless.repo', 'bare', { defaultBranch: 'main', collaborators: [], runners: [] })
  const mine = await get('/', owner)
  assert.match(mine.says, /alice\.test\/bare .*Merged by hand/)
  assert.match(mine.says, /Need a look · 2/)
  const ill = await get('/?ill=1', owner)
  assert.match(ill.main, /<a href="\/\?ill=1" aria-current="page">/)
  assert.match(ill.says, /alice\.test\/almanac .*alice\.test\/orchard .*1 to 2 of 2/)
  assert.doesNotMatch((await get('/', author)).says, /Need a look/)
  assert.match((await get('/?ill=1', author)).says, /All is well No queue of yours needs a look/)
  assert.match((await get('/?ill=1')).says, /alice\.test\/orchard/, 'signed out it is the list of all')
})

test('a repository shows its badge and what shows it elsewhere', async () => {
  const { main } = await get('/alice.test/orchard')
  assert.match(main, /<img src="\/alice\.test\/orchard\/badge\/main" alt="main: \d+ queued, [a-z ]+" height="20">/)
  assert(
    main.includes(`[![Merge queue of main](${server.url}/alice.test/orchard/badge/main)](${server.url}/alice.test/orchard/queue/main)`),
  )
})

test('of 30 branches with queues the first are shown and the rest fold', async () => {
  const crowd = await plantOrchard(server.context, { count: 0, name: 'crowd' })
  const protections = Array.from({ length: 30 }, (_, n) => ({ branch: `release/${n}`, queue: true }))
  await crowd.write(owner, 'dev.knotless.repo', 'crowd', {
    defaultBranch: 'main',
    collaborators: [],
    runners: [{ did: madeUp.runner }],
    protections,
  })
  const page = await get('/alice.test/crowd')
  assert.match(page.main, /<summary>21 more branches<\/summary>/)
  for (const { branch } of protections) assert(page.main.includes(`<code>${branch}</code>`), branch)
  const home = await get('/?q=alice.test/crowd')
  assert.match(home.main, /<a href="\/alice\.test\/crowd">26 more branches<\/a>/)
  await crowd.stop()
})

test('a page that is not there leads to what its address begins with', async () => {
  const inside = await get('/alice.test/orchard/frob?x=1')
  assert.equal(inside.status, 404)
  assert.match(inside.says, /There is no page at this address/)
  assert.match(inside.main, /<a href="\/alice\.test\/orchard">Pulls of/)
  assert.match(inside.main, /<a href="\/alice\.test\/orchard\/queue\/main">its queue<\/a>/)
  assert.match((await get('/alice.test/orchard/queue/pear')).main, /Pulls of/)
  const owned = await get('/alice.test/pear')
  assert.match(owned.says, /There is no repository alice\.test\/pear here\. .*Known of alice\.test : almanac , bare , crowd , orchard/)
  for (const path of ['/nobody.test/pear', '/carol.test/pear', '/%00/%0a', '/alice.test/%00']) {
    const { status, main } = await get(path)
    assert.equal(status, 404, path)
    assert.doesNotMatch(main, /Pulls of/)
  }
})

test('what pages are made of is one answer away', async () => {
  const [first = ''] = orchard.pulls
  const pull = `/alice.test/orchard/pulls/carol.test/${first.slice(first.lastIndexOf('/') + 1)}`
  const tip = 'cd'.repeat(20)
  const landed = await orchard.write(author, 'dev.knotless.pull', orchard.key(), {
    repo: orchard.repo,
    branch: 'main',
    head: { repo: orchard.repo, branch: 'topic-3' },
    title: 'Landed',
  })
  await orchard.write(owner, 'dev.knotless.state', orchard.key(), {
    repo: orchard.repo,
    subject: landed,
    state: 'merged',
    commit: tip,
    batch: tip,
  })
  const paths = ['/', '/?q=alice.test', '/alice.test/orchard', '/alice.test/orchard/queue/main', pull]
  for (const path of [...paths, '/alice.test/orchard/stats', `/alice.test/orchard/batches/${tip}`]) {
    const { text } = await get(path)
    const href = /<link rel="alternate" type="application\/json" href="([^"]+)">/.exec(text)?.[1]?.replaceAll('&amp;', '&')
    assert(href, path)
    const answer = await fetch(server.url + href)
    assert.equal(answer.status, 200, `${path}: ${href}`)
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json/)
    assert(text.includes(`href="${href.replaceAll('&', '&amp;')}">JSON</a>`), 'seen at the end of the page as well')
  }
})

test('what a link shows elsewhere is bounded, in a title of any length and script', async () => {
  const titles = {
    long: 'ä'.repeat(10_000),
    rtl: `${'تصحيح '.repeat(400)}`,
    zalgo: `Z${'\u0335\u0336\u0337'.repeat(2_000)}lgo ${'x'.repeat(200)}`,
  }
  for (const [name, title] of Object.entries(titles)) {
    const uri = await orchard.write(author, 'dev.knotless.pull', orchard.key(), {
      repo: orchard.repo,
      branch: 'main',
      head: { repo: orchard.repo, branch: 'topic-2' },
      title,
    })
    const { text } = await get(`/alice.test/orchard/pulls/carol.test/${uri.slice(uri.lastIndexOf('/') + 1)}`)
    for (const tag of ['og:title', 'og:description']) {
      const content = new RegExp(`<meta property="${tag}" content="([^"]*)">`).exec(text)?.[1]
      assert(content !== undefined, `${name} ${tag}`)
      assert([...new Intl.Segmenter('en').segment(content)].length < 300, `${name} ${tag}`)
      assert.doesNotMatch(content, /[\u202a-\u202e\u2066-\u2069]/)
    }
    assert.match(/<meta property="og:title" content="([^"]*)">/.exec(text)?.[1] ?? '', / · alice\.test\/orchard$|…/)
  }
  const queue = await get('/alice.test/orchard/queue/main')
  assert.match(queue.text, /<meta property="og:title" content="Queue \(\d+\), [a-z ]+ · main · alice\.test\/orchard">/)
  assert.match(queue.text, /<meta property="og:description" content="[A-Z][^"]+">/)
  assert.match(queue.text, /<meta property="og:site_name" content="knotless">/)
})
