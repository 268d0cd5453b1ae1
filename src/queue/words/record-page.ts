/** The page of one record: what it is, where it lies, and whether it counts. */
import type { Label } from './labels.ts'
import { code, type Phrase, say, who } from './phrase.ts'

const KINDS: Readonly<Record<string, string>> = {
  'dev.knotless.repo': 'A repository',
  'dev.knotless.refs': 'The git state of a repository',
  'dev.knotless.pull': 'A pull',
  'dev.knotless.issue': 'An issue',
  'dev.knotless.state': 'A change of state',
  'dev.knotless.queue': 'A change of a queue',
  'dev.knotless.check': 'A run of a workflow',
  'dev.knotless.lander': 'A runner’s settings and state',
  'dev.knotless.rerun': 'A request to run again',
  'dev.knotless.decision': 'A decision of the steward',
}

/** What kind of record it is. */
export function recordKind(collection: string): string {
  return KINDS[collection] ?? 'A record'
}

/** `account`: whose record it is, as people write it. */
export function recordTitle(collection: string, account: string): string {
  return `${recordKind(collection)} by ${account}`
}

/** Where it lies. `server` is the host of the account's server, where that is known now. */
export function recordPlace(did: string, server: string | undefined): Phrase {
  const at = server === undefined ? say`` : say` at ${code(server)}`
  return say`It lies in the account of ${who(did)}${at}, as its writer wrote it. This server keeps a copy.`
}

/** Whether it counts for the pull that it is about (HON-1 to HON-8), as a label and a sentence. */
export function recordCounts(counts: boolean): { label: Label; says: Phrase } {
  return counts
    ? { label: { word: 'Counts', icon: 'check-circle', tone: 'success' }, says: say`It counts for the pull that it is about.` }
    : {
        label: { word: 'Does not count', icon: 'circle-slash', tone: 'neutral' },
        says: say`It counts for nothing here: who wrote it may not, its key or its content does not hold, or its time has not come.`,
      }
}

/** Where its page ends before it does. */
export const recordCut = say`The rest is not shown here; the record as JSON has all of it.`
