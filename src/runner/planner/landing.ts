/** What came of a landing (LND-7, LND-15, GWY-8). */

import { ejection, headOf, owe, verdict } from './ejecting.ts'
import { blame, buildAgain, headsOf } from './judging.ts'
import { settleLanding } from './landed.ts'
import type { Done } from './memory.ts'
import { noPause, setBack, setbackOf } from './setbacks.ts'
import { dropFrom, isPast, queuedAs, remember, type Turn } from './turn.ts'
import type { Batch, DropCause, NotLanded, Result } from './types.ts'

/** The lowest batch has landed, or why not; the answer about any other is passed over. */
export function learnLanding(turn: Turn, result: Extract<Result, { of: 'land' }>): Turn {
  const [batch] = turn.batches
  if (batch?.id !== result.id) return turn
  return result.ok ? settleLanding(turn, batch) : notLanded(turn, batch, result)
}

/** LND-8: landings that a repair carried out or found carried out. */
export function learnRepair(turn: Turn, { landed }: Extract<Result, { of: 'repair' }>): Turn {
  const [lowest] = turn.batches
  const settled = lowest?.members.every(({ key }) => landed.includes(key)) === true ? settleLanding(turn, lowest) : turn
  const others = landed.filter(key => !isPast(settled, key)).map((key): Done => ({ key, how: 'landed', listedAt: turn.seen.now }))
  return remember(settled, { done: [...settled.memory.done, ...others] })
}

function notLanded(turn: Turn, batch: Batch, why: NotLanded): Turn {
  switch (why.why) {
    case 'trouble':
      return setBack(turn, { kind: 'land', about: batch.tip, keys: batch.members.map(({ key }) => key), said: why.said })
    case 'tree-differs':
      return remember(setBack(turn, { kind: 'differs' }), { versions: { mine: why.mine, theirs: why.theirs } })
    case 'not-lander':
      return setBack(turn, { kind: 'lander' })
    case 'branch-moved':
      return halt(startOver(turn, 'branch-moved'))
    case 'out':
      return passOver(startOver(turn, 'pull-moved-on'), why.keys)
    case 'head-moved':
    case 'head-unreadable':
      return why.keys.length === 0
        ? halt(startOver(turn, 'pull-moved-on'))
        : why.keys.reduce((so, key) => countHead(so, key, why.why), startOver(turn, 'pull-moved-on'))
    case 'not-delegated':
      return halt(ejectMembers(startOver(turn, 'landing-failed'), batch, why.said))
    case 'not-a-batch':
      return refused(turn, batch, why)
  }
}

/** LND-7: every batch is dropped, and the queue is built again. */
function startOver(turn: Turn, cause: DropCause): Turn {
  return remember(dropFrom(turn, 0, cause), { suspects: null, again: null })
}

/** What was read for this pass is behind, or nothing would be taken: the next pass goes on. */
function halt(turn: Turn): Turn {
  return remember(turn, { pass: { ...turn.memory.pass, halted: true } })
}

function passOver(turn: Turn, keys: readonly string[]): Turn {
  const { pass } = turn.memory
  return remember(turn, { pass: { ...pass, over: [...pass.over, ...keys] } })
}

/** LND-15: the second time that one queueing's head moved under a landing, or could not be read at one, ejects it. */
function countHead(turn: Turn, key: string, how: 'head-moved' | 'head-unreadable'): Turn {
  const counted = setBack(turn, { kind: 'moved', about: key, keys: [key], pause: noPause })
  const times = setbackOf(counted.memory, 'moved', key)?.times ?? 0
  const waiting = queuedAs(counted, key)
  if (times < 2 || waiting === undefined) return counted
  return how === 'head-moved'
    ? owe(counted, ejection(waiting, headOf(waiting), 'changed', { key: 'head-moved', times }), verdict)
    : owe(counted, ejection(waiting, headOf(waiting), 'unreadable', { key: 'head-unread', times }), verdict)
}

/** GWY-8: without a delegation nothing lands, so that its pulls are ejected rather than checked again. */
function ejectMembers(turn: Turn, { members }: Batch, said: string): Turn {
  const why = { key: 'no-delegation' as const, owner: turn.seen.owner, said }
  return members.reduce((so, member) => owe(so, ejection(member, member.head, 'gateway', why), verdict), turn)
}

/** GWY-8: a chain that the gateway will never accept. Once may be chance; twice for the same heads ejects the pull that it names, or looks for it by halves. */
function refused(turn: Turn, batch: Batch, { pull, said }: { pull?: string | undefined; said: string }): Turn {
  const { members } = batch
  const heads = headsOf(batch)
  if (setbackOf(turn.memory, 'refused', heads) === undefined) {
    const counted = setBack(turn, { kind: 'refused', about: heads, keys: members.map(({ key }) => key), pause: noPause, said })
    return buildAgain(dropFrom(counted, 0, 'landing-failed'), batch)
  }
  const named = members.find(member => member.pull === pull)
  if (named === undefined) return blame(turn, batch, { how: 'refused', names: [], checks: [], said })
  return owe(startOver(turn, 'landing-failed'), ejection(named, named.head, 'gateway', { key: 'gateway', said }), verdict)
}
