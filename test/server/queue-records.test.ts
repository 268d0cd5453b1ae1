import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { z } from 'zod'
import { dev } from '../../src/lexicons/index.ts'
import { madeUp, type Orchard, plantOrchard } from './orchard.ts'
import { type Served, serve } from './serve.ts'

let server: Served
let orchard: Orchard
before(async () => {
  server = await serve()
  orchard = await plantOrchard(server.context, { handles: { [madeUp.owner]: 'alice.test' } })
  for (const pull of orchard.pulls) await orchard.queue(pull)
})
after(async () => {
  await orchard?.stop()
  await server?.end()
})

async function ask(params: Record<string, string>) {
  const answer = await fetch(`${server.url}/xrpc/dev.knotless.getQueueRecords?${new URLSearchParams(params)}`)
  return { status: answer.status, body: z.record(z.string(), z.unknown()).parse(await answer.json()) }
}

async function read(params: Record<string, string>) {
  const { status, body } = await ask(params)
  assert.equal(status, 200, JSON.stringify(body))
  return dev.knotless.getQueueRecords.main.output.schema.parse(body)
}

test('NOT-1 the index’s records about a repository, as they were written, with when each was first seen', async () => {
  const { repo, pulls } = orchard
  const state = await orchard.write(madeUp.owner, 'dev.knotless.state', orchard.key(), { repo, subject: pulls[2] ?? '', state: 'open' })
  const lander = await orchard.write(madeUp.runner, 'dev.knotless.lander', 'digest', {
    repo,
    batch: 8,
    depth: 2,
    startedAt: new Date().toISOString(),
  })
  const queued = await orchard.write(madeUp.owner, 'dev.knotless.queue', orchard.key(), {
    repo,
    subject: pulls[0] ?? '',
    state: 'queued',
    ofAnotherProgram: { kept: true },
  })
  const answer = await read({ repo })
  const uris: string[] = answer.records.map(record => record.uri)
  for (const uri of [repo, ...pulls.slice(0, 2), state, lander, queued]) assert(uris.includes(uri), uri)
  assert.equal(new Set(uris).size, uris.length)
  const found = answer.records.find(record => record.uri === queued)
  assert.deepEqual(found?.value.ofAnotherProgram, { kept: true })
  assert.equal(found?.value.$type, 'dev.knotless.queue')
  assert.equal(found?.backfilled, false)
  assert(Math.abs(Date.parse(found?.seenAt ?? '') - Date.now()) < 60_000)
  assert.deepEqual(answer.gone, [])
  assert.equal(answer.cursor, undefined)
})

test('LND-6 issues that are open are told of, until somebody whose word counts has closed them', async () => {
  const { repo } = orchard
  const [one, other] = [orchard.key(), orchard.key()]
  const open = await orchard.write(madeUp.owner, 'dev.knotless.issue', one, { repo, title: 'Worms' })
  const closed = await orchard.write(madeUp.owner, 'dev.knotless.issue', other, { repo, title: 'Wasps' })
  await orchard.write(madeUp.runner, 'dev.knotless.state', orchard.key(), { repo, subject: closed, state: 'closed' })
  const page = await read({ repo, limit: '1' })
  assert.deepEqual(page.issues, [{ uri: open }])
  assert.equal((await read({ repo, limit: '1', cursor: page.cursor ?? '' })).issues, undefined)
})

test('HON-2 a stranger’s records are not among them', async () => {
  const stranger = 'did:plc:malloryaaaaaaaaaaaaaaaaa'
  const { repo, pulls } = orchard
  const uri = await orchard.write(stranger, 'dev.knotless.queue', orchard.key(), { repo, subject: pulls[0] ?? '', state: 'left' })
  assert(!(await read({ repo })).records.some(record => record.uri === uri))
})

test('who has the present version is told so, until something changes', async () => {
  const { repo } = orchard
  const { version } = await read({ repo })
  const again = await read({ repo, since: version })
  assert.deepEqual(again, { version, unchanged: true, records: [] })
  assert.notEqual((await read({ repo, since: 'of-another-index' })).unchanged, true)
  await orchard.queue(orchard.pulls[1] ?? '')
  const changed = await read({ repo, since: version })
  assert.notEqual(changed.version, version)
  assert(changed.records.length > 0)
})

test('pages are of one version: every record once, and a cursor of an earlier version is refused by name', async () => {
  const { repo } = orchard
  const whole = await read({ repo })
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const page = await read({ repo, limit: '2', ...(cursor === undefined ? {} : { cursor }) })
    assert.equal(page.version, whole.version)
    assert(page.records.length <= 2)
    seen.push(...page.records.map(record => record.uri))
    cursor = page.cursor
  } while (cursor !== undefined)
  assert.deepEqual(
    seen,
    whole.records.map(record => record.uri),
  )
  const first = await read({ repo, limit: '2' })
  await orchard.queue(orchard.pulls[0] ?? '')
  for (const stale of [first.cursor ?? '', 'x', `${whole.version}.-1`, `${whole.version}.99999999999`]) {
    const { status, body } = await ask({ repo, cursor: stale })
    assert.deepEqual([status, body.error], [400, 'VersionChanged'], stale)
  }
})

test('QUE-2 accounts that are gone are named', async () => {
  await server.context.indexer.stop()
  server.context.database.sqlite.prepare(`insert or replace into account (did, status) values (?, 'deleted')`).run(madeUp.author)
  await orchard.queue(orchard.pulls[0] ?? '')
  assert.deepEqual((await read({ repo: orchard.repo })).gone, [{ did: madeUp.author }])
})

test('a repository that is not known is refused by name; an owner may be named by handle', async () => {
  for (const repo of [
    'at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/dev.knotless.repo/x',
    'at://nobody.test/dev.knotless.repo/x',
    orchard.pulls[0] ?? '',
  ]) {
    const { status, body } = await ask({ repo })
    assert.deepEqual([status, body.error], [400, 'RepoNotFound'], repo)
  }
  assert.equal((await ask({ repo: 'at://alice.test/dev.knotless.repo/orchard' })).status, 200)
  for (const wrong of [{ limit: '0' }, { limit: '1001' }, { since: 'x'.repeat(65) }, { cursor: 'x'.repeat(300) }]) {
    assert.equal((await ask({ repo: orchard.repo, ...wrong })).body.error, 'InvalidRequest')
  }
})

test('1,000 queued pulls are sent quickly, and at once when nothing has changed', async () => {
  const big = await plantOrchard(server.context, { name: 'big', count: 1_000 })
  try {
    for (const pull of big.pulls) await big.queue(pull)
    const began = performance.now()
    const first = await read({ repo: big.repo, limit: '1000' })
    const rest: number[] = []
    for (let cursor = first.cursor; cursor !== undefined; ) {
      const page = await read({ repo: big.repo, limit: '1000', cursor })
      rest.push(page.records.length)
      cursor = page.cursor
    }
    const took = performance.now() - began
    assert.equal(first.records.length + rest.reduce((all, n) => all + n, 0), 2_001)
    assert(took < 2_000, `${took} ms`)
    const since = performance.now()
    for (let n = 0; n < 20; n++) await read({ repo: big.repo, since: first.version })
    const each = (performance.now() - since) / 20
    assert(each < 50, `${each} ms`)
    if (process.env.KNOTLESS_MEASURE) console.log({ took, each })
  } finally {
    await big.stop()
  }
})
