/** Two indexes side by side, row by row in the order of addresses. */
import type { IndexDatabase } from '../database.ts'

export interface Difference {
  /** The address of a record or, where answers differ, of a repository. */
  at: string
  what: 'record' | 'row' | 'answer'
  /** What each has there, in a few words; "nothing" when it has nothing. */
  here: string
  there: string
}

/** In the order of their names, as the lists that are walked side by side must be. */
const TABLES = ['check_run', 'decision', 'issue', 'lander', 'pull', 'queue_record', 'refs', 'repo', 'rerun', 'state'] as const
/** What a row of these says follows from other rows and from when it was looked at. */
const DERIVED = new Set(['record_id', 'settled', 'touched', 'moved_to'])
/** Of strangers only these are read from their servers; the rest of theirs is there or not, and counts for nothing. */
const ANYBODYS = ['dev.knotless.repo', 'dev.knotless.refs', 'dev.knotless.pull', 'dev.knotless.state', 'dev.knotless.issue']

type Row = { at: string; text: string }

/** Records that must be the same in both: of accounts that stand, not waiting, and such as any index reads from their servers. */
const COMPARABLE = `record.deleted = 0
  and record.id not in (select record_id from waiting)
  and record.did not in (select did from account where status != 'active')
  and (record.collection in (${ANYBODYS.map(name => `'${name}'`).join(', ')}) or record.did in (select did from member))`

export function recordsOf({ sqlite }: IndexDatabase): IterableIterator<Row> {
  return sqlite.prepare<[], Row>(`select uri as at, cid as text from record where ${COMPARABLE} order by uri`).iterate()
}

/** Typed rows of those records, as text. */
export function* typedRowsOf({ sqlite }: IndexDatabase): Generator<Row> {
  for (const table of TABLES) {
    const query = `select typed.*, record.uri as at from record join ${table} typed on typed.record_id = record.id
      where ${COMPARABLE} order by record.uri`
    for (const { at, ...row } of sqlite.prepare<[], { at: string }>(query).iterate()) {
      const fields = Object.entries(row).filter(([name]) => !DERIVED.has(name))
      yield { at: `${table} ${at}`, text: JSON.stringify(fields) }
    }
  }
}

/** Walks two lists that are in the order of `at`, and tells of what only one has or both have differently. */
export function* differences(what: Difference['what'], here: Iterable<Row>, there: Iterable<Row>): Generator<Difference> {
  const left = here[Symbol.iterator]()
  const right = there[Symbol.iterator]()
  let a = left.next()
  let b = right.next()
  while (!a.done || !b.done) {
    if (!a.done && !b.done && a.value.at === b.value.at) {
      if (a.value.text !== b.value.text) yield { at: a.value.at, what, here: a.value.text, there: b.value.text }
      a = left.next()
      b = right.next()
    } else if (b.done || (!a.done && a.value.at < b.value.at)) {
      if (!a.done) yield { at: a.value.at, what, here: a.value.text, there: 'nothing' }
      a = left.next()
    } else {
      yield { at: b.value.at, what, here: 'nothing', there: b.value.text }
      b = right.next()
    }
  }
}
