/** Which issues a landing closes (LND-6): once, by the first pull that names it, over all the passes that it takes. */
import type { AtUri } from '../../atproto/ids.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import { ofKind, readUsable } from '../../indexer/sources/read-about.ts'
import { type Closings, closedBy, type LandedMessage } from '../../queue/closing.ts'
import type { RepositoryView } from '../../queue/view.ts'
import type { RunnerContext } from '../context.ts'
import { bounds } from './intent.ts'
import type { Intent } from './lander-record.ts'

export type IssuesContext = Pick<RunnerContext, 'did' | 'reader' | 'appview' | 'now' | 'log'>

const PAGE = 100
const MOST_READ = 2_000
const none: Closings = { now: [], later: [] }

/** The closings that messages ask for, when they land on the default branch. A server that does not answer closes none: that holds up no landing. */
export async function closingsFor(
  ctx: IssuesContext,
  landing: { repo: AtUri; view: RepositoryView; branch: string; messages: readonly LandedMessage[] },
): Promise<Closings> {
  const { repo, view, branch, messages } = landing
  if (branch !== view.record.value.defaultBranch) return none
  const open = await openIssues(ctx, repo)
  return open === undefined
    ? none
    : closedBy(
        messages,
        open.map(uri => ({ uri })),
      )
}

/** Issues that are open as far as the index knows; undefined where it does not answer. */
export async function openIssues(ctx: Pick<IssuesContext, 'appview'>, repo: AtUri): Promise<readonly string[] | undefined> {
  try {
    return await ctx.appview.issues(repo)
  } catch (error) {
    if (error instanceof UpstreamError) return undefined
    throw error
  }
}

/**
 * What a landing leaves to be closed once this intent is carried out: of all that its messages name, what neither the intent nor a call before it
 * closes. Only an intent that is full leaves any.
 */
export async function leftAfter(ctx: IssuesContext, intent: Intent, closings: Closings): Promise<Closings> {
  const mine = intent.issues ?? []
  const perPull = Map.groupBy(mine, one => one.pull)
  const isFull = mine.length >= bounds.perLanding || [...perPull.values()].some(some => some.length >= bounds.perPull)
  if (!isFull) return none
  const closed = new Set([...mine.map(one => String(one.issue)), ...(await closedSince(ctx, intent))])
  const left = [...closings.now, ...closings.later].filter(one => !closed.has(one.issue))
  return { now: left, later: [] }
}

/** Issues that this account closed since the landing was intended, by its own records: keys are in the order of time. */
async function closedSince(ctx: IssuesContext, intent: Intent): Promise<string[]> {
  const first = [...intent.pulls, ...(intent.issues ?? [])].map(one => String(one.state)).sort()[0] ?? ''
  const subjects: string[] = []
  let cursor: string | undefined
  for (let read = 0; read < MOST_READ; ) {
    const page = await ctx.reader.listRecords(ctx.did, 'dev.knotless.state', { limit: PAGE, ...(cursor === undefined ? {} : { cursor }) })
    for (const record of page.records) {
      read++
      if (record.rkey < first) return subjects
      const state = readUsable(record, ofKind.state, ctx.now())
      if (state?.value.state === 'closed' && state.value.pull !== undefined) subjects.push(state.value.subject)
    }
    if (page.cursor === undefined || page.cursor === cursor || page.records.length === 0) return subjects
    cursor = page.cursor
  }
  return subjects
}
