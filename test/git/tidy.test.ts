import assert from 'node:assert/strict'
import { readdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openMirror } from '../../src/git/mirror.ts'
import { tidyMirror, wantsTidying } from '../../src/git/tidy.ts'
import { commit, git, newRepo } from './support.ts'

const day = 24 * 60 * 60_000

test('tidying packs what landed, removes old stacks that did not, and keeps young ones', async t => {
  const mirror = await openMirror(newRepo(t))
  const base = commit(mirror.dir, 'main', { f: 'f' })
  const made = (name: string) => commit(mirror.dir, name, { f: 'f', [name]: name }, { parents: [base] })
  const [landed, old, young] = [made('landed'), made('old'), made('young')]
  git(mirror.dir, ['update-ref', 'refs/heads/main', landed])
  for (const branch of ['landed', 'old', 'young']) git(mirror.dir, ['update-ref', '-d', `refs/heads/${branch}`])
  const now = Date.now()
  const ageOf = (id: string, ms: number) => {
    const when = new Date(now - ms)
    utimesSync(join(mirror.objects, id.slice(0, 2), id.slice(2)), when, when)
  }
  for (const name of ['', '^{tree}']) {
    ageOf(git(mirror.dir, ['rev-parse', `${old}${name}`]), 40 * day)
    ageOf(git(mirror.dir, ['rev-parse', `${young}${name}`]), 20 * day)
  }
  assert.equal(await wantsTidying(mirror), false)
  assert.deepEqual(await tidyMirror(mirror, now), { ok: true })
  const there = (id: string) => git(mirror.dir, ['cat-file', '--batch-check'], `${id}\n`).endsWith('missing') === false
  assert.deepEqual([base, landed, old, young].map(there), [true, true, false, true])
  const loose = readdirSync(mirror.objects, { recursive: true, encoding: 'utf8' }).filter(name => /^[0-9a-f]{2}\/[0-9a-f]{38}$/.test(name))
  assert.ok(!loose.includes(join(landed.slice(0, 2), landed.slice(2))))
  assert.ok(loose.includes(join(young.slice(0, 2), young.slice(2))))
  assert.equal(git(mirror.dir, ['fsck', '--full', '--strict', '--no-dangling']), '')
})
