import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseRecordKey } from '../../src/atproto/ids.ts'
import { tidAt } from '../../src/queue/tid.ts'
import {
  digest,
  noCommit,
  parseCheckKey,
  pullCheckKey,
  pullCheckPrefix,
  pushCheckKey,
  pushCheckPrefix,
  queueCheckKey,
  queueCheckPrefix,
} from '../../src/workflows/check-keys.ts'

const repo = 'at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/dev.knotless.repo/orchard'
const ref = 'refs/heads/main'
const tip = 'a'.repeat(40)
const base = 'b'.repeat(40)
const run = { tip, base, file: 'test.yml', tid: tidAt(1_790_000_000_000) }

test('a digest is the first 16 bytes of SHA-256 in base32, as the standard has it', () => {
  // RFC 4648's own vectors, by way of a reference that takes bytes as one number.
  for (const text of ['', 'a', 'orchard', repo]) {
    const bits = [...createHash('sha256').update(text).digest().subarray(0, 16)].map(byte => byte.toString(2).padStart(8, '0')).join('')
    const letters = 'abcdefghijklmnopqrstuvwxyz234567'
    const wanted = (bits.padEnd(130, '0').match(/.{5}/g) ?? []).map(five => letters[Number.parseInt(five, 2)]).join('')
    assert.equal(digest(text), wanted)
  }
  assert.equal(digest(''), '4oymiquy7qobjgx36tejs35zeq')
})

test('CHK-3 all keys of a branch start alike, those of one tip and base too, and others do not', () => {
  const key = queueCheckKey({ repo, ref }, run)
  assert.ok(key.startsWith(queueCheckPrefix({ repo, ref })))
  assert.ok(key.startsWith(queueCheckPrefix({ repo, ref }, { tip, base })))
  assert.ok(!key.startsWith(queueCheckPrefix({ repo, ref: 'refs/heads/mainly' })))
  assert.ok(!key.startsWith(queueCheckPrefix({ repo: `${repo}s`, ref })))
  assert.ok(!key.startsWith(queueCheckPrefix({ repo, ref }, { tip: base, base: tip })))
  const pull = `at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/dev.knotless.pull/${run.tid}`
  assert.ok(pullCheckKey(pull, run).startsWith(pullCheckPrefix(pull, { tip, base })))
  assert.ok(!pullCheckKey(pull, run).startsWith('queue:'))
})

test('CHK-3 checks of pushes to a branch start in their own way: a scan of its batches does not find them', () => {
  const scope = { repo, ref }
  const key = pushCheckKey(scope, run)
  assert.ok(key.startsWith(pushCheckPrefix(scope)) && key.startsWith(pushCheckPrefix(scope, { tip, base })))
  assert.ok(!key.startsWith(queueCheckPrefix(scope)))
  assert.deepEqual([parseCheckKey(key)?.kind, parseCheckKey(key)?.of], ['push', digest(`${repo}\n${ref}`)])
  assert.equal(parseCheckKey(pushCheckKey(scope, { ...run, base: noCommit }))?.base, noCommit, 'a branch that was made')
})

test('STO-10 a key holds digests and ids, never a word of a branch, workflow or repository', () => {
  const key = queueCheckKey({ repo, ref: 'refs/heads/orchards' }, { ...run, file: 'unit-tests.yml' })
  assert.doesNotMatch(key, /orchard|unit|tests|yml|main/)
  assert.match(key, /^queue:[a-z2-7]{26}:a{40}:b{40}:[a-z2-7]{26}:[a-z2-7]{13}$/)
})

test('a run again has another key, and keys of one workflow sort as their times', () => {
  const later = queueCheckKey({ repo, ref }, { ...run, tid: tidAt(1_790_000_000_001) })
  assert.ok(queueCheckKey({ repo, ref }, run) < later)
})

test('a key is a record key, and is read as what it was made of', () => {
  const id = fc.stringMatching(/^[0-9a-f]{40}$/)
  const anyRun = fc.record({ tip: id, base: id, file: fc.string(), tid: fc.integer({ min: 0, max: 2 ** 43 }).map(ms => tidAt(ms)) })
  fc.assert(
    fc.property(fc.string(), fc.string(), anyRun, (someRepo, someRef, one) => {
      const key = queueCheckKey({ repo: someRepo, ref: someRef }, one)
      assert.equal(parseRecordKey(key), key)
      assert.deepEqual(parseCheckKey(key), {
        kind: 'queue',
        of: digest(`${someRepo}\n${someRef}`),
        tip: one.tip,
        base: one.base,
        workflow: digest(one.file),
        tid: one.tid,
      })
      assert.equal(parseCheckKey(pullCheckKey(someRepo, one))?.of, digest(someRepo))
    }),
  )
})

test('what is no such key is none', () => {
  const key = queueCheckKey({ repo, ref }, run)
  for (const other of [
    '',
    'queue:',
    key.toUpperCase(),
    `${key}x`,
    key.slice(1),
    key.replace('queue', 'batch'),
    `${key.slice(0, -13)}zzzzzzzzzzzzz`,
    run.tid,
  ])
    assert.equal(parseCheckKey(other), undefined, other)
})
