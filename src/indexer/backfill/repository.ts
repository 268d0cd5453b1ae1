import { parseAtUri } from '../../atproto/ids.ts'
import { asJson } from '../ingest/as-json.ts'
import type { BackfillContext, JobEnd } from './context.ts'
import type { Job } from './jobs.ts'

/** Looks for a repository's record that something names and nobody told us of. Its owner and those it names are read once it is there. */
export async function readRepository(ctx: BackfillContext, job: Job, host: string, signal: AbortSignal): Promise<JobEnd> {
  const at = parseAtUri(job.subject)
  if (at === undefined) return 'absent'
  await ctx.budget.take(host, signal)
  const head = await ctx.reader.getLatestCommit(at.did, { signal })
  if (head === undefined) return 'absent'
  await ctx.budget.take(host, signal)
  const record = await ctx.reader.getRecord(at.did, at.collection, at.rkey, { signal })
  if (record === undefined) return 'absent'
  const { did, collection, rkey } = at
  const value = { rev: head.rev, operation: 'create', cid: record.cid, record: asJson(record.value) } as const
  await ctx.ingest.submit([{ kind: 'record', source: 'listed', did, collection, rkey, ...value }])
  ctx.jobs.done(job, head.rev, 0)
  return 'done'
}
