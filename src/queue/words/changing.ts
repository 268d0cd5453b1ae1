/** Closing a pull, opening it again, and whether it is a draft: what it costs, what came of it, what is in its way. */
import type { LeaveParts } from './leave.ts'
import { code, count, ordinal, type Phrase, say } from './phrase.ts'
import { type ChangeAct, LEADS, type Refusal } from './refusals.ts'

/** What the buttons are called. */
export const changeLabels: Readonly<Record<ChangeAct, string>> = {
  close: 'Close',
  reopen: 'Reopen',
  ready: 'Mark as ready',
  draft: 'Make a draft',
}

/** The question before a pull that is queued is closed or made a draft: its headline, what it would do, and the way back. */
export interface ChangeQuestion {
  headline: Phrase
  says: Phrase
}

const HEADLINES = { close: 'Close this pull?', draft: 'Make this pull a draft?' } as const

/** `leave`: where it stands in its queue, if it does. */
export function changeQuestion(act: 'close' | 'draft', leave: LeaveParts | undefined): ChangeQuestion {
  const back = act === 'close' ? say`Reopening it does not queue it again.` : say`Add it again once it is ready.`
  const headline = say`${HEADLINES[act]}`
  switch (leave?.key) {
    case 'queued':
      return { headline, says: say`It leaves the queue and gives up ${ordinal(leave.position)} place; nobody else is affected. ${back}` }
    case 'in-batch': {
      const stops = leave.ahead ? say`stops, and so does the one ahead of it` : say`stops`
      const again =
        leave.others === 0 ? say`nobody else is affected` : say`${count(leave.others, 'other pull is', 'other pulls are')} checked again`
      return { headline, says: say`It leaves the queue: its batch of ${leave.size} ${stops}; ${again}. ${back}` }
    }
    case 'held':
    case undefined:
      return {
        headline,
        says: act === 'close' ? say`It stays as it is and can be reopened.` : say`A draft cannot be queued until it is marked as ready.`,
      }
  }
}

/** Beside the buttons of a pull that is queued; `held`: a draft that nobody has taken out yet (QUE-5). */
export function changeCosts(close: boolean, draft: boolean, held = false): Phrase | undefined {
  if (held) return say`It was queued and nothing has taken it out yet: marked as ready now, it is back at its place.`
  if (close && draft) return say`Closing it or making it a draft takes it out of the queue as well.`
  if (close) return say`Closing it takes it out of the queue as well.`
  return draft ? say`Making it a draft takes it out of the queue as well.` : undefined
}

/** It was so already: an answer rather than an error. */
export function changedAlready(act: ChangeAct): { code: string; message: Phrase; advice: Phrase } {
  const is = { close: 'closed', reopen: 'open', ready: 'ready', draft: 'a draft' }[act]
  return { code: 'done', message: say`It is ${is} already.`, advice: say`Nothing was written.` }
}

/** HON-8: what was marked merged is opened again only while its commit is not on the branch. `there` is undefined while that is not known. */
export function landedAlready(branch: string, there: boolean | undefined): Refusal {
  return {
    code: 'pull-not-open',
    message:
      there === true
        ? say`Not reopened: it has landed in ${branch}.`
        : say`Not reopened: whether it has landed in ${branch} is not known yet.`,
    advice: there === true ? say`Open a new one.` : say`Try again in a minute.`,
  }
}

/** QUE-2: nothing that anybody writes opens such a pull. */
export function authorGone(): Refusal {
  return { code: 'pull-not-open', message: say`Not reopened: its author’s account is gone.`, advice: say`Open a new one.` }
}

/** The record was edited by something else each time. */
export function pullChanged(act: ChangeAct): Refusal {
  return {
    code: 'head-moved',
    message: say`${LEADS[act]}: the pull’s record was changed meanwhile.`,
    advice: say`Nothing was written. The page shows what it says now. If it is still what you want, do it again.`,
  }
}

const toClose = { to: 'close and reopen pulls here', does: 'write', collection: 'dev.knotless.state' }
const toEdit = { to: 'say here whether your pulls are drafts', does: 'change', collection: 'dev.knotless.pull' }
const RIGHTS: Readonly<Record<ChangeAct, typeof toClose>> = {
  close: toClose,
  reopen: toClose,
  ready: toEdit,
  draft: toEdit,
}

/** Before the first time: what the account's server asks. */
export function changeRight(act: ChangeAct, host: string): Phrase {
  const { to, does, collection } = RIGHTS[act]
  return say`To ${to}, let this server ${does} ${code(collection)} records for you. ${host} asks you once; you come back to this page.`
}

/** What came of asking for that right. */
export function changeRightRefused(act: ChangeAct, why: string): { code: string; message: Phrase; advice: Phrase } {
  const right = say`the right to ${RIGHTS[act].to}`
  if (why === 'denied')
    return { code: 'denied', message: say`${LEADS[act]}: you denied ${right}.`, advice: say`Continue again when you want to.` }
  if (why === 'too-little')
    return {
      code: 'scope-missing',
      message: say`${LEADS[act]}: your server did not grant ${right}.`,
      advice: say`Continue again and leave it ticked.`,
    }
  return { code: 'upstream-failed', message: say`${LEADS[act]}: it did not work out at your server.`, advice: say`Continue again.` }
}

/** Back from the account's server with the right: nothing is done unasked. */
export function changeRightGranted(act: ChangeAct): { code: string; message: Phrase } {
  return { code: 'granted', message: say`Your server lets this one do that now. Nothing was changed yet: press “${changeLabels[act]}”.` }
}
