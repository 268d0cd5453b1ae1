/** Where the heads of pulls are, and their objects in the repository's own mirror (BLD-2, BLD-4, STO-11). */
import { parseAtUri, parseNsid } from '../../atproto/ids.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import type { CheckedHeads } from '../../git/merge-pairs.ts'
import type { Mirror } from '../../git/mirror.ts'
import { branchTip, checkRefsRecord, type RefsRecord } from '../../git/refs-record.ts'
import { type GitRefusal, type GitRefusalCode, refuse } from '../../git/refusal.ts'
import { takeOver } from '../../git/take-over.ts'
import { words } from '../../git/words.ts'
import { gather } from '../../indexer/sources/gather.ts'
import { isOwn } from '../../queue/spent.ts'
import type { PullView } from '../../queue/view.ts'
import type { RunnerContext } from '../context.ts'
import type { LeftOut } from '../planner/types.ts'
import type { Ground, Source } from '../types.ts'
import type { BroughtMirrors } from './mirrors.ts'

/** Forks brought up to date at the same time. */
const AT_ONCE = 4

/** Refusals that say nothing about a head: its server, or this machine. What this machine fails at keeps neither a pull out for good nor others from it. */
const passing: ReadonlySet<GitRefusalCode> = new Set(['upstream-failed', 'blob-missing', 'rate-limited', 'failed'])

export interface HeadsDeps {
  ctx: Pick<RunnerContext, 'reader' | 'identity' | 'log'>
  brought: BroughtMirrors
  checked: CheckedHeads
  /** How long a build waits for one fork, in milliseconds; it goes on coming. */
  patienceMs: number
}

/** A head that is in the mirror, or why it is not. */
export type FoundHead = { ok: true; head: string } | { ok: false; left: LeftOut }

type Usable = Pick<Extract<Source, { state: 'read' }>, 'refs'> & { record: { cid: string; value: unknown } }
type Unusable = Exclude<Source, { state: 'read' }>

/**
 * The heads of pulls as the records read for the pass say, each brought into `mirror` with all that it leads to, in the order asked. `at`: the commit
 * that is asked for, instead of where the branch is. A fork that stalls, lies or is too large leaves out its own pulls alone.
 */
export async function findHeads(
  { ctx, brought, checked, patienceMs }: HeadsDeps,
  asked: { ground: Ground; mirror: Mirror; base: string; pulls: readonly { pull: PullView; at?: string | undefined }[] },
): Promise<FoundHead[]> {
  const { ground, mirror, base, pulls } = asked
  const forks = new Set(pulls.map(({ pull }) => pull.pull.value.head.repo).filter(repo => !isOwn(ground.view, repo)))
  const places = new Map(await gather([...forks], AT_ONCE, async repo => [repo, await openFork(repo)] as const))
  const found = pulls.map(({ pull, at }): FoundHead & { objects?: string } => {
    const { repo, branch } = pull.pull.value.head
    const fork = places.get(repo)
    if (fork !== undefined && 'left' in fork) return { ok: false, left: fork.left }
    const head = at ?? branchTip(fork?.refs ?? ground.refs, branch)
    if (head === undefined) return { ok: false, left: { why: 'gone' } }
    return { ok: true, head, ...(fork === undefined ? {} : { objects: fork.mirror.objects }) }
  })
  const commits = found.flatMap(one => (one.ok && one.objects !== undefined ? [{ commit: one.head, objects: one.objects }] : []))
  const refused = commits.length === 0 ? new Map<string, GitRefusal>() : await takeOver(mirror, { base, commits, checked })
  return await Promise.all(
    found.map(async (one, at): Promise<FoundHead> => {
      const refusal = one.ok ? refused.get(one.head) : undefined
      if (refusal === undefined) return one.ok ? { ok: true, head: one.head } : one
      return { ok: false, left: await leftBy(refusal, pulls[at]?.pull.pull.value.head.repo ?? '') }
    }),
  )

  async function openFork(repo: string): Promise<{ mirror: Mirror; refs: RefsRecord } | { left: LeftOut }> {
    const source = await sourceOf(repo)
    if (!('record' in source)) return { left: leftOf(source) }
    const opened = await brought.bring(repo, source.record, patienceMs)
    return opened.ok ? { mirror: opened.mirror, refs: source.refs } : { left: await leftBy(opened, repo) }
  }

  async function leftBy(refusal: GitRefusal, repo: string): Promise<LeftOut> {
    if (!passing.has(refusal.code)) return { why: 'hostile', detail: refusal.message }
    ctx.log.warn('head not fetched', { repository: repo, said: refusal.message })
    return { why: 'unreadable', server: await serverOf(repo) }
  }

  /** As it was read for this pass; a fork that was not is read now. */
  async function sourceOf(repo: string): Promise<Usable | Unusable> {
    const known = ground.sources.get(repo)
    if (known?.state === 'read') return { refs: known.refs, record: known.stored }
    return known ?? (await readSource(ctx, repo))
  }

  async function serverOf(repo: string): Promise<string> {
    const at = parseAtUri(repo)
    const document = at === undefined ? undefined : await ctx.identity.resolveDocument(at.did).catch(() => undefined)
    return document?.pds === undefined || !URL.canParse(document.pds) ? (at?.did ?? repo) : new URL(document.pds).host
  }
}

async function readSource(ctx: HeadsDeps['ctx'], repo: string): Promise<Usable | Unusable> {
  const at = parseAtUri(repo)
  const collection = parseNsid('dev.knotless.refs')
  if (at === undefined || collection === undefined) return { state: 'gone' }
  try {
    const found = await ctx.reader.getRecord(at.did, collection, at.rkey)
    if (found === undefined) {
      const state = await ctx.reader.getRepoStatus(at.did)
      if (state === 'unknown') return { state: 'unreadable', server: at.did, said: '' }
      return { state: state === 'active' ? 'gone' : 'account-gone' }
    }
    const checked = checkRefsRecord(found.value, repo)
    if (!checked.ok) return { state: 'broken', detail: checked.message }
    return { refs: checked.record, record: found }
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error
    return error.reason === 'no-account' ? { state: 'account-gone' } : { state: 'unreadable', server: error.host, said: error.message }
  }
}

function leftOf(source: Unusable): LeftOut {
  switch (source.state) {
    case 'gone':
      return { why: 'gone' }
    case 'account-gone':
      return { why: 'account-gone' }
    case 'unreadable':
      return { why: 'unreadable', server: source.server }
    case 'broken':
      return { why: 'hostile', detail: source.detail }
  }
}

/** A head that is left out, as a refusal of git. */
export function refusalOf(left: LeftOut): GitRefusal {
  if (left.why === 'hostile') return refuse('bad-pack', left.detail)
  return left.why === 'unreadable' ? refuse('upstream-failed', words.recordUnread()) : refuse('missing-commit', words.noHead())
}
