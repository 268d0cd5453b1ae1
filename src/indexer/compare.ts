import { answersOf, type Fold } from './compare/answers.ts'
import type { Rebuilt } from './compare/rebuild.ts'
import { type Difference, differences, recordsOf, typedRowsOf } from './compare/rows.ts'
import type { IndexDatabase } from './database.ts'

export { accountsIn, type RebuildOptions, type Rebuilt, rebuildIndex } from './compare/rebuild.ts'
export type { Difference } from './compare/rows.ts'

export interface Comparison {
  /** Records and repositories that were held against one another. */
  records: number
  repositories: number
  /** The first of them. */
  differences: Difference[]
  /** How many are not listed. */
  more: number
}

const LISTED = 200
const ROUNDS = 4

/**
 * Holds two indexes against one another: records, typed rows, and what each repository's records fold into. Passed over are accounts that are
 * gone, records that wait for a repository, what git says, and when a record was first seen: those hang on when an index was made.
 */
export function compareIndexes(here: IndexDatabase, there: IndexDatabase, fold: Fold, now: number): Comparison {
  const found: Difference[] = []
  let more = 0
  const counts = { records: 0, repositories: 0 }
  const count = function* <T>(what: keyof typeof counts, rows: Iterable<T>): Generator<T> {
    for (const row of rows) {
      counts[what] += 1
      yield row
    }
  }
  const take = (all: Iterable<Difference>): void => {
    for (const difference of all) {
      if (found.length < LISTED) found.push(difference)
      else more += 1
    }
  }
  take(differences('record', count('records', recordsOf(here)), recordsOf(there)))
  take(differences('row', typedRowsOf(here), typedRowsOf(there)))
  take(differences('answer', count('repositories', answersOf(here, fold, now)), answersOf(there, fold, now)))
  return { ...counts, differences: found, more }
}

/**
 * Compares until nothing differs that is only newer on one side: while an index follows the network, records change between two looks, so the
 * accounts of what differs are read again, a few times.
 */
export async function compareSettled(here: IndexDatabase, built: Rebuilt, fold: Fold, now: () => number): Promise<Comparison> {
  for (let round = 1; ; round++) {
    const found = compareIndexes(here, built.index, fold, now())
    if (found.differences.length === 0 || round === ROUNDS) return found
    const accounts = found.differences.flatMap(({ at }) => /at:\/\/(did:[^/]+)/.exec(at)?.[1] ?? [])
    await built.readAgain([...new Set(accounts)])
  }
}
