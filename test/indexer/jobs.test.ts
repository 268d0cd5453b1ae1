import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createJobs } from '../../src/indexer/backfill/jobs.ts'
import { createWanted, priorities } from '../../src/indexer/ingest/wanted.ts'
import { alice, bob, carol, dave } from '../queue/made-up.ts'
import { openBench } from './support.ts'

test('QUE-2 an account that was not there is looked for again after its time, whoever it is', async t => {
  const bench = await openBench()
  t.after(bench.close)
  const jobs = createJobs(bench.index)
  const wanted = createWanted(bench.index)
  for (const [did, priority] of [
    [alice, priorities.owner],
    [bob, priorities.member],
    [carol, priorities.author],
    [dave, priorities.author],
  ] as const) {
    wanted.account(did, priority)
  }
  const due = (now: number) => jobs.due(now, 10).map(job => job.subject)
  const [owner, , author, other] = jobs.due(0, 10)
  assert.ok(owner !== undefined && author !== undefined && other !== undefined)
  jobs.absent(owner.subject, 1_000)
  jobs.absent(author.subject, 1_000)
  jobs.done(other, 'x', 1_000)
  jobs.renew(999)
  assert.deepEqual(due(2_000), [bob])
  jobs.renew(1_000)
  assert.deepEqual(due(2_000).sort(), [alice, bob, author.subject].sort(), 'an author who was read is not read again without a reason')
})

test('REC-11 what is wanted anew while it is being read stays wanted, from the beginning', async t => {
  const bench = await openBench()
  t.after(bench.close)
  const jobs = createJobs(bench.index)
  const wanted = createWanted(bench.index)
  wanted.account(alice, priorities.owner)
  const first = jobs.due(0, 1).map(job => jobs.begin(job))[0]
  assert.ok(first !== undefined)
  jobs.progress(first, 'rev', '{"done":["dev.knotless.repo"]}')
  wanted.anew(alice)
  wanted.again(alice)
  jobs.progress(first, 'rev', '{"done":["dev.knotless.repo","dev.knotless.refs"]}')
  jobs.done(first, 'rev', 1_000)
  const [again] = jobs.due(0, 1)
  assert.ok(again !== undefined, 'it is due')
  const second = jobs.begin(again)
  assert.deepEqual([second.rev, second.progress], [null, null])
  jobs.done(second, 'rev', 1_000)
  assert.deepEqual(jobs.due(0, 1), [])
})
