import type { Did } from '../../atproto/ids.ts'
import type { Mirror } from '../../git/mirror.ts'
import { pushRefs } from '../../git/push.ts'
import type { RefUpdate } from '../../git/refs-update.ts'
import type { Refusal, WriteAct } from '../../queue/words/refusals.ts'
import { type Along, createOwnersAccount } from './account.ts'
import { afterWrite } from './after-write.ts'
import { type GatewayContext, hostOf } from './context.ts'
import type { Ground } from './gather.ts'
import type { AuditEntry } from './types.ts'
import { noRight, reasonOf, writeRefusal } from './write-refusal.ts'

export interface WriteAsked {
  act: WriteAct
  caller: Did
  ground: Ground
  mirror: Mirror
  /** Where git finds the new objects. */
  env: Readonly<Record<string, string>>
  /** Commits that are known to lie there. */
  commits?: ReadonlySet<string> | undefined
  updates: readonly (RefUpdate & { old: string | null })[]
  /** Records of the owner's, created in the same commit. */
  along: readonly Along[]
  /** A line for each update. */
  entries: readonly AuditEntry[]
  /** Judges again over what is so now: before every try but the first, and when long has passed before the record is sent. */
  mayStill(): Promise<Refusal | undefined>
}

/** For how long a judgement is good, in milliseconds: with a pack of a common size it is written within less. */
const FRESH_MS = 1_000

/** `ours`: what stands was written by this very call. `moved`: a ref is not where it was any more. */
export type WriteDone = { ok: true; ours: boolean } | { ok: false; refusal: Refusal; moved: boolean }

/**
 * Writes refs, and what goes along, into the owner's account: noted before it is sent and settled after (GWY-6), the mirror and the index brought
 * along, so that whoever asks next reads what was written.
 */
export async function writeRefs(ctx: GatewayContext, asked: WriteAsked): Promise<WriteDone> {
  const { ground, along, entries, mirror, updates } = asked
  const right = await ctx.delegations.session(ground.owner)
  if (!right.ok) {
    const refusal = await noRight(ctx, asked, right.why)
    ctx.audit.refused(entries.map(entry => ({ ...entry, code: refusal.code, reason: reasonOf(ctx, ground, refusal) })))
    return { ok: false, refusal, moved: false }
  }
  const host = await hostOf(ctx, ground.owner).catch(() => ground.owner)
  let ids: readonly number[] | undefined
  let late: Refusal | undefined
  let judged = ground.readAt
  const judgeAgain = async () => {
    late = await asked.mayStill()
    judged = performance.now()
    return late === undefined
  }
  // A pack may have been on its way for minutes, in which the owner took the right back.
  const sending = async () => {
    if (performance.now() - judged > FRESH_MS && !(await judgeAgain())) return false
    ids ??= ctx.audit.begin(entries)
    return true
  }
  const account = createOwnersAccount(ctx, { session: right.session, host, name: ground.name, along, first: ground.found, sending })
  let tries = 0
  // What the first try reads is what was judged.
  const mayStill = async () => ++tries === 1 || (await judgeAgain())
  const now = () => new Date(ctx.now())
  const pushing = pushRefs({
    gitDir: mirror.dir,
    mirror,
    env: asked.env,
    commits: asked.commits,
    updates,
    account,
    repo: ground.repo,
    now,
    mayStill,
  })
  const done = await pushing.catch((error: unknown) => {
    if (ids !== undefined) ctx.audit.settle(ids, 'unknown')
    throw error
  })
  if (done.ok) {
    if (ids !== undefined) ctx.audit.settle(ids, 'written')
    return { ok: true, ours: await afterWrite(ctx, { ground, along, account, done }) }
  }
  if (done.code === 'missing-commit' || done.code === 'missing-object') ctx.mirrored.delete(ground.repo)
  const refusal = late ?? (await writeRefusal(ctx, asked, account, done))
  const said = { code: refusal.code, reason: reasonOf(ctx, ground, refusal) }
  if (ids === undefined) ctx.audit.refused(entries.map(entry => ({ ...entry, ...said })))
  else {
    // A write whose answer was lost may stand: the branch tells, later.
    const mayStand = account.unsure && (late !== undefined || done.code === 'upstream-failed')
    ctx.audit.settle(ids, mayStand ? 'unknown' : 'refused', said)
  }
  return { ok: false, refusal, moved: late === undefined && done.code === 'branch-moved' }
}
