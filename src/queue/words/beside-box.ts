/** What stands in the merge box beside its headline and sentences: notes, links, and what to type. */
import { code, join, type Phrase, say } from './phrase.ts'

/** ADM-11: said beside what the box says. */
export function changesChecksWords(): Phrase {
  return say`It changes ${code('.knotless')}, and so what checks it.`
}

/** BLD-8: said beside what the box says. */
export function nothingToLandWords(branch: string): Phrase {
  return say`Its changes are already on ${branch}: as it is, it would be turned away with nothing left to land.`
}

/** What to type in a clone to mend a conflict: `from` is where the branch is fetched from. None for branches whose names a shell could take for more. */
export function conflictCommands({ branch, head, from }: { branch: string; head: string; from: string }): string[] {
  if (![branch, head].every(name => /^[\w+@%][\w+@%./-]*$/.test(name))) return []
  return [`git switch ${head}`, `git fetch ${from} ${branch}`, 'git merge FETCH_HEAD', `git push origin ${head}`]
}

/** What leads on from a box, a health line or a timeline is called. */
export const boxLinks = { batch: 'See the batch', nameRunner: 'Name a runner', settings: 'Open your settings' } as const

/** Beside the button that adds it again. `unchanged`: what failed is what would be tried again. */
export function addAgainWords(unchanged: boolean): Phrase {
  return join(say`It goes to the back.`, unchanged ? say`Without a new push it will most likely fail the same way.` : undefined)
}

/** Of an ejection whose record gives no reason. */
export function noReasonWords(): Phrase {
  return say`The record that turned it away gives no reason.`
}

/** The question before merging past a queue. */
export function mergeNowWords(): Phrase {
  return say`Merge now, past the queue? What lands is checked only on its own.`
}
