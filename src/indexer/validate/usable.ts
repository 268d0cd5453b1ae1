import { lexParse } from '@atproto/lex-json'
import type * as knotless from '../../lexicons/dev/knotless.ts'
import { dev } from '../../lexicons/index.ts'
import { isAfterCreated } from '../../queue/records.ts'
import { isTid, tidMillis } from '../../queue/tid.ts'
import { isPullOrIssueUri, isPullUri, isRepoUri } from './addresses.ts'
import { commitsOf, namesOf } from './fields.ts'
import type { RefusedReason } from './reasons.ts'

/** A record that the index takes, by its kind. */
export type Usable =
  | { kind: 'repo'; value: knotless.repo.Main }
  | { kind: 'refs'; value: knotless.refs.Main }
  | { kind: 'pull'; value: knotless.pull.Main }
  | { kind: 'queue'; value: knotless.queue.Main }
  | { kind: 'state'; value: knotless.state.Main }
  | { kind: 'issue'; value: knotless.issue.Main }
  | { kind: 'check'; value: knotless.check.Main }
  | { kind: 'lander'; value: knotless.lander.Main }
  | { kind: 'rerun'; value: knotless.rerun.Main }
  | { kind: 'decision'; value: knotless.decision.Main }

export type Kind = Usable['kind']

/** Bytes of JSON. */
const MOST_BYTES = 1_000_000

interface CollectionRule {
  kind: Kind
  /** Its keys are TIDs (REC-1, REC-3). */
  tidKey: boolean
  /** It may hold blobs, whose references must be read before the lexicon is asked. */
  blobs: boolean
  parse(value: unknown): Usable | undefined
}

const { check, decision, issue, lander, pull, queue, refs, repo, rerun, state } = dev.knotless

const rules: ReadonlyMap<string, CollectionRule> = new Map([
  [repo.$nsid, rule('repo', value => (repo.main.matches(value) ? { kind: 'repo', value } : undefined))],
  [refs.$nsid, rule('refs', value => (refs.main.matches(value) ? { kind: 'refs', value } : undefined), { blobs: true })],
  [pull.$nsid, rule('pull', value => (pull.main.matches(value) ? { kind: 'pull', value } : undefined), { tidKey: true })],
  [queue.$nsid, rule('queue', value => (queue.main.matches(value) ? { kind: 'queue', value } : undefined), { tidKey: true })],
  [state.$nsid, rule('state', value => (state.main.matches(value) ? { kind: 'state', value } : undefined), { tidKey: true })],
  [issue.$nsid, rule('issue', value => (issue.main.matches(value) ? { kind: 'issue', value } : undefined), { tidKey: true })],
  [check.$nsid, rule('check', value => (check.main.matches(value) ? { kind: 'check', value } : undefined), { blobs: true })],
  [lander.$nsid, rule('lander', value => (lander.main.matches(value) ? { kind: 'lander', value } : undefined))],
  [rerun.$nsid, rule('rerun', value => (rerun.main.matches(value) ? { kind: 'rerun', value } : undefined), { tidKey: true })],
  [decision.$nsid, rule('decision', value => (decision.main.matches(value) ? { kind: 'decision', value } : undefined), { tidKey: true })],
])

function rule(kind: Kind, parse: CollectionRule['parse'], { tidKey = false, blobs = false } = {}): CollectionRule {
  return { kind, parse, tidKey, blobs }
}

/** Every collection that the index keeps. */
export const collections: readonly string[] = [...rules.keys()]

/** The kind of record that a collection holds; undefined for one that is not ours. */
export function kindOf(collection: string): Kind | undefined {
  return rules.get(collection)?.kind
}

/**
 * Holds a record in JSON form (`json` its text) against everything that it must be by itself, whoever wrote it: gives it typed, or the reason
 * why it counts for nothing (REC-3, REC-11, REC-12).
 */
export function usable(at: { did: string; collection: string; rkey: string }, record: unknown, json: string): Usable | RefusedReason {
  const known = rules.get(at.collection)
  if (known === undefined) return 'unknown-collection'
  const { tidKey, blobs, parse } = known
  if (tidKey && !isTid(at.rkey)) return 'key-not-tid'
  if (json.length > MOST_BYTES || (json.length > MOST_BYTES / 3 && Buffer.byteLength(json) > MOST_BYTES)) return 'too-large'
  if (typeof record !== 'object' || record === null || !('$type' in record)) return 'lexicon'
  if (record.$type !== at.collection) return 'wrong-type'
  // What links to nothing is its own JSON.
  const parsed = parse(blobs && json.includes('"$link"') ? decoded(json) : record)
  if (parsed === undefined) return overBound(record) ? 'over-bound' : 'lexicon'
  return fault(at, parsed) ?? parsed
}

/** In atproto's data model; undefined when a link or a blob in it is none. */
function decoded(json: string): unknown {
  try {
    return lexParse(json)
  } catch {
    return undefined
  }
}

/** Whether it is a record whose key is its time (REC-3). */
export function isChange(record: Usable): record is Extract<Usable, { kind: 'pull' | 'queue' | 'state' }> {
  return record.kind === 'pull' || record.kind === 'queue' || record.kind === 'state'
}

function fault(at: { did: string; rkey: string }, record: Usable): RefusedReason | undefined {
  if (isChange(record) && isAfterCreated(tidMillis(at.rkey), record.value.createdAt)) return 'key-after-created'
  if (record.kind === 'refs' && record.value.repo !== `at://${at.did}/dev.knotless.repo/${at.rkey}`) return 'misfiled'
  if (record.kind !== 'repo' && !isRepoUri(record.value.repo)) return 'bad-repository'
  if (record.kind === 'pull' && !isRepoUri(record.value.head.repo)) return 'bad-repository'
  if ((record.kind === 'queue' || record.kind === 'decision') && !isPullUri(record.value.subject)) return 'bad-subject'
  if (record.kind === 'state' && !isPullOrIssueUri(record.value.subject)) return 'bad-subject'
  if ((record.kind === 'check' || record.kind === 'rerun') && record.value.pull !== undefined && !isPullUri(record.value.pull))
    return 'bad-subject'
  for (const name of namesOf(record)) if (/\p{Cc}/u.test(name)) return 'control-characters'
  for (const commit of commitsOf(record)) if (!/^[0-9a-f]{40}$/.test(commit)) return 'bad-commit'
  return undefined
}

/** Whether a list in a record that fails its lexicon is longer than any that is taken. */
function overBound(record: object): boolean {
  const most: Record<string, number> = {
    collaborators: 100,
    runners: 10,
    protections: 100,
    former: 1_000,
    refs: 2_000,
    packs: 2_000,
    batch: 50,
  }
  return Object.entries(record).some(([field, value]) => Array.isArray(value) && value.length > (most[field] ?? Number.POSITIVE_INFINITY))
}
