import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { tidAt } from '../../../src/queue/tid.ts'
import { cancelledRecord, cutBytes } from '../../../src/runner/runs/check-record.ts'
import { jobOf, secretsMissing } from '../../../src/runner/runs/job.ts'
import { createLive } from '../../../src/runner/runs/live.ts'
import { createRunLog } from '../../../src/runner/runs/log.ts'
import { batchesOf, prunable } from '../../../src/runner/runs/prune.ts'
import type { Subject } from '../../../src/runner/types.ts'
import { queueCheckKey } from '../../../src/workflows/check-keys.ts'
import { bob, commit, DAY, History, iso, rigby, START } from '../../queue/support.ts'
import { until } from '../../support/until.ts'
import { batchOf, workflow } from './support.ts'

async function textOf(log: ReturnType<typeof createRunLog>): Promise<string> {
  const packed = await log.packed()
  const text = gunzipSync(packed?.log ?? Buffer.alloc(0)).toString()
  assert.equal(packed?.logBytes, Buffer.byteLength(text))
  return text
}

test('CHK-13 a log within its bounds is kept as it is; one that said nothing is none', async () => {
  const log = createRunLog({ head: 10, tail: 10 })
  assert.equal(await log.packed(), undefined)
  for (const text of ['one\n', 'two\n', 'three\n', 'four\n']) log.add(Buffer.from(text))
  assert.equal(await textOf(log), 'one\ntwo\nthree\nfour\n')
  log.line('end')
  const open = createRunLog()
  open.add(Buffer.from('no line end'))
  open.line('end')
  assert.equal(await textOf(open), 'no line end\nend\n')
})

test('CHK-13 of a longer log head and tail are kept, cut between lines, and the cut is said', async () => {
  const log = createRunLog({ head: 100, tail: 100 })
  const lines = Array.from({ length: 10_000 }, (_, at) => `line ${at}\n`)
  for (const line of lines) log.add(Buffer.from(line))
  const text = await textOf(log)
  assert.match(text, /^line 0\nline 1\n[^…]*\n… [\d.]+ KB of output are left out here …\nline 99\d\d\n[^…]*line 9999\n$/)
  assert.ok(text.length < 300)
})

test('CHK-13 a log takes no more memory than its bounds, whatever is printed at once', async () => {
  const log = createRunLog({ head: 1_000, tail: 1_000 })
  const piece = Buffer.alloc(100_000, 'x')
  for (let n = 0; n < 50; n++) log.add(piece)
  log.add(Buffer.from('\nthe end\n'))
  const text = await textOf(log)
  assert.ok(text.length < 2_100, `${text.length}`)
  assert.ok(text.endsWith('\nthe end\n'))
})

test('live pieces say where they start, never cut a character, and pass over what comes too fast', async () => {
  const pieces: { offset: number; text: string }[] = []
  const live = createLive((offset, text) => void pieces.push({ offset, text }), { piece: 7, held: 64, everyMs: 5 })
  live.add(Buffer.from('äöü ').subarray(0, 5))
  await until(() => pieces.length > 0)
  live.add(Buffer.from('äöü ').subarray(5))
  live.add(Buffer.from('123456789'))
  live.end()
  assert.equal(pieces.map(piece => piece.text).join(''), 'äöü 123456789')
  for (const { offset, text } of pieces) {
    assert.equal(
      Buffer.from('äöü 123456789')
        .subarray(offset, offset + Buffer.byteLength(text))
        .toString(),
      text,
    )
    assert.ok(Buffer.byteLength(text) <= 7)
  }
  pieces.length = 0
  live.add(Buffer.from('x'.repeat(1000)))
  live.end()
  assert.deepEqual([pieces[0]?.offset, pieces.reduce((sum, piece) => sum + piece.text.length, 0)], [16 + 936, 64])
})

const repo = new History().uri
const pull: Subject & { of: 'pull' } = {
  of: 'pull',
  pull: `at://${bob}/dev.knotless.pull/3jzfcijpj2z2a`,
  head: commit(3),
  branch: 'main',
  generation: 1,
  tip: commit(4),
  tree: commit(5),
  queued: true,
}
const push: Subject & { of: 'push' } = {
  of: 'push',
  branch: 'main',
  generation: 1,
  commit: commit(6),
  tree: commit(7),
  isDefault: true,
  lands: false,
}

test('CHK-1 CHK-2 secrets only for pushes; caches by trust; nothing but a push to the default branch promotes', () => {
  const plain = workflow('test')
  const asking = workflow('deploy', 'secrets: [TOKEN, OTHER]')
  const job = (subject: Subject, asked: typeof plain, trusted: boolean) =>
    jobOf({ id: 'a', repo, subject, workflow: asked, trusted, gitDir: '/git', class: 'next', timeoutMs: 1000, secrets: { TOKEN: 'hush' } })
  const uses = (subject: Subject) => [plain, asking].flatMap(asked => [true, false].map(trusted => job(subject, asked, trusted).cache.use))
  assert.deepEqual(uses(batchOf([pull.pull])), ['share', 'layer', 'share', 'empty'])
  assert.deepEqual(uses(pull), ['layer', 'layer', 'layer', 'empty'])
  assert.deepEqual(uses(push), ['promote', 'promote', 'promote', 'promote'])
  assert.deepEqual(uses({ ...push, isDefault: false }), ['share', 'share', 'share', 'share'])
  assert.equal(job(push, plain, true).cache.key, job(pull, plain, true).cache.key)
  assert.notEqual(job({ ...push, branch: 'next' }, plain, true).cache.key, job(push, plain, true).cache.key)
  assert.deepEqual(job(push, asking, true).secrets, { TOKEN: 'hush' })
  assert.deepEqual(secretsMissing(push, asking, { TOKEN: 'hush' }), ['OTHER'])
  assert.deepEqual(secretsMissing(pull, asking, {}), [])
  for (const subject of [pull, batchOf([pull.pull])]) assert.deepEqual(job(subject, asking, true).secrets, {})
})

test('CHK-7 a workflow’s time-out counts, capped by the runner’s', () => {
  const job = (more: string, timeoutMs: number) =>
    jobOf({
      id: 'a',
      repo,
      subject: pull,
      workflow: workflow('test', more),
      trusted: true,
      gitDir: '/git',
      class: 'pull',
      timeoutMs,
      secrets: {},
    })
  assert.equal(job('', 5_000).timeoutMs, 5_000)
  assert.equal(job('timeout: 2s', 5_000).timeoutMs, 2_000)
  assert.equal(job('timeout: 1h', 5_000).timeoutMs, 5_000)
  assert.deepEqual([job('', 1).weight, job('', 1).source.commit], ['low', pull.tree])
})

test('CHK-12 a batch with a run that has not ended, or that ended lately, is not pruned, whoever remembers it', () => {
  const history = new History()
  const [old, tip, base] = [START, commit(20), commit(21)]
  const scope = { repo: history.uri, ref: 'refs/heads/main' }
  const of = (...checks: { status: 'success' | 'running'; finishedAt?: number }[]) =>
    batchesOf(
      checks.map(({ status, finishedAt }, at) => {
        const key = queueCheckKey(scope, { tip, base, file: `${at}.yml`, tid: tidAt(old + at) })
        const ended = finishedAt === undefined ? {} : { finishedAt: iso(finishedAt) }
        return history.check(rigby, { key, status, commit: tip, baseCommit: base, createdAt: old, ...ended })
      }),
    )
  const now = START + 8 * DAY
  const pruned = (batches: ReturnType<typeof of>) => prunable(batches, { now, view: history.view(), keep: new Set() }).length
  assert.equal(pruned(of({ status: 'success', finishedAt: old }, { status: 'success', finishedAt: old })), 1)
  assert.equal(pruned(of({ status: 'success', finishedAt: old }, { status: 'running' })), 0)
  assert.equal(pruned(of({ status: 'success', finishedAt: old }, { status: 'success', finishedAt: now - DAY })), 0)
})

test('words are cut on a whole character within what a record holds', () => {
  assert.equal(cutBytes('short', 10), 'short')
  assert.equal(cutBytes('äöüäöü', 10), 'äöü…')
  const record = { $type: 'dev.knotless.check', repo, workflow: 'test', status: 'queued', ref: 'refs/heads/main', generation: 1 } as const
  const cancelled = cancelledRecord({ ...record, commit: commit(1), createdAt: '2026-01-01T00:00:00.000Z' }, 'ä'.repeat(1000), 0)
  assert.ok(Buffer.byteLength(cancelled.cause ?? '') <= 1000)
})
