import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGuardedFetch } from '../../src/atproto/guarded-fetch.ts'
import { createIdentity } from '../../src/atproto/identity.ts'
import { createReader } from '../../src/atproto/reader.ts'
import { startNetwork } from '../../src/devnet/network.ts'
import { readAccount } from '../../src/indexer/backfill/account.ts'
import { createBudget } from '../../src/indexer/backfill/budget.ts'
import { usualBounds } from '../../src/indexer/backfill/context.ts'
import { createJobs } from '../../src/indexer/backfill/jobs.ts'
import type { IngestEvent } from '../../src/indexer/ingest/events.ts'
import { tidAt } from '../../src/queue/tid.ts'
import { openBench, orchard } from './support.ts'

test('an account of many large records is read in pieces that fit into memory', async t => {
  const network = await startNetwork()
  t.after(() => network.stop())
  const account = await network.createAccount('jumbo.test')
  const start = Date.now()
  for (let n = 0; n < 12; n++) {
    const fields = { repo: orchard, title: `Issue ${n}`, more: 'x'.repeat(400_000), createdAt: new Date().toISOString() }
    await account.create('dev.knotless.issue', fields, tidAt(start + n))
  }
  const bench = await openBench()
  t.after(bench.close)
  const fetch = createGuardedFetch({ allowLoopback: true })
  t.after(() => fetch.close())
  const now = Date.now
  const identity = createIdentity({ plcUrl: network.plcUrl, handleResolver: network.pdsUrl, fetch, now })
  const reader = createReader({ identity, fetch, now })
  const pieces: (readonly IngestEvent[])[] = []
  const ingest = { submit: async (events: readonly IngestEvent[]) => void pieces.push(events) }
  const budget = createBudget({ burst: 100, perSecond: 100 })
  const ctx = { ingest, identity, reader, budget, jobs: createJobs(bench.index), now, bounds: usualBounds }
  const job = { subject: account.did, kind: 'account', priority: 1, rev: null, progress: null, tries: 0 } as const
  assert.equal(await readAccount(ctx, job, account.did, new URL(network.pdsUrl).host, AbortSignal.timeout(30_000)), 'done')
  const records = pieces.map(events => events.filter(event => event.kind === 'record').length)
  assert.equal(
    records.reduce((sum, count) => sum + count, 0),
    12,
  )
  assert.ok(Math.max(...records) <= 3, `${records}`)
})
