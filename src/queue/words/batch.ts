/** What became of a batch, in words. */
import { commit, join, list, type Phrase, passedOf, say, who } from './phrase.ts'

export type BatchParts =
  | { state: 'checking'; passed: number; of: number; running: readonly string[] }
  | { state: 'ahead' }
  | { state: 'passed-waiting' }
  | { state: 'red-undecided'; failed: readonly string[] }
  /** `moved`: the branch is at its tip, and its states are being recorded. */
  | { state: 'landing'; lander: string; branch: string; tip: string; nothingRan: boolean; moved?: boolean | undefined }
  | { state: 'landed'; branch: string; base: string; tip: string; nothingRan: boolean }
  | { state: 'cancelled'; whole: boolean }
  | { state: 'failed'; failed: readonly string[]; noVerdict: readonly string[]; size: number }

/** One or two sentences. */
export function batchWords(parts: BatchParts): Phrase {
  switch (parts.state) {
    case 'checking': {
      if (parts.of === 0) return say`No workflow runs on it.`
      const done = passedOf(parts.passed, parts.of)
      return parts.running.length === 0
        ? say`${done}.`
        : say`${done}; ${list(parts.running)} ${parts.running.length === 1 ? 'is' : 'are'} running.`
    }
    case 'ahead':
      return say`It stands on a batch that is still being checked, and lands only if that one does.`
    case 'passed-waiting':
      return say`Every workflow passed. It waits for the batch under it, and lands only if that one does.`
    case 'red-undecided':
      return say`${list(parts.failed)} failed. That is decided only once the batch under it has landed; if that one does not, this verdict is thrown away.`
    case 'landing':
      return join(
        parts.nothingRan ? nothingRanWords() : say`Every workflow passed;`,
        parts.moved === true
          ? say`${who(parts.lander)} moved ${parts.branch} to ${commit(parts.tip)} and records that its pulls landed.`
          : say`${who(parts.lander)} is moving ${parts.branch} to ${commit(parts.tip)}.`,
      )
    case 'landed':
      return join(
        say`${parts.branch} moved from ${commit(parts.base)} to ${commit(parts.tip)}.`,
        parts.nothingRan ? nothingRanWords() : undefined,
      )
    case 'cancelled':
      return parts.whole
        ? say`It was dropped before it was decided.`
        : say`Not all of its checks are there, so nothing can be said for it: it counts as dropped.`
    case 'failed':
      return failedWords(parts)
  }
}

function failedWords(parts: Extract<BatchParts, { state: 'failed' }>): Phrase {
  if (parts.failed.length === 0) {
    return say`${list(parts.noVerdict)} ended without a verdict. No pull is blamed.`
  }
  return parts.size === 1
    ? say`${list(parts.failed)} failed on this stack, which held one pull.`
    : say`${list(parts.failed)} failed on this stack, so none of it landed as it stood.`
}

/** ADM-11: a batch in which nothing ran. */
export function nothingRanWords(): Phrase {
  return say`Nothing ran: no workflow checks this branch.`
}
