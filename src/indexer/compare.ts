import { parseAtUri } from '../atproto/ids.ts'
import type { Reader } from '../atproto/reader.ts'
import { answersOf, type Fold } from './compare/answers.ts'
import { type Difference, differences, recordsOf, typedRowsOf } from './compare/rows.ts'
import type { IndexDatabase } from './database.ts'
import { recordAt } from './read/single.ts'

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
 * Of differing records those of which the first index does not have what the account holds now. While an index follows the network, records
 * change between two looks. Throws UpstreamError when an account cannot be read.
 */
export async function stillDiffering(
  here: IndexDatabase,
  found: readonly Difference[],
  reader: Pick<Reader, 'getRecord'>,
): Promise<Difference[]> {
  const still: Difference[] = []
  for (const difference of found) {
    if (difference.what !== 'record' || !(await agrees(here, difference.at, reader))) still.push(difference)
  }
  return still
}

async function agrees(here: IndexDatabase, uri: string, reader: Pick<Reader, 'getRecord'>): Promise<boolean> {
  const at = parseAtUri(uri)
  const held = at === undefined ? undefined : await reader.getRecord(at.did, at.collection, at.rkey)
  return held?.cid === recordAt(here, uri)?.cid
}
