import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import fc from 'fast-check'
import { blobCid } from '../../src/git/parts.ts'
import { branchName, isRefName, refName } from '../../src/git/ref-names.ts'
import { branchTip, checkRefsRecord } from '../../src/git/refs-record.ts'
import { repoUri } from './support.ts'

const oid = (n: number) => n.toString(16).padStart(40, 'a')
const link = { $link: blobCid(Buffer.from('part')) }
const part = { $type: 'blob', ref: link, mimeType: 'application/octet-stream', size: 100 }
const pack = { id: oid(1), parts: [part], objects: 3, bytes: 100 }
const good = {
  $type: 'dev.knotless.refs',
  repo: repoUri,
  refs: [{ name: 'refs/heads/main', commit: oid(2), generation: 1 }],
  packs: [pack],
  updatedAt: '2026-11-30T10:00:00.000Z',
}
const ref = (name: string) => ({ name, commit: oid(2), generation: 1 })

function code(value: unknown, repo?: string): string {
  const checked = checkRefsRecord(value, repo)
  return checked.ok ? 'ok' : checked.code
}

test('STO-1 a record is taken as JSON and with decoded links, and its branches can be asked for', () => {
  const decoded = { ...good, packs: [{ ...pack, parts: [{ ...part, ref: { toString: () => link.$link } }] }] }
  for (const value of [good, decoded]) {
    const checked = checkRefsRecord(value, repoUri)
    assert.ok(checked.ok)
    assert.deepEqual(checked.record, good)
    assert.equal(branchTip(checked.record, 'main'), oid(2))
    assert.equal(branchTip(checked.record, 'refs/heads/main'), undefined)
    assert.equal(branchTip(checked.record, 'toString'), undefined)
  }
})

test('STO-11 what is no refs record is refused, whatever it is', () => {
  const bad: unknown[] = [
    undefined,
    null,
    1,
    'refs',
    [],
    {},
    { ...good, $type: 'dev.knotless.repo' },
    { ...good, repo: 'at://alice.test/dev.knotless.repo/orchard' },
    { ...good, repo: 'at://did:plc:abc/dev.knotless.pull/3k' },
    { ...good, updatedAt: 1 },
    { ...good, refs: {} },
    { ...good, packs: null },
    { ...good, refs: [null] },
    { ...good, refs: [{ ...ref('refs/heads/main'), generation: -1 }] },
    { ...good, refs: [{ ...ref('refs/heads/main'), generation: 1.5 }] },
    { ...good, packs: [pack, pack] },
    { ...good, packs: [{ ...pack, id: '../../../etc' }] },
    { ...good, packs: [{ ...pack, parts: [] }] },
    { ...good, packs: [{ ...pack, parts: [{ cid: link.$link, mimeType: 'x' }] }] },
    { ...good, packs: [{ ...pack, parts: [{ ...part, ref: { $link: 'bafyreigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi' } }] }] },
    { ...good, packs: [{ ...pack, parts: [{ ...part, ref: {} }] }] },
    { ...good, packs: [{ ...pack, bytes: 101 }] },
    { ...good, packs: [{ ...pack, bytes: Number.MAX_VALUE, parts: [{ ...part, size: Number.MAX_VALUE }] }] },
    { ...good, packs: [{ ...pack, objects: 0 }] },
    { ...good, packs: [{ ...pack, objects: 101 }] },
  ]
  for (const value of bad) assert.equal(code(value), 'bad-record', JSON.stringify(value))
  assert.equal(code(good, `${repoUri}s`), 'bad-record')
})

test('STO-1 over 2,000 refs, 2,000 parts, 50 MiB in a part or 256 KB in all is too large, and it says so', () => {
  const refs = Array.from({ length: 10_000 }, (_, n) => ref(`refs/heads/b${n}`))
  const many = checkRefsRecord({ ...good, refs })
  assert.deepEqual(many, { ok: false, code: 'too-large', message: 'The refs record holds 10,000 refs; at most 2,000 are taken.' })
  assert.equal(code({ ...good, refs: refs.slice(0, 2000) }), 'ok')
  const parts = Array.from({ length: 2001 }, () => part)
  assert.equal(code({ ...good, packs: [{ ...pack, parts, bytes: 200_100 }] }), 'too-large')
  const huge = { ...part, size: 51 * 2 ** 20 }
  assert.equal(code({ ...good, packs: [{ ...pack, parts: [huge], bytes: huge.size }] }), 'too-large')
  const long = Array.from({ length: 1500 }, (_, n) => ref(`refs/heads/${'x'.repeat(200)}${n}`))
  assert.equal(code({ ...good, refs: long }), 'too-large')
})

test('STO-11 names that git refuses, ids that are none, doubles and folders of one another are bad refs', () => {
  for (const name of [
    'refs/heads/a..b',
    'refs/heads/.a',
    'refs/heads/a.lock',
    'HEAD',
    'refs/notes/x',
    'refs/heads/a b',
    'refs/heads/',
    'refs/heads/a\n',
  ]) {
    assert.equal(code({ ...good, refs: [ref(name)] }), 'bad-ref', name)
  }
  for (const commit of ['', 'main', oid(2).slice(1), oid(2).toUpperCase(), '0'.repeat(40), `${oid(2)}\n`]) {
    assert.equal(code({ ...good, refs: [{ ...ref('refs/heads/main'), commit }] }), 'bad-ref', commit)
  }
  assert.equal(code({ ...good, refs: [ref('refs/heads/a'), ref('refs/heads/a')] }), 'bad-ref')
  assert.equal(code({ ...good, refs: [ref('refs/heads/a/b/c'), ref('refs/heads/a')] }), 'bad-ref')
  assert.equal(code({ ...good, refs: [ref('refs/heads/a/b'), ref('refs/heads/ab')] }), 'ok')
})

test('STO-11 the pattern of ref names is never looser than git', () => {
  const pieces = fc.constantFrom(
    'a',
    'B',
    '.',
    '..',
    '/',
    '-',
    '@',
    '{',
    '~',
    '^',
    ':',
    '?',
    '*',
    '[',
    '\\',
    ' ',
    '\t',
    '\x7f',
    '.lock',
    'é',
    '—',
  )
  const names = fc.array(pieces, { minLength: 1, maxLength: 6 }).map(parts => `refs/heads/${parts.join('')}`)
  fc.assert(
    fc.property(names, name => {
      let gitTakes = true
      try {
        execFileSync('git', ['check-ref-format', name], { stdio: 'ignore' })
      } catch {
        gitTakes = false
      }
      assert.equal(isRefName(name), gitTakes, name)
    }),
    { numRuns: 150 },
  )
})

test('branch names and ref names turn into one another', () => {
  assert.equal(refName('a/b'), 'refs/heads/a/b')
  assert.equal(branchName('refs/heads/a/b'), 'a/b')
  assert.equal(branchName('refs/tags/a'), undefined)
})
