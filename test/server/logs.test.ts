import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { UpstreamError } from '../../src/atproto/upstream-error.ts'
import { createBlocks } from '../../src/server/logs/blocks.ts'
import { copyBounds } from '../../src/server/logs/copies.ts'
import { createFailedTests, findFailed } from '../../src/server/logs/failed-lines.ts'
import { createLogs, type Logs, type OpenLog } from '../../src/server/logs/logs.ts'
import { until } from '../support/until.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'knotless-logs-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const did = 'did:plc:rigbyaaaaaaaaaaaaaaaaaaa'
type Blob = AsyncIterable<Uint8Array> | undefined

/** Blobs by their place; each is read in pieces. */
function readerOf(blobs: readonly (Uint8Array | (() => Blob))[], asked: string[] = []) {
  return {
    async getBlob(_did: string, cid: string) {
      asked.push(cid)
      const blob = blobs[Number(cid)]
      return typeof blob === 'function' ? blob() : blob === undefined ? undefined : pieces(blob)
    },
  }
}

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536)
}

async function opened(logs: Logs, parts: readonly string[]): Promise<OpenLog> {
  const log = await logs.of({ did, parts }, 60_000)
  assert.ok(log.ok, JSON.stringify(log))
  return log
}

const packed = (text: string) => gzipSync(text)

test('CHK-13 a log of 10 million lines in gzip parts is read by range, and no more of it is held than a few blocks', {
  timeout: 120_000,
}, async () => {
  const lines = 10_000_000
  const perPart = 500_000
  const part = gzipSync(Array.from({ length: perPart }, (_, n) => `line ${n + 1} of its part of the log\n`).join(''), { level: 1 })
  const parts = Array.from({ length: lines / perPart }, () => part)
  const logs = createLogs({ reader: readerOf(parts), folder })
  const at = { did, parts: parts.map((_, n) => `${n}`) } as const
  globalThis.gc?.()
  const before = process.memoryUsage.rss()
  let most = 0
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss() - before)
  }, 20)
  try {
    const early = await logs.of(at, 50)
    assert.ok(!early.ok && early.why === 'reading', 'a page does not wait for all of it')
    const log = await opened(logs, at.parts)
    assert.deepEqual([log.lines, log.cut], [lines, undefined])
    const tail = await log.tail(2_000)
    assert.deepEqual([tail.first, tail.lines.length, tail.lines.at(-1)], [lines - 1_999, 2_000, `line ${perPart} of its part of the log`])
    for (const first of [1, 2, 4_999_999, 9_999_998]) {
      const { lines: some } = await log.range(first, 3)
      assert.deepEqual(
        some,
        [0, 1, 2].map(n => `line ${((first + n - 1) % perPart) + 1} of its part of the log`),
      )
    }
  } finally {
    clearInterval(watch)
  }
  assert.ok(most < 150 * 2 ** 20, `${Math.round(most / 2 ** 20)} MB more were held of a text of 340 MB`)
})

test('a log is read once, by whoever asks, and again not even by the next process', async () => {
  const asked: string[] = []
  const reader = readerOf([packed('one\ntwo'), packed('\nthree\n')], asked)
  const logs = createLogs({ reader, folder })
  const [a, b] = await Promise.all([opened(logs, ['0', '1']), opened(logs, ['0', '1'])])
  assert.deepEqual((await a.range(1, 9)).lines, ['one', 'two', 'three'])
  assert.deepEqual((await b.tail(1)).lines, ['three'])
  assert.deepEqual(await Array.fromAsync(b.all()), [{ first: 1, lines: ['one', 'two', 'three'] }])
  const next = createLogs({ reader, folder })
  assert.deepEqual((await (await opened(next, ['0', '1'])).range(2, 1)).lines, ['two'])
  assert.deepEqual(asked, ['0', '1'])
  // A copy that is gone, or was not written to its end, is made again.
  for (const name of readdirSync(folder)) if (name.endsWith('.gz')) rmSync(join(folder, name))
  assert.equal((await opened(logs, ['0', '1'])).lines, 3)
  for (const name of readdirSync(folder)) if (name.endsWith('.json')) writeFileSync(join(folder, name), '{"lines":')
  assert.equal((await opened(createLogs({ reader, folder }), ['0', '1'])).lines, 3)
  assert.equal(asked.length, 6)
})

test('a file that unpacks without end, one of too many bytes and one that breaks off are cut, and the cut is known', async () => {
  const bounds = { ...copyBounds, block: 1_000, text: 100_000 }
  const fresh = () => mkdtempSync(join(folder, 'of-'))
  const long = packed('0123456789\n'.repeat(200_000))
  assert.equal((await opened(createLogs({ reader: readerOf([long]), folder: fresh(), bounds }), ['0'])).cut, 'long')
  const packedNoise = gzipSync(randomBytes(300_000))
  assert.equal(
    (await opened(createLogs({ reader: readerOf([packedNoise, packed('x')]), folder: fresh(), packed: 70_000 }), ['0', '1'])).cut,
    'long',
  )
  const broken = await opened(createLogs({ reader: readerOf([long.subarray(0, long.length - 500)]), folder: fresh() }), ['0'])
  assert.equal(broken.cut, 'damaged')
  assert.ok(broken.lines > 1_000)
})

test('what is no log, is gone, or cannot be read is told apart', async () => {
  const why = async (blob: Uint8Array | (() => Blob)) => {
    const log = await createLogs({ reader: readerOf([blob]), folder: mkdtempSync(join(folder, 'of-')) }).of({ did, parts: ['0'] })
    return log.ok ? 'ok' : log.why
  }
  assert.equal(await why(Buffer.from('no gzip at all')), 'broken')
  assert.equal(await why(() => undefined), 'gone')
  const refuses = () => {
    throw new UpstreamError('refused', 'pds.test', 'no connection')
  }
  assert.equal(await why(refuses), 'unread')
  writeFileSync(join(folder, 'file'), '')
  const nowhere = createLogs({ reader: readerOf([packed('x')]), folder: join(folder, 'file', 'in') })
  await assert.rejects(nowhere.of({ did, parts: ['0'] }), { code: 'ENOTDIR' })
})

test('a server that gives other bytes than were asked for has not damaged the log: it is read again', async () => {
  const good = packed('one\ntwo\n'.repeat(50_000))
  const bad = Buffer.from(good).fill(0xff, good.length / 2, good.length / 2 + 40)
  for (const other of [bad, good.subarray(0, -200), Buffer.concat([packed('one\n'), Buffer.alloc(300_000, 'x')]), Buffer.from('no gzip')]) {
    let tries = 0
    const blob = async function* () {
      tries++
      yield* pieces(tries === 1 ? other : good)
      // As reading does at the end of what is not what its CID says.
      if (tries === 1) throw new UpstreamError('bad-answer', 'pds.test', 'other bytes')
    }
    const logs = createLogs({ reader: readerOf([blob]), folder: mkdtempSync(join(folder, 'of-')) })
    const first = await logs.of({ did, parts: ['0'] }, 60_000)
    assert.deepEqual(first, { ok: false, why: 'unread', host: 'pds.test' })
    const log = await opened(logs, ['0'])
    assert.deepEqual([log.lines, log.cut, tries], [100_000, undefined, 2])
  }
})

test('as many as may are read at once, of one account fewer', async () => {
  const gate = Promise.withResolvers<void>()
  const waits = () =>
    (async function* () {
      await gate.promise
      yield packed('x\n')
    })()
  const logs = createLogs({ reader: readerOf([waits, waits, waits]), folder })
  const first = [logs.of({ did, parts: ['0'] }, 60_000), logs.of({ did, parts: ['1'] }, 60_000)]
  await until(async () => (await logs.of({ did, parts: ['2'] }, 1).then(log => !log.ok && log.why)) === 'busy', {
    what: 'the third to be too many',
  })
  const other = logs.of({ did: 'did:plc:otheraaaaaaaaaaaaaaaaaaa', parts: ['0'] }, 60_000)
  gate.resolve()
  for (const log of await Promise.all([...first, other])) assert.ok(log.ok)
})

test('copies that were used longest ago go first when there are too many bytes of them', async () => {
  const random = (seed: number) => packed(Array.from({ length: 20_000 }, (_, n) => `${(n * 7919 + seed) % 10_007}`).join('\n'))
  const bounds = { ...copyBounds, all: 150_000 }
  const blobs = [1, 2, 3, 4, 5, 6].map(random)
  const logs = createLogs({ reader: readerOf(blobs), folder, bounds })
  for (const n of blobs.keys()) await opened(logs, [`${n}`])
  const size = () => readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
  assert.ok(size() <= bounds.all, `${size()}`)
  assert.equal((await opened(logs, ['0'])).lines, 20_000)
})

test('a line without end is cut, and one that is written over again and again stands as it ended', async () => {
  const bounds = { block: 100, line: 50 }
  const text = (...pieces: string[]) => {
    const blocks = createBlocks(bounds)
    const all = [...pieces.flatMap(piece => blocks.add(Buffer.from(piece))), blocks.end()]
    return all.map(block => block?.bytes.toString() ?? '').join('')
  }
  assert.equal(text('a\n', 'x'.repeat(1_000), 'y'.repeat(1_000), '\nb\n'), `a\n${'x'.repeat(50)} …\nb\n`)
  const progress = Array.from({ length: 500 }, (_, n) => `${n} of 500\r`)
  for (const written of [text(...progress, 'done\n'), text(progress.join(''), 'done\n'), text(`${progress.join('')}done\n`)])
    assert.match(written, /^([^\n]{0,60}\r)?done\n$/)
  assert.ok(text('z'.repeat(49), '\r', 'w'.repeat(40), '\rend\n').endsWith('end\n'))
  assert.equal(createBlocks(bounds).end(), undefined)
})

test('where a log tells of a failed test, by its name and by what went wrong', async () => {
  const log = [
    '$ npm test',
    'ok opens an orchard quickly',
    '\u001b[31mFAIL\u001b[39m store > opens \u001b[1man orchard\u001b[22m',
    'AssertionError: expected 499',
    'FAIL store > keeps a number',
    'AssertionError: expected 499',
  ].join('\n')
  const open = await opened(createLogs({ reader: readerOf([packed(log)]), folder }), ['0'])
  const failed = (name: string, message: string) => ({ name, message, kind: 'failure' as const, text: '' })
  assert.deepEqual(
    await findFailed(open, [
      failed('opens an orchard', 'AssertionError: expected 499'),
      failed('keeps a number', 'AssertionError: expected 499'),
      failed('quickly', ''),
      failed('nowhere at all', 'never printed'),
      failed('x', ''),
    ]),
    [{ says: 4, from: 3 }, { says: 6, from: 5 }, { from: 2 }, { from: undefined }, { from: undefined }],
  )
})

test('what a log tells of failed tests is looked for once, whoever asks, and again where that failed', async () => {
  const open = await opened(createLogs({ reader: readerOf([packed('opens an orchard\nexpected 499\n')]), folder }), ['0'])
  let reads = 0
  const log: OpenLog = {
    ...open,
    async *all() {
      reads++
      if (reads === 1) throw new Error('the copy is gone')
      yield* open.all()
    },
  }
  const failedTests = createFailedTests()
  const ask = () => failedTests.of('a run', log, [{ name: 'opens an orchard', message: 'expected 499', kind: 'failure', text: '' }])
  await assert.rejects(ask())
  assert.deepEqual(await Promise.all([ask(), ask()]), [[{ says: 2, from: 1 }], [{ says: 2, from: 1 }]])
  await ask()
  assert.equal(reads, 2)
})

test('other work goes on while a long log is looked through for many tests', async () => {
  const line = 'a'.repeat(80)
  const block = { first: 1, lines: Array(3_000).fill(line) }
  const log: Pick<OpenLog, 'bytes' | 'all'> = {
    bytes: 10 * 2 ** 20,
    async *all() {
      for (let n = 0; n < 40; n++) yield block
    },
  }
  let turns = 0
  const ticking = setInterval(() => turns++, 0)
  const tests = Array.from({ length: 100 }, (_, n) => ({
    name: `${line} ${n}`,
    message: `${line} is ${n}`,
    kind: 'failure' as const,
    text: '',
  }))
  const found = await findFailed(log, tests)
  clearInterval(ticking)
  assert.equal(found.length, 100)
  assert.ok(turns >= 40, `${turns}`)
})
