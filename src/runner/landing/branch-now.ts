/** Where a branch is, and whether a landing is on its first-parent line (LND-8, LND-11). */
import type { AtUri } from '../../atproto/ids.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import { firstParentChain } from '../../git/chain.ts'
import { objectTypes } from '../../git/objects.ts'
import { refName } from '../../git/ref-names.ts'
import { checkRefsRecord, type RefsRecord } from '../../git/refs-record.ts'
import { readRefsAt } from '../../indexer/sources/read-records.ts'
import type { RefsRecord as RefsValue, Stored } from '../../queue/facts.ts'
import type { RunnerContext } from '../context.ts'
import type { Builder, Ground } from '../types.ts'
import { words } from './words.ts'

/** A line is followed for so many commits above a landing: nobody pushes more before a lander looks again. */
const MOST = 100_000

/** `at-base`: nothing has landed, so far. `elsewhere`: the branch is gone, is another one by now, or went on without the landing. */
export type Where = { at: 'landed' | 'at-base' | 'elsewhere' } | { at: 'unknown'; said: string }

export interface LandingPlace {
  branch: string
  generation: number
  base: string
  tip: string
}

/** A repository's refs as its owner's account has them now. */
export async function readRefsNow(
  ctx: Pick<RunnerContext, 'reader' | 'now'>,
  repo: AtUri,
): Promise<{ ok: true; refs: RefsRecord; stored: Stored<RefsValue> } | { ok: false; said: string }> {
  try {
    const read = await readRefsAt(ctx.reader, repo, ctx.now())
    if (read.record === undefined) return { ok: false, said: words.unreadBranch(read.fault.message) }
    const checked = checkRefsRecord(read.record.value, repo)
    return checked.ok ? { ok: true, refs: checked.record, stored: read.record } : { ok: false, said: words.unreadBranch(checked.message) }
  } catch (error) {
    if (error instanceof UpstreamError) return { ok: false, said: words.unreadBranch(error.message) }
    throw error
  }
}

/** What became of a landing, by where its branch is in this ground. What the mirror lacks for that is brought. Rejects when git fails. */
export async function whereIs(builder: Pick<Builder, 'bring'>, ground: Ground, landing: LandingPlace): Promise<Where> {
  const row = ground.refs.refs.find(ref => ref.name === refName(landing.branch))
  if (row === undefined || row.generation !== landing.generation) return { at: 'elsewhere' }
  if (row.commit === landing.tip) return { at: 'landed' }
  if (row.commit === landing.base) return { at: 'at-base' }
  const brought = await builder.bring(ground)
  if (!brought.ok) return { at: 'unknown', said: brought.message }
  const place = { dir: brought.mirror.dir }
  const [tip] = await objectTypes(place, [landing.tip])
  if (tip?.type !== 'commit') return { at: 'elsewhere' }
  const chain = await firstParentChain(place, { from: landing.tip, to: row.commit, most: MOST })
  return { at: chain.ok ? 'landed' : 'elsewhere' }
}
