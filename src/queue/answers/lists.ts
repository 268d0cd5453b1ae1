/** dev.knotless.listPulls and dev.knotless.listChecks. */
import type * as knotless from '../../lexicons/dev/knotless.ts'
import { repoOf } from '../admission.ts'
import { isRefOf } from '../batches.ts'
import type { CheckRecord, Stored } from '../facts.ts'
import { millis, order } from '../runs.ts'
import { standing } from '../standing.ts'
import type { PullView, RepositoryView } from '../view.ts'
import { branchNotFound, pullNotFound } from '../words/refusals.ts'
import { type Answer, type AnswerContext, phraseVoice, textVoice, type Voice } from './context.ts'
import { type PageQuery, pageOf } from './pages.ts'
import { checkView, pullView, standingView } from './parts.ts'

export interface PullsQuery extends PageQuery {
  state?: string | undefined
  branch?: string | undefined
  /** DID. */
  author?: string | undefined
  /** The repository has `branch`, although no open pull is onto it. */
  branchPresent?: boolean | undefined
}

/** The answer of dev.knotless.listPulls, newest first. */
export function pullsAnswer(view: RepositoryView, query: PullsQuery, ctx: AnswerContext): Answer<knotless.listPulls.$OutputBody> {
  return pulls(view, query, ctx, textVoice(ctx))
}

/** The same for a page, its sentences in parts. */
export function pullsParts(view: RepositoryView, query: PullsQuery, ctx: AnswerContext) {
  return pulls(view, query, ctx, phraseVoice)
}

function pulls<W>(view: RepositoryView, query: PullsQuery, ctx: AnswerContext, voice: Voice<W>) {
  const { branch, state, author } = query
  const all = [...view.pulls.values()]
  if (branch !== undefined && query.branchPresent !== true && !view.branches.has(branch) && !all.some(pull => pull.branch === branch)) {
    return { ok: false as const, refusal: branchNotFound(repoOf(view), branch, [...view.branches.keys()]) }
  }
  const chosen = all.filter(
    pull =>
      (state === undefined || pull.state === state) &&
      (branch === undefined || pull.branch === branch) &&
      (author === undefined || pull.pull.did === author),
  )
  const placeOf = ({ pull }: PullView) => `${pull.rkey}:${pull.did}`
  const page = pageOf(newestFirst(chosen, placeOf), placeOf, query, true)
  const shown = page.items.map(pull => ({
    pull: pullView(pull, ctx.names),
    standing: standingView(standing(view, pull, ctx), voice, ctx.names),
  }))
  return { ok: true as const, body: { pulls: shown, cursor: page.cursor } }
}

export interface ChecksQuery extends PageQuery {
  /** AT-URI: only this pull's own runs. */
  pull?: string | undefined
  commit?: string | undefined
  /** Only this branch's batches. */
  branch?: string | undefined
}

/**
 * The answer of dev.knotless.listChecks, newest first, out of `checks`: those of the repository as stored, or a part of them that holds
 * everything the query asks for. Only named runners' are shown (STA-7).
 */
export function checksAnswer(
  view: RepositoryView,
  checks: readonly Stored<CheckRecord>[],
  query: ChecksQuery,
  ctx: AnswerContext,
): Answer<knotless.listChecks.$OutputBody> {
  const { pull, commit, branch } = query
  if (pull !== undefined && !view.pulls.has(pull)) return { ok: false, refusal: pullNotFound() }
  const chosen = checks.filter(
    ({ did, value }) =>
      view.roles.namedRunner(did) &&
      (pull === undefined || value.pull === pull) &&
      (commit === undefined || value.commit === commit) &&
      (branch === undefined || (value.batch !== undefined && isRefOf(value.ref, branch))),
  )
  const page = pageOf(newestFirst(chosen, checkPlace), checkPlace, query, true)
  return { ok: true, body: { checks: page.items.map(run => checkView(run, ctx.names)), cursor: page.cursor } }
}

function newestFirst<T>(items: readonly T[], placeOf: (item: T) => string): T[] {
  return items
    .map(item => ({ item, place: placeOf(item) }))
    .sort((a, b) => order(b.place, a.place))
    .map(({ item }) => item)
}

/** Filing time, padded so that it sorts as text, then address; cut to what a cursor may hold. */
function checkPlace(check: Stored<CheckRecord>): string {
  const filed = Math.max(0, millis(check.value.createdAt) ?? 0)
  return `${filed.toString().padStart(16, '0')}:${check.did}:${check.rkey}`.slice(0, 500)
}
