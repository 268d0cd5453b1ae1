import { tidAt, tidMillis } from '../../queue/tid.ts'
import type { RunnerContext } from '../context.ts'

/** A key for a record of this account, greater than `above` (REC-7). Undefined where none can be. */
export function keyAbove(ctx: Pick<RunnerContext, 'nextKey'>, above: string | undefined): string | undefined {
  const key = ctx.nextKey(above)
  if (above === undefined || key > above) return key
  const next = tidMillis(above) + 1
  return Number.isNaN(next) ? undefined : tidAt(next)
}

/** When a record with this key was made, as its `createdAt`: the same however often it is written (STO-7). */
export function madeAt(key: string): string {
  return new Date(tidMillis(key)).toISOString()
}
