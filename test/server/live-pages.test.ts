/** What pages that follow what they show ask for, and what they get. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { parseDid } from '../../src/atproto/ids.ts'
import { versionOf } from '../../src/indexer/read.ts'
import { did } from '../queue/made-up.ts'
import { madeUp, type Orchard, plantOrchard } from './orchard.ts'
import { type Served, serve } from './serve.ts'

const path = '/alice.test/orchard/queue/main'
let server: Served
let orchard: Orchard
before(async () => {
  server = await serve(undefined, { env: { KNOTLESS_STREAMS: '400' } })
  orchard = await plantOrchard(server.context, { count: 4, handles: { [madeUp.owner]: 'alice.test' } })
  await orchard.queue(orchard.pulls[0] ?? '')
})
after(async () => {
  await orchard.stop()
  await server.end()
})

const get = (at: string, headers: Record<string, string> = {}) => fetch(server.url + at, { headers })

/** What a page says of its regions, and what it sends along. */
function asksFor(html: string): string {
  const regions = [...html.matchAll(/ data-live="([a-z]+)" data-is="([\w-]+)"/g)]
  const seen = / data-with="(seen=\d+)"/.exec(html)?.[1] ?? ''
  return `have=${regions.map(([, part, is]) => `${part}.${is}`).join()}&${seen}`
}

const swapped = (html: string) => [...html.matchAll(/<hx-partial hx-target="\[data-live=([a-z]+)\]">/g)].map(([, part]) => part)

test('a page gets the regions that differ from those it has, and nothing where none does', async () => {
  const before = await (await get(path)).text()
  const none = await get(`${path}?${asksFor(before)}`)
  assert.deepEqual([none.status, await none.text()], [204, ''])
  await orchard.queue(orchard.pulls[1] ?? '')
  const some = await get(`${path}?${asksFor(before)}`)
  assert.equal(some.status, 200)
  assert.match(String(some.headers.get('vary')), /Cookie/)
  const html = await some.text()
  const parts = swapped(html)
  assert.ok(parts.includes('waiting') && !parts.includes('landed') && !parts.includes('ejected'), String(parts))
  assert.match(html, /<span class="cue">new<\/span>/)
})

test('a list that did not change says what moved since it was last sent, however many versions ago', async () => {
  const before = await (await get(path)).text()
  const seen = / data-with="(seen=\d+)"/.exec(before)?.[1]
  for (let n = 0; n < 3; n++) {
    await orchard.write(madeUp.author, 'dev.knotless.pull', orchard.key(), {
      repo: orchard.repo,
      branch: 'main',
      head: { repo: orchard.repo, branch: `odd-${n}` },
      title: `Odd ${n}`,
    })
    await get(path)
  }
  await orchard.queue(orchard.pulls[2] ?? '')
  const html = await (await get(`${path}?have=waiting.&${seen}`)).text()
  assert.equal(html.match(/<span class="cue">new<\/span>/g)?.length, 1)
})

test('every reader who is signed out and asks the same gets the same bytes, made for all of them', async () => {
  const { renderer } = server.context
  let made = 0
  const { renderChanges } = renderer
  renderer.renderChanges = (...asked) => {
    made += 1
    return renderChanges(...asked)
  }
  try {
    const answers = await Promise.all(Array.from({ length: 20 }, () => get(`${path}?have=news.,waiting.&seen=1`).then(each => each.text())))
    // What was made is good for a second, which is over soon on a machine under load.
    assert.ok(new Set(answers).size <= made)
    assert.ok(made < 10, `made ${made} times`)
    made = 0
    await orchard.queue(orchard.pulls[3] ?? '')
    assert.notEqual(await (await get(`${path}?have=news.,waiting.&seen=1`)).text(), answers[0])
    assert.equal(made, 1)
    // Who brings a cookie may be somebody, and gets nothing that was made for nobody.
    made = 0
    await (await get(`${path}?have=news.,waiting.&seen=1`, { cookie: 'who=somebody' })).text()
    assert.equal(made, 1)
  } finally {
    renderer.renderChanges = renderChanges
  }
})

test('the list of repositories is made once for all who follow it, and anew when one of them changes', async () => {
  const { renderer, sessions, cookies } = server.context
  const { have } = Object.fromEntries(new URLSearchParams(asksFor(await (await get('/')).text())))
  let made = 0
  const { renderChanges } = renderer
  renderer.renderChanges = (...asked) => {
    made += 1
    return renderChanges(...asked)
  }
  const ask = () => get(`/?have=${have}`).then(each => each.text())
  try {
    const about = { repo: orchard.repo, branch: 'main', head: { repo: orchard.repo, branch: 'topic-1' }, title: 'Once' }
    for (let n = 0; n < 3; n++) {
      await orchard.queue(await orchard.write(madeUp.author, 'dev.knotless.pull', orchard.key(), about))
      const length = server.context.repositories.viewOf(orchard.repo)?.view.branches.get('main')?.queue.length
      made = 0
      const answers = await Promise.all(Array.from({ length: 20 }, ask))
      // What was made is good for a second, which is over soon on a machine under load.
      assert.ok(made > 0 && made < 10, `made ${made} times`)
      for (const each of answers) assert.match(each, new RegExp(` ${length} queued`), 'of before the change')
    }
    // Whoever is logged in and has none of them gets what everybody gets; who has one, their own.
    const cookieOf = async (name: Parameters<typeof did>[0]) => {
      const account = parseDid(did(name))
      assert.ok(account)
      return { cookie: `${cookies.session}=${(await sessions.begin({ did: account }, undefined)).id}` }
    }
    const [stranger, owner] = [await cookieOf('mallory'), await cookieOf('alice')]
    const asks = (headers: Record<string, string>, more = '') => get(`/?have=${have}${more}`, headers).then(each => each.text())
    made = 0
    const answers = await Promise.all(Array.from({ length: 20 }, () => asks(stranger)))
    assert.ok(made < 10, `made ${made} times`)
    for (const each of answers) assert.doesNotMatch(each, />yours</)
    assert.match(await asks(owner), />yours</)
    assert.match(await asks(stranger, '&mine=1'), /None of yours/)
  } finally {
    renderer.renderChanges = renderChanges
  }
})

test('who is logged in and has no part in a repository gets of its queue what everybody gets; who has one, their own', async () => {
  const { renderer, sessions, cookies } = server.context
  const cookieOf = async (name: Parameters<typeof did>[0]) => {
    const account = parseDid(did(name))
    assert.ok(account)
    return { cookie: `${cookies.session}=${(await sessions.begin({ did: account }, undefined)).id}` }
  }
  const [stranger, author] = [await cookieOf('mallory'), await cookieOf('carol')]
  const ask = (headers: Record<string, string>, more = '') =>
    get(`${path}?have=news.,waiting.&seen=1${more}`, headers).then(each => each.text())
  let made = 0
  const { renderChanges } = renderer
  renderer.renderChanges = (...asked) => {
    made += 1
    return renderChanges(...asked)
  }
  try {
    const answers = await Promise.all([...Array.from({ length: 20 }, () => ask(stranger)), ask({})])
    // What was made is good for a second, which is over soon on a machine under load.
    assert.ok(new Set(answers).size <= made + 1 && made < 10, `made ${made} times`)
    assert.doesNotMatch(answers[0] ?? '', /class="mine"|_csrf|>yours</)
    assert.match(await ask(author), />yours</)
    made = 0
    await ask(stranger, '&mine=1')
    assert.equal(made, 1, 'what is asked of oneself is one’s own')
  } finally {
    renderer.renderChanges = renderChanges
  }
})

test('whose pull was in a batch and was closed meanwhile has it marked as their own, also in what changed', async () => {
  const [erin, tip] = [parseDid(did('erin')), 'e'.repeat(40)]
  assert.ok(erin)
  const headers = { cookie: `${server.context.cookies.session}=${(await server.context.sessions.begin({ did: erin }, undefined)).id}` }
  const { repo } = orchard
  const about = { repo, branch: 'main', head: { repo, branch: 'topic-0' }, title: 'Of Erin' }
  const pull = await orchard.write(erin, 'dev.knotless.pull', orchard.key(), about)
  await orchard.queue(pull)
  await orchard.write(madeUp.runner, 'dev.knotless.check', 'queue:erin', {
    repo,
    workflow: 'test',
    status: 'running',
    ref: 'refs/heads/main',
    generation: 1,
    commit: tip,
    baseCommit: '1'.padStart(40, '0'),
    trusted: true,
    isolated: true,
    queue: 'first',
    batch: [{ pull, head: '2'.padStart(40, '0'), commit: tip }],
  })
  await orchard.write(erin, 'dev.knotless.state', orchard.key(), { repo, subject: pull, state: 'closed' })
  const batch = `/alice.test/orchard/batches/${tip}`
  assert.match(await (await get(batch, headers)).text(), />yours</)
  assert.match(await (await get(`${batch}?have=stack.`, headers)).text(), />yours</)
})

test('what is answered from what was kept has the headers that it was made with', async () => {
  const asked = `${path}?have=news.,waiting.,flight.&seen=1`
  const said = async (answer: Response) => {
    await answer.text()
    return [...answer.headers].filter(([name]) => name !== 'date' && name !== 'keep-alive').map(each => each.join(': '))
  }
  // What was made is good for a second, which may be over on a machine under load.
  const answers = await Promise.all(Array.from({ length: 10 }, () => get(asked).then(said)))
  for (const each of answers) assert.deepEqual(each, answers[0])
})

test('the stream says at once what is of another version than the reader has, and only that', async () => {
  const version = versionOf(server.context.database, orchard.repo)
  const first = async (topic: string) => {
    const answer = await get(`/events?of=${encodeURIComponent(topic)}`)
    assert.equal(answer.status, 200)
    assert.match(String(answer.headers.get('content-security-policy')), /default-src 'none'/)
    const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    while (reader !== undefined && !/event: changed\ndata: \S+\n\n$/.test(text) && !(topic.endsWith(`@${version}`) && text !== ''))
      text += (await reader.read()).value ?? ''
    await reader?.cancel()
    return text
  }
  assert.match(
    await first(`${orchard.repo}@1`),
    new RegExp(`^event: beat\ndata:\n\nid: ${version}\nevent: changed\ndata: ${orchard.repo}@${version}\n\n$`),
  )
  assert.doesNotMatch(await first(`${orchard.repo}@${version}`), /changed/)
})

test('the lists of repositories and of pulls, and the figures, follow the records too', async () => {
  const version = () => versionOf(server.context.database, orchard.repo)
  for (const [page, part] of [
    ['/', 'repos'],
    ['/alice.test/orchard', 'queues'],
    ['/alice.test/orchard', 'pulls'],
    ['/alice.test/orchard/stats', 'figures'],
  ] as const) {
    const html = await (await get(page)).text()
    assert.match(html, new RegExp(` data-stream="/events\\?[^"]*of=${encodeURIComponent(`${orchard.repo}@${version()}`)}"`), page)
    const { have } = Object.fromEntries(new URLSearchParams(asksFor(html)))
    assert.equal((await get(`${page}?have=${have}`)).status, 204, page)
    const head = { repo: orchard.repo, branch: 'topic-0' }
    const about = { repo: orchard.repo, branch: 'main', head, title: `For ${part}` }
    const pull = await orchard.write(madeUp.author, 'dev.knotless.pull', orchard.key(), about)
    await orchard.queue(pull)
    const ejected = { repo: orchard.repo, subject: pull, state: 'ejected', kind: 'checks', reason: 'Its checks failed.' }
    if (part === 'figures') await orchard.write(madeUp.runner, 'dev.knotless.queue', orchard.key(), ejected)
    const changed = await (await get(`${page}?have=${have}`)).text()
    assert.ok(swapped(changed).includes(part), `${page} ${part} ${swapped(changed)}`)
    assert.doesNotMatch(changed, /have=/, 'links lead to pages')
  }
})

test('who asks for regions that a page has not, or for nonsense, breaks nothing', async () => {
  const page = '/alice.test/orchard'
  const every = 'day.x,plots.x,figures.,retried.'
  for (const asked of [`/stats?have=${every}`, `/stats?day=2026-99-99&have=${every}`, '?have=__proto__.x,constructor.', '?have=,.,..'])
    assert.ok((await get(`${page}${asked}`)).status < 300, asked)
})

test('what cannot be watched has no stream', async () => {
  assert.equal((await get('/events')).status, 400)
  assert.equal((await get(`/events?${'of=x&'.repeat(30)}of=x`)).status, 400)
  for (const topic of ['x', orchard.repo, `${orchard.repo}@`, `${orchard.repo}@x`, `at://${madeUp.author}/app.bsky.feed.post/3k@1`, '@1'])
    assert.equal((await get(`/events?of=${encodeURIComponent(topic)}`)).status, 404, topic)
})

test('a repository with the longest address that there is can be watched', async () => {
  const ends = new AbortController()
  const topic = `at://did:web:${'a'.repeat(245)}/dev.knotless.repo/${'n'.repeat(512)}@1`
  const closed = new Promise(resolve => server.app.server.once('request', (_, response) => response.once('close', resolve)))
  assert.equal((await fetch(`${server.url}/events?of=${encodeURIComponent(topic)}`, { signal: ends.signal })).status, 200)
  ends.abort()
  await closed
})

test('one address has so many streams and no more, and is told when to ask again', async () => {
  const ends = new AbortController()
  const topic = `/events?of=${encodeURIComponent(`${orchard.repo}@1`)}`
  const answers = await Promise.all(Array.from({ length: 21 }, () => fetch(server.url + topic, { signal: ends.signal })))
  const refused = answers.filter(answer => answer.status !== 200)
  assert.deepEqual(
    refused.map(answer => [answer.status, answer.headers.get('retry-after')]),
    [[429, '30']],
  )
  ends.abort()
})
