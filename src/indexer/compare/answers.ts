import type { RepositoryFacts, Stored } from '../../queue/facts.ts'
import type { RepositoryView } from '../../queue/view.ts'
import type { IndexDatabase } from '../database.ts'
import { loadFacts } from '../read/facts.ts'

export type Fold = (facts: RepositoryFacts, now: number) => RepositoryView

/** What each repository's records fold into, as text, in the order of addresses: without what git says and when records were first seen. */
export function* answersOf(index: IndexDatabase, fold: Fold, now: number): Generator<{ at: string; text: string }> {
  const query = index.db.selectFrom('repo').select('uri').orderBy('uri').compile()
  const uris = index.sqlite.prepare<unknown[], { uri: string }>(query.sql).all(...query.parameters)
  for (const { uri } of uris) {
    const loaded = loadFacts(index, uri)
    if (loaded !== undefined) yield { at: uri, text: asText(fold(recordsOnly(loaded.facts), now)) }
  }
}

function recordsOnly(facts: RepositoryFacts): RepositoryFacts {
  const plain = <T>(records: readonly Stored<T>[]) => [...records].map(record => ({ ...record, seenAt: 0, backfilled: true })).sort(byUri)
  return {
    ...facts,
    pulls: plain(facts.pulls),
    states: plain(facts.states),
    queue: plain(facts.queue),
    checks: plain(facts.checks),
    landers: plain(facts.landers),
    merges: new Map(),
    tips: new Map(),
  }
}

function byUri(a: { uri: string }, b: { uri: string }): number {
  return a.uri < b.uri ? -1 : 1
}

function asText(view: RepositoryView): string {
  const { checksOf, ignored: _ignored, record: _record, wakesAt: _wakesAt, ...rest } = view
  const checks = [...view.pulls.keys()].sort().map(pull => checksOf(pull).map(check => check.uri))
  return JSON.stringify({ ...rest, checks }, (_key, value: unknown) => {
    if (value instanceof Map) return [...value].sort(([a], [b]) => (String(a) < String(b) ? -1 : 1))
    if (value instanceof Set) return [...value].sort()
    return isFields(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value
  })
}

/** Servers give the fields of a record back in an order of their own. */
function isFields(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
