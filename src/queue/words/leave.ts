/** What leaving costs: the question before it, and the sentence beside the button. */
import { landsIn } from './expected.ts'
import { count, ordinal, type Phrase, say, who } from './phrase.ts'

export type LeaveParts =
  | { key: 'queued'; position: number }
  /** `others` are checked again: the rest of its batch, and of every batch that stands on it. */
  | { key: 'in-batch'; size: number; others: number; ahead: boolean }
  /** A draft is held out of the queue; leaving takes its entry away. */
  | { key: 'held' }

export interface LeaveWords {
  question: Phrase
  beside: Phrase
}

export function leaveWords(parts: LeaveParts): LeaveWords {
  switch (parts.key) {
    case 'queued': {
      const gives = `gives up ${ordinal(parts.position)} place`
      return {
        question: say`Leave the queue? This ${gives}; nobody else is affected.`,
        beside: say`Leaving ${gives}. Nobody else is affected.`,
      }
    }
    case 'in-batch': {
      const stops = parts.ahead ? say`stops, and so does the one ahead of it` : say`stops`
      const again =
        parts.others === 0 ? say`nobody else is affected` : say`${count(parts.others, 'other pull is', 'other pulls are')} checked again`
      return {
        question: say`Leave the queue? The batch of ${parts.size} ${stops}: ${again}.`,
        beside: say`Leaving stops this batch${parts.ahead ? ' and the one ahead of it' : ''}: ${again}.`,
      }
    }
    case 'held':
      return {
        question: say`Leave the queue? It stays out when it is no draft any more.`,
        beside: say`Leaving keeps it out when it is no draft any more.`,
      }
  }
}

/** The page without scripts asks with the pull's title. */
export function leavePageWords(title: { title: string; pull: string }, parts: LeaveParts): Phrase {
  const back = say`Adding it again puts it at the back.`
  if (parts.key !== 'in-batch')
    return say`“${title}” ${parts.key === 'held' ? 'is held as a draft' : `gives up ${ordinal(parts.position)} place`}. ${back}`
  const stops = parts.ahead ? say`That batch stops, and so does the one ahead of it` : say`That batch stops`
  const again =
    parts.others === 0 ? say`nobody else is affected` : say`${count(parts.others, 'other pull is', 'other pulls are')} checked again`
  return say`“${title}” is in a batch of ${parts.size} being checked. ${stops}: ${again}. ${back}`
}

/** When it lands where it is not taken out. Times in milliseconds since 1970. */
export function stayWords(expected: { from: number; to: number }): Phrase {
  return say`It is expected to land ${landsIn(expected.from, expected.to)} if you leave it in.`
}

/** Said once it is done. */
export function leftWords(by: string): Phrase {
  return say`${who(by)} took it out of the queue.`
}
