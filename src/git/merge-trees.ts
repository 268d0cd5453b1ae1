import { admitLoose, dropLoose } from './loose.ts'
import { openMergeLoop } from './merge-loop.ts'
import { type CheckedHeads, headFaults, mergeAlone, type PairOutcome } from './merge-pairs.ts'
import type { Mirror } from './mirror.ts'
import { openQuarantine } from './quarantine.ts'

/**
 * Merges heads with one commit each by itself, all of them commits of the mirror, and leaves the trees of clean merges in it; of all else nothing
 * comes there. Outcomes are in the order of the heads.
 */
export async function mergeTrees(
  mirror: Mirror,
  asked: { onto: string; heads: readonly string[]; checked?: CheckedHeads | undefined; signal?: AbortSignal | undefined },
): Promise<PairOutcome[]> {
  const { onto, heads, checked, signal } = asked
  if (heads.length === 0) return []
  const quarantine = await openQuarantine(mirror)
  const place = { dir: mirror.dir, env: quarantine.env, signal }
  const loop = openMergeLoop(place)
  try {
    const looking = headFaults(
      place,
      heads.map(head => ({ onto, head })),
      checked,
    )
    // It is waited for after the first merge.
    looking.catch(() => undefined)
    const outcomes: PairOutcome[] = []
    for (const [at, head] of heads.entries()) {
      const said = await loop.merge(onto, head)
      const unread = (await looking)[at]
      const outcome = unread !== undefined ? { applies: null, unread } : said === 'unsaid' ? await mergeAlone(place, onto, head) : said
      await (outcome.applies ? admitLoose(mirror, quarantine.dir) : dropLoose(quarantine.dir))
      outcomes.push(outcome)
    }
    return outcomes
  } finally {
    loop.close()
    await quarantine.close()
  }
}
