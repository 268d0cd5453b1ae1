import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import type { FetchBlob } from '../../src/git/incoming.ts'
import { syncMirror } from '../../src/git/sync.ts'
import { type Blobs, blobsFrom, commit, makePack, newMirror, newRepo, packRow, recordOf } from './support.ts'

function scene(t: Parameters<typeof newRepo>[0]) {
  const work = newRepo(t)
  const blobs: Blobs = new Map()
  const one = commit(work, 'main', { 'a.txt': 'one\n'.repeat(100) })
  const record = recordOf({ 'refs/heads/main': one }, [packRow(blobs, makePack(work, [one]))])
  return { blobs, record }
}

test('STO-9 bytes that trickle, each soon enough after the last, are given up', async t => {
  const { blobs, record } = scene(t)
  const mirror = await newMirror(t)
  let sent = 0
  const trickle: FetchBlob = async function* (cid) {
    for (const byte of blobs.get(cid) ?? []) {
      await wait(20)
      sent += 1
      yield Uint8Array.of(byte)
    }
  }
  const done = await syncMirror(mirror, record, trickle, { idleMs: 100 })
  assert.ok(!done.ok)
  assert.equal(done.code, 'upstream-failed')
  assert.match(done.message, /too slowly/)
  assert.ok(sent > 0 && sent < 60, `given up after ${sent} bytes`)
  assert.equal((await syncMirror(mirror, record, blobsFrom(blobs))).ok, true)
})

test('bytes that come at a bearable pace are taken, however long it is in all', async t => {
  const { blobs, record } = scene(t)
  const mirror = await newMirror(t)
  const steady: FetchBlob = async function* (cid) {
    const bytes = blobs.get(cid) ?? new Uint8Array()
    for (let at = 0; at < bytes.length; at += 50) {
      await wait(3)
      yield bytes.subarray(at, at + 50)
    }
  }
  assert.equal((await syncMirror(mirror, record, steady, { idleMs: 1_000 })).ok, true)
})

test('a sync that is called off while another is under way does not wait for it', { timeout: 20_000 }, async t => {
  const { blobs, record } = scene(t)
  const mirror = await newMirror(t)
  const [first, second] = [new AbortController(), new AbortController()]
  const begun = Promise.withResolvers<undefined>()
  const silent: FetchBlob = () => {
    begun.resolve(undefined)
    return new Promise(() => undefined)
  }
  const long = syncMirror(mirror, record, silent, { signal: first.signal })
  await begun.promise
  const waiting = syncMirror(mirror, record, blobsFrom(blobs), { signal: second.signal })
  const third = syncMirror(mirror, record, blobsFrom(blobs))
  second.abort()
  const refused = await waiting
  assert.ok(!refused.ok)
  assert.equal(refused.code, 'upstream-failed')
  first.abort()
  assert.equal((await long).ok, false)
  assert.equal((await third).ok, true, 'the others have their turn')
})
