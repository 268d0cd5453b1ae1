/** What came of a stack: who is in, and what becomes of those who are not (BLD-4 to BLD-8, AHD-4, STO-11). */
import type { EjectionParts } from '../../queue/words/ejection.ts'
import { nothingBuiltSaid } from '../../queue/words/runner.ts'
import { leftByHalving } from './blame.ts'
import { ejection, headOf, owe, reading, thisHead, verdict } from './ejecting.ts'
import { ejectGone, unreadable } from './heads.ts'
import type { AskedStack, Grounds } from './memory.ts'
import { setBack, wentWell } from './setbacks.ts'
import { queuedAs, remember, type Turn } from './turn.ts'
import type { Batch, EjectionKind, LeftOut, Result, Waiting } from './types.ts'

type Built = Extract<Result, { of: 'build' }>
type Stack = NonNullable<Extract<Built, { ok: true }>['stack']>

/** Takes a stack into the line, and judges everybody who is not in it. A stack that was not asked for last is passed over (CHK-8). */
export function learnStack(turn: Turn, result: Built): Turn {
  const { asked } = turn.memory
  if (asked === null || asked.id !== result.id) return turn
  const answered = remember(turn, { asked: null })
  if (!result.ok) return setBack(answered, { kind: 'build', said: result.said })
  const first = asked.keys.indexOf(result.stack?.members[0]?.key ?? '')
  const judged = asked.keys.reduce(
    (so, key, at) => {
      const left = result.left.get(key)
      const waiting = queuedAs(so, key)
      return left === undefined || waiting === undefined ? so : leaveOut(so, waiting, left, asked, first === -1 || at < first)
    },
    wentWell(answered, 'build'),
  )
  if (result.stack === null && result.left.size === 0) return setBack(judged, { kind: 'build', said: nothingBuiltSaid() })
  if (asked.half) return learnHalf(judged, asked, result.stack)
  return result.stack === null ? judged : addBatch(remember(judged, { again: null }), asked, result.stack)
}

function addBatch(turn: Turn, { id, base, generation }: AskedStack, { tip, tree, members }: Stack): Turn {
  const below = turn.batches.at(-1)
  if (below !== undefined && below.tip !== base) return turn
  const batch: Batch = { id, base, generation, tip, tree, members, filed: false, builtAt: turn.seen.now }
  const read = members.reduce((so, { key }) => wentWell(so, 'unreadable', key), turn)
  return { ...read, batches: [...read.batches, batch] }
}

/** FAI-4, FAI-10: the last suspect is ejected without a run when its tree is the very tree that failed. A half that is not whole, or has other heads, finds nobody. */
function learnHalf(turn: Turn, asked: AskedStack, stack: Stack | null): Turn {
  const { suspects } = turn.memory
  if (stack === null) return remember(turn, { suspects: null })
  const isSuspect = (key: string, head: string) => suspects?.members.some(suspect => suspect.key === key && suspect.head === head) === true
  const isWhole = stack.members.length === asked.keys.length && stack.members.every(({ key, head }) => isSuspect(key, head))
  if (suspects === null || !isWhole) return addBatch(remember(turn, { suspects: null }), asked, stack)
  const [last, ...others] = suspects.members
  const waiting = last === undefined ? undefined : queuedAs(turn, last.key)
  const isKnown = others.length === 0 && suspects.how === 'failed' && stack.tree === suspects.failed.tree
  if (last === undefined || waiting === undefined || !isKnown) return addBatch(turn, asked, stack)
  return remember(owe(turn, leftByHalving(turn, waiting, suspects, last.head), verdict), { suspects: null })
}

/** `alone`: it was tried on the base, with nothing stacked before it. */
function leaveOut(turn: Turn, waiting: Waiting, left: LeftOut, asked: AskedStack, alone: boolean): Turn {
  const { branch } = turn.seen
  const head = left.head ?? headOf(waiting)
  const eject = (kind: EjectionKind, why: EjectionParts, grounds: Grounds) => owe(turn, ejection(waiting, head, kind, why), grounds)
  const here = thisHead(waiting, asked.base)
  switch (left.why) {
    case 'gone':
    case 'account-gone':
      return ejectGone(turn, waiting, left.why, thisHead(waiting, null))
    case 'unreadable':
      return unreadable(turn, waiting, left.server, 'fetched')
    case 'hostile':
      return eject('other', { key: 'hostile', detail: left.detail }, thisHead(waiting, null))
    case 'empty': {
      if (asked.under !== null) return setAside(turn, waiting, asked)
      // What it changes may be in those before it alone, and they may never land.
      if (!alone) return turn
      const on = left.commit === undefined ? {} : { commit: left.commit }
      return eject('empty', { key: 'empty', branch, tip: asked.base, ...on }, here)
    }
    case 'conflict':
      if (asked.under !== null) return setAside(turn, waiting, asked)
      return eject('conflict', conflict(turn, left, head ?? '', asked.base), left.with.length === 0 ? here : reading)
  }
}

/** BLD-6: with the branch alone, or with pulls that are stacked before it. */
function conflict(turn: Turn, left: Extract<LeftOut, { why: 'conflict' }>, head: string, tip: string): EjectionParts {
  const { branch, queue } = turn.seen
  const { files, more, with: others } = left
  if (others.length === 0) return { key: 'conflict', branch, tip, head, files, more }
  const pulls = others.map(({ pull }) => ({ pull, title: queue.find(waiting => waiting.pull === pull)?.title ?? pull }))
  return { key: 'conflict-pulls', branch, head, files, more, pulls, branches: others.map(other => other.branch) }
}

/** AHD-4: what stands in its way may never land; it waits to be built on the branch itself, and is not tried on this one again. */
function setAside(turn: Turn, waiting: Waiting, { base }: AskedStack): Turn {
  const left = turn.memory.aside?.base === base ? turn.memory.aside.left : []
  return remember(turn, { aside: { base, left: [...left, { key: waiting.key, head: headOf(waiting) ?? null }] } })
}
