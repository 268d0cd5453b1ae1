/** Whose fault it was, in exact words: alone, on top of others, or together with another one (FAI-2, FAI-4, FAI-7). */
import { list, type Phrase } from '../../queue/words/phrase.ts'
import { ejection } from './ejecting.ts'
import type { Failure } from './judging.ts'
import type { Ejection, Named, Suspects } from './memory.ts'
import { queuedAs, type Turn } from './turn.ts'
import type { Batch, Member, Waiting } from './types.ts'

/** FAI-2, FAI-8, GWY-8: a batch of one names its culprit. */
export function failedAlone(turn: Turn, batch: Batch, member: Member, { how, names, checks, said = '' }: Failure): Ejection {
  const { key, head } = member
  if (how === 'timed-out') return ejection(member, head, 'timeout', { key: 'timeout', names }, checks)
  if (how === 'refused') return ejection(member, head, 'gateway', { key: 'gateway', said })
  const now = queuedAs(turn, key)?.head
  const newer = now?.state === 'at' && now.commit !== head ? 'unknown' : 0
  const { suspects } = turn.memory
  const onTop = suspects === null ? [] : [...suspects.before, ...suspects.since]
  const others = onTop.length === 0 ? {} : { onTop: named(onTop) }
  const { branch } = turn.seen
  return ejection(member, head, 'checks', { key: 'alone', names, commit: batch.tip, branch, tip: batch.base, newer, ...others }, checks)
}

/** FAI-4: the one suspect that is left. Its checks are the first failing batch's. */
export function leftByHalving(turn: Turn, waiting: Waiting, { failed, checks, before, since }: Suspects, head: string): Ejection {
  const { branch } = turn.seen
  const { names, size, base } = failed
  const others = named(since)
  const isPair = before.length === 0 && since.length === 1 && passedBy(turn, waiting, names)
  const why = isPair
    ? { key: 'together' as const, names, others, branch, halving: true }
    : { key: 'halving' as const, names, others, size, branch, tip: base }
  return ejection(waiting, head, 'checks', why, checks)
}

/** Whether it passed these workflows by itself, before the other one landed. */
function passedBy({ seen }: Turn, { flights }: Waiting, names: readonly string[]): boolean {
  if (flights === 'unread') return false
  return names.every(name =>
    flights.some(({ workflow, state, tip }) => workflow === name && state === 'passed' && tip !== undefined && tip !== seen.tip?.commit),
  )
}

function named(pulls: readonly Named[]): Phrase {
  return list(pulls.map(({ pull, title }) => ({ pull, title })))
}
