import { parseNsid } from '../../atproto/ids.ts'
import { priorities } from '../ingest/wanted.ts'
import type { BackfillContext, JobEnd } from './context.ts'
import type { Job } from './jobs.ts'

/** What the relay is asked for at first contact: who has repositories, and who has opened pulls. */
export const relayCollections: ReadonlyMap<string, number> = new Map([
  ['dev.knotless.repo', priorities.owner],
  ['dev.knotless.pull', priorities.author],
])

/** Takes the accounts that a relay knows to have records of a collection, page by page, up to a bound. */
export async function readRelay(ctx: BackfillContext, job: Job, signal: AbortSignal): Promise<JobEnd> {
  const collection = parseNsid(job.subject)
  const priority = relayCollections.get(job.subject)
  if (ctx.relay === undefined || collection === undefined || priority === undefined) return 'absent'
  const host = new URL(ctx.relay).host
  let { cursor, taken } = readProgress(job.progress)
  while (taken < ctx.bounds.fromRelay) {
    await ctx.budget.take(host, signal)
    const page = await ctx.reader.listReposByCollection(ctx.relay, collection, cursor)
    await ctx.ingest.submit([{ kind: 'want', dids: page.dids.slice(0, ctx.bounds.fromRelay - taken), priority }])
    taken += page.dids.length
    if (page.cursor === undefined || page.cursor === cursor || page.dids.length === 0) break
    cursor = page.cursor
    ctx.jobs.progress(job, '', JSON.stringify({ cursor, taken }))
  }
  ctx.jobs.done(job, null, 0)
  return 'done'
}

function readProgress(text: string | null): { cursor?: string; taken: number } {
  const kept: unknown = text === null ? undefined : JSON.parse(text)
  if (typeof kept !== 'object' || kept === null || !('cursor' in kept) || !('taken' in kept)) return { taken: 0 }
  return typeof kept.cursor === 'string' && typeof kept.taken === 'number' ? { cursor: kept.cursor, taken: kept.taken } : { taken: 0 }
}
