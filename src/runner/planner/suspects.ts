/** Halving: of a batch that failed the pulls are suspects, and their first half runs alone next (FAI-3 to FAI-5). */
import type { Named, Suspect, Suspects } from './memory.ts'
import { isPast, queuedAs, remember, type Turn } from './turn.ts'
import type { Batch, FailedRun } from './types.ts'

/** How many of the suspects run next: the first half, rounded up. */
export function halfOf(suspects: Suspects): number {
  return Math.ceil(suspects.members.length / 2)
}

/** The pulls of a batch that failed become the suspects. Those of a half keep the checks of the batch that failed first, in the same way. */
export function suspectAll(
  turn: Turn,
  batch: Batch,
  failure: { how: Suspects['how']; names: readonly string[]; checks: readonly FailedRun[] },
): Turn {
  const { how, names, checks } = failure
  const before = turn.memory.suspects
  const first = before?.how === how ? before : null
  return remember(turn, {
    suspects: {
      members: batch.members.map(({ key, pull, head }): Suspect => ({ key, pull, head, title: titleOf(turn, key) })),
      how,
      tip: batch.base,
      generation: batch.generation,
      checks: first?.checks ?? checks,
      of: first?.of ?? batch.members.length,
      failed: { base: batch.base, tree: batch.tree, size: batch.members.length, names },
      before: before === null ? [] : [...before.before, ...before.since],
      since: [],
    },
  })
}

/** A half that lands: its pulls stop being suspects, and the rest is looked for on the branch as it is now. */
export function suspectsLanded(suspects: Suspects | null, batch: Batch): Suspects | null {
  if (suspects === null) return null
  const landed = new Set(batch.members.map(({ key }) => key))
  const members = suspects.members.filter(({ key }) => !landed.has(key))
  if (members.length === 0) return null
  const since = suspects.members.filter(({ key }) => landed.has(key)).map(({ pull, title }): Named => ({ pull, title }))
  return { ...suspects, members, tip: batch.tip, since: [...suspects.since, ...since] }
}

/** FAI-5, FAI-10: suspects hold only while what failed would fail the same way. */
export function reviewSuspects(turn: Turn): Turn {
  const { suspects } = turn.memory
  const { tip } = turn.seen
  if (suspects === null) return turn
  const isThere = tip?.commit === suspects.tip && tip.generation === suspects.generation
  return isThere && suspects.members.every(suspect => isAsItWas(turn, suspect)) ? turn : remember(turn, { suspects: null })
}

function isAsItWas(turn: Turn, { key, head }: Suspect): boolean {
  const now = isPast(turn, key) ? undefined : queuedAs(turn, key)?.head
  return now?.state === 'at' && now.commit === head
}

/** The title of a queued pull. */
export function titleOf(turn: Turn, key: string): string {
  return queuedAs(turn, key)?.title ?? ''
}
