import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { parseNsid } from '../../src/atproto/ids.ts'
import { verifyServiceAuth } from '../../src/atproto/service-auth.ts'
import { UpstreamError } from '../../src/atproto/upstream-error.ts'
import { giveDelegation } from '../../src/devnet/give-delegation.ts'
import { createAppview } from '../../src/runner/appview.ts'
import { reportCalls } from '../../src/runner/reads/report-calls.ts'
import { type HttpServer, serveHttp } from '../support/http-server.ts'
import { until } from '../support/until.ts'
import { awayAppview, key, type ReadsWorld, startReadsWorld } from './reads/support.ts'

describe('the server beside a runner', { timeout: 120_000 }, () => {
  let world: ReadsWorld
  let now = Date.now()
  before(async () => {
    world = await startReadsWorld()
  })
  after(() => world.end())

  /** The server as a runner knows it, and the size of each of its answers. */
  function known(url = world.server.url, account = world.people.rigby) {
    const answers: { path: string; bytes: number }[] = []
    /** Paths at which it answers with 500. */
    const broken = new Set<string>()
    const counted: typeof fetch = async (input, init) => {
      if (broken.has(new URL(String(input)).pathname)) return new Response('', { status: 500 })
      const answer = await fetch(input, init)
      const bytes = await answer.arrayBuffer()
      answers.push({ path: new URL(String(input)).pathname, bytes: bytes.byteLength })
      return new Response(bytes, { status: answer.status, headers: answer.headers })
    }
    return { appview: createAppview({ url, writer: account.writer, fetch: counted, now: () => now }), answers, broken }
  }

  test('WHO-6 the gateway is the DID that the document at the address names, whatever name the address has', async () => {
    const port = new URL(world.server.url).port
    const { appview, answers } = known(`http://localhost:${port}/`)
    assert.equal(await appview.did(), world.server.context.config.did)
    assert.equal(await appview.did(), world.server.context.config.did)
    assert.equal(answers.length, 1, 'and is remembered')
    assert.equal(appview.url, `http://localhost:${port}`)
  })

  test('NOT-1 what the index has; a version that has not changed costs one small answer', async () => {
    const { alice, rigby } = world.people
    const repo = await world.orchard('facts')
    const { appview, answers } = known()
    const pull = await repo.openPull({ branch: 'plum', files: { 'plum.txt': '1\n' } })
    const entry = await world.queue(alice, repo.uri, pull.uri)
    await world.indexed(entry.uri)
    const issue = await alice.create('dev.knotless.issue', { repo: repo.uri, title: 'Wormy', createdAt: new Date().toISOString() }, key())
    await world.indexed(issue.uri)
    const facts = await appview.facts(repo.uri)
    assert.deepEqual(
      [facts?.repo.uri, facts?.pulls.map(one => one.uri), facts?.queue.map(one => one.uri)],
      [repo.uri, [pull.uri], [entry.uri]],
    )
    assert.deepEqual(await appview.issues(repo.uri), [issue.uri])
    answers.length = 0
    assert.equal(await appview.facts(repo.uri), facts, 'the very same facts')
    assert.equal(answers.length, 1)
    assert.ok((answers[0]?.bytes ?? 0) < 200, `${answers[0]?.bytes} bytes`)
    const left = await world.queue(rigby, repo.uri, pull.uri, { state: 'ejected' })
    await world.indexed(left.uri)
    assert.deepEqual((await appview.facts(repo.uri))?.queue.length, 2)
    assert.equal(await appview.facts(`at://${alice.did}/dev.knotless.repo/nothing`), undefined)
  })

  test('GWY-8 whether the owner delegated, as the merge status says; nothing where the repository names another gateway, or has no pull', async () => {
    const { alice, bob } = world.people
    const repo = await world.orchard('delegated')
    const { appview, broken } = known()
    assert.equal(await appview.delegated(repo.uri), undefined)
    await repo.openPull({ branch: 'plum', files: { 'plum.txt': '1\n' } })
    const told = async () => {
      now += 10_000
      await appview.facts(repo.uri)
      return await appview.delegated(repo.uri)
    }
    assert.equal(await told(), false)
    broken.add('/xrpc/dev.knotless.getMergeStatus')
    assert.equal(await told(), false, 'what it said last stands while it does not answer, and no pass fails for it')
    broken.clear()
    await giveDelegation(world.server.url, alice)
    await until(async () => (await told()) === true, { what: 'the delegation' })
    await repo.edit({ gateway: bob.did })
    await until(async () => (await told()) === undefined, { what: 'the other gateway' })
  })

  test('GWY-10 a token for one push, for this server and this method alone, for less than 5 minutes', async () => {
    now = Date.now()
    const { appview } = known()
    const made = await appview.pushToken()
    assert.ok(made.ok)
    const { config, identity } = world.server.context
    const lxm = parseNsid('dev.knotless.gitPush')
    assert.ok(lxm !== undefined)
    const judged = await verifyServiceAuth({ serverDid: config.did, identity, now: Date.now }, made.token, { lxm })
    assert.ok(judged.ok && judged.did === world.people.rigby.did && judged.jti !== undefined)
    assert.ok(judged.exp * 1000 - Date.now() <= 240_000)
    const away = await awayAppview(world.people.rigby.writer).pushToken()
    assert.equal(away.ok, false)
  })

  test('STA-4 a pass is reported, with pieces of logs; who may not is told so, and so is who finds nobody', async () => {
    const repo = await world.orchard('reported')
    const check = `at://${world.people.rigby.did}/dev.knotless.check/${key()}`
    const pass = {
      repo: repo.uri,
      passedAt: Date.now(),
      nextBy: Date.now() + 60_000,
      waitsFor: ['one thing'],
      logs: [{ check, offset: 0, text: 'hello\n' }],
    }
    assert.equal(await known().appview.report(pass), true)
    assert.equal(await known(world.server.url, world.people.mallory).appview.report(pass), false)
    assert.equal(await awayAppview(world.people.rigby.writer).report(pass), false)
  })

  test('REC-3 what an index says is held against the lexicons; one version, however it is cut; changed meanwhile, it is begun again', async () => {
    const did = world.people.alice.did
    const uri = `at://${did}/dev.knotless.repo/odd` as const
    const createdAt = new Date().toISOString()
    const wrap = (at: string, value: Record<string, unknown>) => ({
      uri: at,
      cid: 'bafyreib2rxk3rh6kzwq',
      seenAt: createdAt,
      backfilled: false,
      value,
    })
    const repo = wrap(uri, { $type: 'dev.knotless.repo', defaultBranch: 'main', collaborators: [], runners: [], createdAt })
    const entry = (rkey: string, fields: Record<string, unknown>) =>
      wrap(`at://${did}/dev.knotless.queue/${rkey}`, {
        $type: 'dev.knotless.queue',
        repo: uri,
        subject: `at://${did}/dev.knotless.pull/${key()}`,
        state: 'queued',
        createdAt,
        ...fields,
      })
    const good = entry(key(), {})
    const bad = [entry('no-tid', {}), entry(key(), { subject: 'a pull' }), entry(key(), { head: 'zz' }), 'nothing', { uri: 'at://x' }]
    const pages: unknown[] = [
      { version: '1', records: [repo], cursor: 'a' },
      { version: '2', records: [], cursor: 'b' },
      { version: '2', records: [repo, ...bad], cursor: 'c' },
      { version: '2', records: [good], gone: [{ did }] },
    ]
    const server = await answering(() => ({ status: 200, body: JSON.stringify(pages.shift()) }))
    const { appview } = known(server.url)
    const facts = await appview.facts(uri)
    assert.deepEqual(
      facts?.queue.map(record => record.uri),
      [good.uri],
    )
    assert.deepEqual([...(facts?.gone ?? [])], [did])
    await server.close()
  })

  test('NOT-1 an index that answers nonsense, refuses, points elsewhere or never ends is an error of its own kind', async () => {
    const uri = `at://${world.people.alice.did}/dev.knotless.repo/odd` as const
    const answers: { status: number; body: string; location?: string }[] = [
      { status: 200, body: 'no JSON' },
      { status: 200, body: '{"records": 1}' },
      { status: 200, body: '{"version": "1", "records": []}' },
      { status: 500, body: '{}' },
      { status: 429, body: '{}' },
      { status: 302, body: '', location: 'http://127.0.0.1:9/' },
    ]
    for (const answer of answers) {
      const server = await answering(() => answer)
      await assert.rejects(known(server.url).appview.facts(uri), UpstreamError, answer.body)
      await server.close()
    }
    let n = 0
    const endless = await answering(() => ({ status: 200, body: JSON.stringify({ version: '1', records: [], cursor: `${n++}` }) }))
    await assert.rejects(known(endless.url).appview.facts(uri), UpstreamError)
    await endless.close()
  })

  test('STA-4 a report is cut to what the server takes', () => {
    const text = `${'é'.repeat(100_000)}\u001b`
    const calls = reportCalls({
      repo: `at://${world.people.alice.did}/dev.knotless.repo/odd`,
      passedAt: 0,
      nextBy: 1,
      waitsFor: Array.from({ length: 30 }, () => 'ü'.repeat(900)),
      logs: Array.from({ length: 20 }, (_, at) => ({ check: `at://check/${at}`, offset: 5, text })),
    })
    const inputs = calls.map(call => JSON.parse(call))
    assert.ok(calls.every(call => Buffer.byteLength(call) < 2 ** 20))
    assert.equal(inputs[0].waitsFor.length, 20)
    assert.ok(inputs[0].waitsFor.every((reason: { text: string }) => Buffer.byteLength(reason.text) <= 1_000))
    const pieces = inputs.flatMap(input => input.logs ?? [])
    assert.ok(pieces.every(piece => Buffer.byteLength(piece.text) <= 65_536))
    const first = pieces.filter(piece => piece.check === 'at://check/0')
    assert.equal(first.map(piece => piece.text).join(''), text)
    let at = 5
    for (const piece of first) {
      assert.equal(piece.offset, at)
      at += Buffer.byteLength(piece.text)
    }
    assert.ok(inputs.every((input, n) => (n === 0) === (input.passedAt !== undefined)))
  })
})

function answering(answer: () => { status: number; body: string; location?: string }): Promise<HttpServer> {
  return serveHttp((_request, response) => {
    const { status, body, location } = answer()
    response.writeHead(status, { 'content-type': 'application/json', ...(location === undefined ? {} : { location }) }).end(body)
  })
}
