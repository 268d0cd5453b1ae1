/** What the steward decided about an ejection, in words (STW-10). */
import { type Label, stewardLabels } from './labels.ts'
import { code, join, type Phrase, place, say } from './phrase.ts'

/** `attempt` at the head, from 1. Verdict and kind are open: an unknown one reads as other (REC-6). */
export interface DecisionParts {
  verdict: string
  kind: string
  attempt: number
  /** The first failed assertion. */
  assertion?: string | undefined
  /** The entry of the catalogue that matched. */
  entry?: string | undefined
}

/** How often a head is put back for one kind of reason (STW-3). */
const LIMIT = 2
/** Of an assertion so many characters are said. */
const MOST_SAID = 300

export interface DecisionWords {
  label: Label
  says: Phrase
}

/** What it decided, as a label, and why. */
export function decisionWords(parts: DecisionParts): DecisionWords {
  if (parts.verdict === 'requeue') return { label: stewardLabels.requeued, says: requeued(parts) }
  if (parts.verdict === 'reject') return { label: stewardLabels.rejected, says: rejected(parts) }
  return { label: stewardLabels.none, says: say`It is not for the steward to put this one back.` }
}

/** The label where nothing else says whose decision it is. */
export function stewardLabel({ word, icon, tone }: Label): Label {
  return { word: `Steward: ${word.toLowerCase()}`, icon, tone }
}

/** Where a pull that was put back stands. */
export function backWords(position: number, length: number): Phrase {
  return say`It is back, ${place(position, length)}.`
}

/** That the steward put a pull back, beside why it waits. */
export function requeueWords(parts: { kind: string; attempt: number }): Phrase {
  return say`The steward put it back: ${cause(parts.kind)}, ${parts.attempt} of ${LIMIT} at this head.`
}

function cause(kind: string): string {
  switch (kind) {
    case 'flake':
      return 'a known flake'
    case 'infra':
      return 'no verdict'
    case 'timeout':
      return 'out of time'
    default:
      return 'its failure says nothing about it'
  }
}

function requeued({ kind, attempt, entry }: DecisionParts): Phrase {
  const count = say`${attempt} of ${LIMIT} at this head.`
  switch (kind) {
    case 'flake':
      return say`as a flake, ${count} ${
        entry === undefined
          ? 'Every failed assertion matches the catalogue of known flakes.'
          : say`Every failed assertion matches ${code(entry)} in the catalogue of known flakes.`
      }`
    case 'infra':
      return say`${count} Every failed run ended without a verdict.`
    case 'timeout':
      return say`${count} It ran out of time, and nothing else failed beside that.`
    default:
      return count
  }
}

function rejected({ kind, attempt, assertion }: DecisionParts): Phrase {
  const cap =
    attempt > LIMIT && kind !== 'other'
      ? say`It was put back ${LIMIT} times at this head already. A new head is a new question.`
      : undefined
  const failed =
    assertion === undefined || assertion.trim() === '' ? undefined : say`“${cut(assertion)}” failed, which no known flake explains.`
  const both = join(failed, cap)
  return both.length > 0 ? both : say`Nothing in its failed runs is a known flake.`
}

function cut(assertion: string): string {
  const [line = ''] = assertion.trim().split('\n')
  return line.length > MOST_SAID ? `${line.slice(0, MOST_SAID)}…` : line
}
