import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { DevAccount } from '../../src/devnet/account.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { checkAt } from '../../src/indexer/read.ts'
import { logLines } from '../../src/server/logs/lines.ts'
import { logModel, readLog } from '../../src/server/pages/check-log.ts'
import { createLiveLogs } from '../../src/server/passes/live-logs.ts'
import { until } from '../support/until.ts'
import { type Orchard, plantOrchard } from './orchard.ts'
import { type Served, serve } from './serve.ts'

let network: Network
let server: Served
let orchard: Orchard
let rigby: DevAccount
let mallory: DevAccount

before(async () => {
  network = await startNetwork()
  rigby = await network.createAccount('rigby.test')
  mallory = await network.createAccount('mallory.test')
  server = await serve(network)
  const alice = await network.createAccount('alice.test')
  const others = { owner: alice.did, collaborator: 'did:plc:bobaaaaaaaaaaaaaaaaaaaaa' }
  orchard = await plantOrchard(server.context, {
    people: { ...others, author: mallory.did, runner: rigby.did },
    handles: { [others.owner]: 'alice.test' },
  })
})
after(async () => {
  await orchard?.stop()
  await server?.end()
  await network?.stop()
})

const tip = '1'.repeat(40)

/** Files a run in an account, with its log in as many parts; gives its address once the server knows it as it is. */
async function file(key: string, record: Record<string, unknown>, log: readonly Uint8Array[] = [], account = rigby): Promise<string> {
  const parts = []
  for (const part of log) parts.push(await account.upload(part, 'application/gzip'))
  const value = {
    repo: orchard.repo,
    workflow: 'test',
    status: 'failure',
    ref: 'refs/heads/main',
    generation: 1,
    commit: tip,
    baseCommit: '2'.repeat(40),
    startedAt: new Date(Date.now() - 60_000).toISOString(),
    createdAt: new Date(Date.now() - 60_000).toISOString(),
    ...(parts.length === 0 ? {} : { log: parts }),
    ...record,
  }
  const { uri, cid } = await account.put('dev.knotless.check', key, value)
  await until(() => checkAt(server.context.database, uri)?.cid === cid, { what: `${uri} to be indexed` })
  return uri
}

async function page(key: string, rest = '', account = rigby) {
  const answer = await fetch(`${server.url}/alice.test/orchard/checks/${account.did}/${key}${rest}`)
  return { status: answer.status, type: answer.headers.get('content-type'), text: await answer.text() }
}

test('the page of a run shows its log, from its runner’s account, escaped', async () => {
  const ended = { finishedAt: new Date().toISOString(), summary: 'Failed after 1 min, with exit code 1: npm test' }
  await file('queue:a:b:c', ended, [gzipSync('$ npm test\n\u001b[31m✗ <b>two</b> failed\u001b[0m\n')])
  const { status, text } = await page('queue:a:b:c')
  assert.equal(status, 200)
  assert.match(text, /<b>Failed<\/b><bdi> after 1 min, with exit code 1: npm test<\/bdi>/)
  assert.match(
    text,
    /<span id="L2"><a href="#L2" aria-label="Line 2">2<\/a><span><span class="r">✗ &lt;b&gt;two&lt;\/b&gt; failed<\/span>\n/,
  )
  assert.doesNotMatch(text, /data-stream/, 'it will not change')
})

test('STO-5 the log as text, whatever its server took it for; parts in order', async () => {
  await file('queue:parts', {}, [gzipSync('<html>one\n'), gzipSync('two\n')])
  const { status, type, text } = await page('queue:parts', '/log')
  assert.deepEqual([status, type, text], [200, 'text/plain; charset=utf-8', '<html>one\ntwo\n'])
})

test('the text of a log is compressed on its way for whoever takes that, and not even begun for who asks for its head only', async () => {
  const text = Array.from({ length: 50_000 }, (_, n) => `line ${n + 1}`).join('\n')
  await file('queue:text', {}, [gzipSync(text)])
  const url = `${server.url}/alice.test/orchard/checks/${rigby.did}/queue:text/log`
  for (const encoding of ['br', 'gzip', 'identity']) {
    const answer = await fetch(url, { headers: { 'accept-encoding': encoding } })
    assert.equal(answer.headers.get('content-encoding'), encoding === 'identity' ? null : encoding)
    assert.match(answer.headers.get('vary') ?? '', /Accept-Encoding/)
    assert.equal(await answer.text(), `${text}\n`)
  }
  const head = await fetch(url, { method: 'HEAD' })
  assert.deepEqual([head.status, head.headers.get('content-type')], [200, 'text/plain; charset=utf-8'])
})

test('CHK-13 of a long log the end is shown first, the rest by pages', async () => {
  const lines = Array.from({ length: 4_500 }, (_, n) => `line ${n + 1}`)
  await file('queue:long', {}, [gzipSync(lines.join('\n'))])
  const last = (await page('queue:long')).text
  const numbers = [...last.matchAll(/<span id="L(\d+)">/g)].map(([, n]) => Number(n))
  const first = numbers[0] ?? 0
  assert.ok(numbers.length > 400 && numbers.at(-1) === 4_500 && numbers.length === 4_501 - first, `${numbers.length} lines`)
  assert.match(last, new RegExp(`Lines ${first.toLocaleString('en')} to 4,500 of 4,500`))
  const earlier = new RegExp(`href="([^"]+\\?to=${first - 1})"[^>]*>Earlier`).exec(last)?.[1] ?? ''
  const before = (await (await fetch(`${server.url}${earlier}`)).text()) ?? ''
  assert.match(before, new RegExp(`<span id="L${first - 1}">`))
  assert.doesNotMatch(before, new RegExp(`<span id="L${first}">`))
  assert.match(before, />Later</)
  assert.equal((await page('queue:long', '?from=0')).status, 400)
  assert.equal((await page('queue:long', '?to=0')).status, 400)
  assert.match((await page('queue:long', '?to=99999')).text, /<span id="L4500">/)
  assert.match((await page('queue:long', '?from=99999')).text, /<span id="L4500">/)
})

test('the page of a log is light, whatever was printed and however much of it failed', async () => {
  const letters = (n: number) => createHash('sha512').update(`${n}`).digest('base64')
  const random = Array.from({ length: 3_000 }, (_, n) => letters(n).repeat(1 + (n % 40 === 0 ? 60 : 0)))
  const coloured = Array.from(
    { length: 3_000 },
    (_, n) => `\u001b[3${1 + (n % 6)}m✓\u001b[0m ${letters(n).slice(0, 6)} passed (${n % 97} ms)`,
  )
  const failure = (n: number) => `<testcase name="t${n}"><failure message="m${n}">${letters(n).repeat(30)}</failure></testcase>`
  const failing = `<testsuite>${Array.from({ length: 90 }, (_, n) => failure(n)).join('')}</testsuite>`
  const report = await rigby.upload(Buffer.from(failing), 'application/xml')
  const motley = Array.from({ length: 60 }, (_, n) =>
    [...letters(n).repeat(20)].map((letter, at) => `\u001b[3${1 + ((n + at * at) % 6)}m${letter}`).join(''),
  )
  const many = (n: number, of: number) => Array.from({ length: of }, (_, at) => letters(n * of + at)).join('')
  // Of a line that is written over, what it was at its end is shown.
  const rewritten = Array.from({ length: 90 }, (_, n) => `${'.'.repeat(4_000)}\r${many(n, 18)}`)
  for (const [key, lines, least] of [
    ['random', random, 50],
    ['coloured', coloured, 300],
    ['motley', motley, 1],
    ['rewritten', rewritten, 1],
  ] as const) {
    await file(`queue:${key}`, { report }, [gzipSync(lines.join('\n'))])
    for (const rest of ['', '?from=1', '?from=1500']) {
      const { text } = await page(`queue:${key}`, rest)
      assert.match(text, /<details/)
      // Of 60 kB in all, what all pages share has 34.
      const weight = brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }).length
      assert.ok(weight < 26_000, `${key}${rest} ${weight}`)
      const { length } = [...text.matchAll(/<span id="L\d+"/g)]
      assert.ok(length >= least, `${key} ${length} lines`)
    }
  }
})

test('Earlier leads through all of a log, and Later too, however much its lines differ', async () => {
  const letters = (n: number) =>
    createHash('sha512')
      .update(`${n}`)
      .digest('base64')
      .repeat(Math.abs(n % 9))
  const lines = Array.from({ length: 1_800 }, (_, n) =>
    n > 600 && n < 700 ? `${letters(n)}${letters(-n)}` : n % 50 === 0 ? '' : `line ${n + 1}`,
  )
  await file('queue:uneven', {}, [gzipSync(lines.join('\n'))])
  for (const [link, start] of [
    ['Earlier', ''],
    ['Later', '?from=1'],
  ]) {
    const seen: number[] = []
    let rest: string | undefined = start
    while (rest !== undefined && seen.length < 5_000) {
      const { text } = await page('queue:uneven', rest)
      const numbers = [...text.matchAll(/<span id="L(\d+)">/g)].map(([, n]) => Number(n))
      seen.splice(link === 'Earlier' ? 0 : seen.length, 0, ...numbers)
      rest = new RegExp(`href="[^"?]+(\\?[^"]+)"[^>]*>${link}`).exec(text)?.[1]
    }
    assert.deepEqual(
      seen,
      lines.map((_, n) => n + 1),
      link,
    )
  }
})

test('a file that is no log says so, and one that breaks off says where', async () => {
  await file('queue:none', {}, [Buffer.from('no gzip at all')])
  const broken = await page('queue:none')
  assert.match(broken.text, /cannot be read: it is not what a log should be/)
  assert.equal((await page('queue:none', '/log')).status, 404)
  const whole = gzipSync(Array.from({ length: 30_000 }, (_, n) => `${(n * 7919) % 10_007}`).join('\n'))
  await file('queue:cut', {}, [whole.subarray(0, whole.length - 200)])
  assert.match((await page('queue:cut')).text, /The log breaks off here: what comes after this cannot be unpacked\./)
})

test('failed tests come first, from the report, each with its line of the log and all of it as text', async () => {
  const failing = `<testsuites><testsuite name="store"><testcase name="passes"/><testcase name="opens &lt;an&gt; orchard" file="src/store.test.ts">
    <failure message="expected 499 to be 500">trace &lt;b&gt;</failure></testcase></testsuite></testsuites>`
  const report = await rigby.upload(Buffer.from(failing), 'application/xml')
  const log = '$ npm test\nFAIL opens <an> orchard\n\u001b[1;31mexpected 499 to be 500\u001b[0m\n'
  const finishedAt = new Date().toISOString()
  const retried = [{ test: 'keeps <its> number' }]
  await file('queue:red', { report, finishedAt, retried, summary: 'Failed after 1 min, with exit code 1: npm test' }, [gzipSync(log)])
  const { text } = await page('queue:red')
  assert.match(text, /<b>Failed<\/b><bdi> after 1 min, with 1 of 2 tests\.<\/bdi>/)
  assert.match(text, /<bdi>With exit code 1: npm test<\/bdi>/)
  assert.match(text, /1 test passed on a retry: keeps &lt;its&gt; number\./)
  assert.match(text, /<h3 class="long" dir="auto">opens &lt;an&gt; orchard<\/h3>/)
  assert.match(text, /<a href="#L2">from line 2<\/a>/)
  assert.match(text, /<code>trace &lt;b&gt;<\/code>/)
  assert.match(text, /<span id="L3" class="bad">.+<span class="r"><b>expected 499 to be 500<\/b><\/span>/)
  assert.match(text, /<span id="L1" class="step">/)
  assert.ok(text.indexOf('id="failed"') < text.indexOf('id="log"'))
})

test('STW-10 what the steward decided on the ground of a run stands on its page; what a stranger decided does not', async () => {
  const [pull = ''] = orchard.pulls
  const uri = await file('pull:decided', { pull, status: 'failure' }, [gzipSync('x\n')])
  const decision = {
    repo: orchard.repo,
    subject: pull,
    ejection: uri,
    head: tip,
    verdict: 'requeue',
    kind: 'flake',
    evidence: [{ uri }],
    attempt: 1,
  }
  await orchard.write(rigby.did, 'dev.knotless.decision', orchard.key(), { ...decision, entry: 'slow-socket' })
  await orchard.write(mallory.did, 'dev.knotless.decision', orchard.key(), { ...decision, entry: 'forged' })
  const { text } = await page('pull:decided')
  assert.match(text, /<p class="decision long">.+ as a flake, 1 of 2 at this head\. .+<code>slow-socket<\/code>/)
  assert.doesNotMatch(text, /forged/)
})

test('of a long log a failed test leads to the page that has its line', async () => {
  const lines = Array.from({ length: 5_000 }, (_, n) => (n === 999 ? 'AssertionError: rotten' : `line ${n + 1}`))
  const failing = '<testsuite><testcase name="early"><failure message="AssertionError: rotten"/></testcase></testsuite>'
  const report = await rigby.upload(Buffer.from(failing), 'application/xml')
  await file('queue:early', { report }, [gzipSync(lines.join('\n'))])
  const href = /href="([^"]+\?from=900#L1000)"/.exec((await page('queue:early')).text)?.[1] ?? ''
  assert.match(await (await fetch(`${server.url}${href}`)).text(), /<span id="L1000" class="bad">/)
})

test('a report that is hostile, no report, or gone is said, and never in the way of the log', async () => {
  const bomb = '<!DOCTYPE lolz [<!ENTITY lol "lol">]><testsuite><testcase name="&lol;"/></testsuite>'
  for (const [key, blob] of [
    ['bomb', bomb],
    ['text', 'no XML'],
  ] as const) {
    const report = await rigby.upload(Buffer.from(blob), 'application/xml')
    await file(`queue:${key}`, { report }, [gzipSync('the log\n')])
    const { text } = await page(`queue:${key}`)
    assert.match(text, /Its report cannot be read: it is not JUnit XML, or too long\./)
    assert.match(text, /the log/)
  }
  const report = await rigby.upload(Buffer.from('<testsuite tests="1"><testcase name="x"/></testsuite>'), 'application/xml')
  await file('queue:green', { status: 'success', report, finishedAt: new Date().toISOString() }, [gzipSync('ok\n')])
  const green = (await page('queue:green')).text
  assert.match(green, /<section id="failed"[^>]* hidden>/)
  assert.match(green, /1 test\./)
})

test('CHK-13 output is shown while a run goes on, until its log is there', async () => {
  const uri = await file('queue:live', { status: 'running' })
  const quiet = (await page('queue:live')).text
  assert.match(quiet, /It has printed nothing yet\./)
  const live = /data-stream="(\/events\?[^"]+)"/.exec(quiet)?.[1]?.replaceAll('&amp;', '&') ?? ''
  assert.ok(new URLSearchParams(live.slice('/events?'.length)).getAll('of').includes(`${uri}@0`))
  const stream = await fetch(`${server.url}${live}`)
  const reader = stream.body?.getReader()
  assert.ok(reader)
  await reader.read()
  server.context.liveLogs.add(uri, { offset: 0, text: '$ sh test\none <two>\n' })
  assert.match(new TextDecoder().decode((await reader.read()).value), /event: changed/)
  await reader.cancel()
  const part = (await page('queue:live', '?have=log.')).text
  assert.match(part, /^<hx-partial hx-target="\[data-live=log\]"><section id="log"/)
  assert.match(part, /one &lt;two&gt;/)
  assert.equal((await page('queue:live', '/log')).text, '$ sh test\none <two>\n')

  await file('queue:live', { status: 'success', finishedAt: new Date().toISOString() }, [gzipSync('the whole\n')])
  assert.match((await page('queue:live')).text, /the whole/)
  assert.equal(server.context.liveLogs.of(uri), undefined, 'what was kept of it is dropped')
})

test('a page of a long log does not wait for it, and is told once it is read', async () => {
  const [uri, read] = [await file('queue:reading', {}, [gzipSync('x')]), Promise.withResolvers<void>()]
  const run = checkAt(server.context.database, uri)
  assert.ok(run)
  const liveLogs = createLiveLogs()
  const told: string[] = []
  liveLogs.onGrown(check => told.push(check))
  const logs = { of: async () => ({ ok: false, why: 'reading', lines: 4_000_000, done: read.promise }) as const }
  const ctx = { logs, liveLogs, now: Date.now }
  const model = logModel(ctx, run, await readLog(ctx, run), { path: '/' })
  assert.ok(!model.shown && model.live)
  assert.match(JSON.stringify(model.says), /4,000,000 lines so far/)
  assert.deepEqual(told, [])
  read.resolve()
  await until(() => told.length > 0, { what: 'the page to be told' })
  assert.deepEqual(told, [uri])
})

test('a log that is not uploaded yet, or is no longer there, is said', async () => {
  await file('queue:coming', { finishedAt: new Date().toISOString() })
  assert.match((await page('queue:coming')).text, /Its log is not there yet/)
  await file('queue:skipped', { status: 'skipped', startedAt: undefined })
  assert.match((await page('queue:skipped')).text, /It has no log\./)
})

test('STA-7 only runs of this repository by its own people have a page', async () => {
  await file('queue:theirs', {}, [], mallory)
  assert.equal((await page('queue:theirs', '', mallory)).status, 404)
  await file('queue:elsewhere', { repo: `at://${mallory.did}/dev.knotless.repo/orchard` }).catch(() => undefined)
  assert.equal((await page('queue:elsewhere')).status, 404)
  assert.equal((await page('nowhere')).status, 404)
})

test('lines as text are as they stood at the end, without orders to a terminal', () => {
  assert.deepEqual(logLines('10%\r50%\r100%\r\n\u001b]0;title\u0007\u001b[1;32mok\u001b[0m\n\nend'), ['100%', 'ok', '', 'end'])
})
