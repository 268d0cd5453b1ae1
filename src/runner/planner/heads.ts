/** Pulls that are taken out before anything is built with them: drafts, pinned pulls that changed, heads that are gone (QUE-5, QUE-9, BLD-4). */
import { parseAtUri } from '../../atproto/ids.ts'
import type { EjectionParts } from '../../queue/words/ejection.ts'
import { ejection, headOf, owe, reading, thisHead } from './ejecting.ts'
import type { Grounds } from './memory.ts'
import { backOff, setBack, setbackOf, wentWell } from './setbacks.ts'
import { outsideBatches, type Turn } from './turn.ts'
import type { Snapshot, Waiting } from './types.ts'

const HOUR = 3_600_000

/** QUE-5: one that was made a draft while it was queued is ejected, so that leaving draft does not queue it again unseen. */
export function takeOutDrafts(turn: Turn): Turn {
  return turn.seen.drafts.reduce(
    (so, held) => owe(so, ejection(held, held.head, 'draft', { key: 'draft', by: held.author }), reading),
    turn,
  )
}

/** QUE-9: on a pinned branch a pull whose author may not queue stays what its queuer saw, or is out, also out of a batch. */
export function takeOutChanged(turn: Turn): Turn {
  if (!turn.seen.pinned) return turn
  return turn.seen.queue.reduce((so, waiting) => [waiting, asBuilt(turn, waiting)].reduce(takeOutIfChanged, so), turn)
}

function takeOutIfChanged(turn: Turn, waiting: Waiting): Turn {
  const why = changed(turn.seen, waiting)
  return why === undefined ? turn : owe(turn, ejection(waiting, headOf(waiting), 'changed', why), reading)
}

/** A pull with the head that its batch has: it may have moved between the reading and the building. */
function asBuilt({ batches }: Turn, waiting: Waiting): Waiting {
  const member = batches.flatMap(({ members }) => members).find(({ key }) => key === waiting.key)
  return member === undefined ? waiting : { ...waiting, head: { state: 'at', commit: member.head } }
}

function changed({ branch }: Snapshot, { authorMayQueue, head, sawHead, sawBranch }: Waiting): EjectionParts | undefined {
  if (authorMayQueue || head.state !== 'at') return undefined
  if (sawHead === undefined) return { key: 'unseen', head: head.commit }
  if (sawHead !== head.commit) return { key: 'changed', from: sawHead, to: head.commit }
  return sawBranch === undefined || sawBranch === branch ? undefined : { key: 'retargeted', from: sawBranch, to: branch }
}

/**
 * BLD-4: a head that is gone; one that has been unreadable for an hour. What is in a batch is left alone until it lands (MOV-3), and no hour is measured by a
 * clock that is off (REC-8).
 */
export function takeOutGone(turn: Turn): Turn {
  return turn.seen.standBy?.why === 'clock' ? turn : outsideBatches(turn).reduce(lookAtHead, turn)
}

function lookAtHead(turn: Turn, waiting: Waiting): Turn {
  const { head, key } = waiting
  switch (head.state) {
    case 'gone':
    case 'account-gone':
      return ejectGone(turn, waiting, head.state, reading)
    case 'unreadable':
      return unreadable(turn, waiting, head.server, 'seen')
    case 'at':
      // What could not be fetched stays counted until a stack has it: that its place can be read says nothing about its objects.
      return setbackOf(turn.memory, 'unreadable', key)?.check === 'seen' ? wentWell(turn, 'unreadable', key) : turn
  }
}

/** BLD-4: its head branch, or the account that held it, is gone. */
export function ejectGone(turn: Turn, waiting: Waiting, state: 'gone' | 'account-gone', grounds: Grounds): Turn {
  const { author, headBranch, headRepo } = waiting
  const { did, rkey } = parseAtUri(headRepo) ?? { did: author, rkey: '' }
  const why: EjectionParts =
    state === 'account-gone' ? { key: 'account-gone', author: did } : { key: 'branch-gone', head: headBranch, owner: did, name: rkey }
  return owe(turn, ejection(waiting, undefined, 'branch-gone', why), grounds)
}

/** Left out and tried again after the back-off; ejected after an hour. `how`: the pass could not read where it is, or the stack could not fetch it. */
export function unreadable(turn: Turn, waiting: Waiting, server: string, how: 'seen' | 'fetched'): Turn {
  const { key, headBranch } = waiting
  const { now } = turn.seen
  const before = setbackOf(turn.memory, 'unreadable', key)
  if (before !== undefined && now - before.since >= HOUR) {
    const grounds = how === 'seen' ? reading : thisHead(waiting, null)
    return owe(turn, ejection(waiting, headOf(waiting), 'unreadable', { key: 'unreadable', head: headBranch, server }), grounds)
  }
  if (before !== undefined && before.until > now) return turn
  // The last try is made when the hour is over, and not after.
  const left = (before?.since ?? now) + HOUR - now
  const pause = (times: number) => Math.min(backOff(times), left)
  return setBack(turn, { kind: 'unreadable', about: key, keys: [key], said: server, check: how, pause })
}
