import { mayPass } from '../../indexer/read.ts'
import type { Ground } from '../types.ts'
import type { Memory, Parts } from './parts.ts'

/** Merges in one pass at most, and results remembered of a repository. */
const MOST_NEW = 64
const MOST_KEPT = 5_000

interface Pair {
  pull: string
  head: string
  tip: string
}

/**
 * Whether heads apply on a tip, and the trees that come of it, remembered by head and tip (PRE-9). What could not be merged now is left out, and so is
 * what is over the bound of one pass.
 */
export async function mergedWith(
  { builder }: Pick<Parts, 'builder'>,
  memory: Pick<Memory, 'merged'>,
  ground: Ground,
  pairs: readonly Pair[],
): Promise<ReadonlyMap<string, { applies: true; tree: string } | { applies: false }>> {
  const unknown = pairs.filter(pair => !memory.merged.has(keyOf(pair))).slice(0, MOST_NEW)
  const outcomes = unknown.length === 0 ? [] : await builder.merged(ground, unknown)
  for (const [at, pair] of unknown.entries()) {
    const outcome = outcomes[at]
    if (outcome?.ok === true) memory.merged.set(keyOf(pair), { applies: true, tree: outcome.tree })
    // A head that nobody can take does not apply either: building the batch says what is wrong with it.
    else if (outcome !== undefined && ('why' in outcome || !mayPass(outcome.code))) memory.merged.set(keyOf(pair), { applies: false })
  }
  for (const key of memory.merged.keys()) {
    if (memory.merged.size <= MOST_KEPT) break
    memory.merged.delete(key)
  }
  return new Map(
    pairs.flatMap(pair => {
      const known = memory.merged.get(keyOf(pair))
      return known === undefined ? [] : [[pair.pull, known] as const]
    }),
  )
}

function keyOf({ head, tip }: Pair): string {
  return `${head} ${tip}`
}
