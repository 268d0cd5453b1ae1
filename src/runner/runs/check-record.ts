/** Checks as records, from filed to ended. Pure. */
import { isLexMap, type LexMap } from '@atproto/lex-data'
import { toAtUri, toDatetime } from '../../queue/answers/formats.ts'
import type { CheckRecord } from '../../queue/facts.ts'
import type { RunState } from '../../queue/runs.ts'
import { millis, runState } from '../../queue/runs.ts'
import { checkWords } from '../../queue/words/check.ts'
import { noCommit, pullCheckKey, pushCheckKey, queueCheckKey } from '../../workflows/check-keys.ts'
import type { RunNow } from '../planner/types.ts'
import type { JobEnd, Subject } from '../types.ts'

const bounds = { summary: 10_000, cause: 1_000, retried: 1_000, test: 2_000 } as const

/** The key of a run's check (CHK-3, STO-10). `file` is the workflow's, `tid` the run's. */
export function keyOf(repo: string, subject: Subject, run: { file: string; tid: string }): string {
  const scope = { repo, ref: refOf(subject) }
  switch (subject.of) {
    case 'batch':
      return queueCheckKey(scope, { ...run, tip: subject.tip, base: subject.base })
    case 'pull':
      return pullCheckKey(subject.pull, { ...run, tip: subject.head, base: subject.tip })
    case 'push':
      return pushCheckKey(scope, { ...run, tip: subject.commit, base: subject.before ?? noCommit })
  }
}

/** What every check of a group says alike. `of`: how many the group has (CHK-12). Time in milliseconds. */
export function commonOf(
  repo: string,
  subject: Subject,
  group: { of: number; trusted: boolean; isolated: boolean; now: number },
): Omit<CheckRecord, 'workflow' | 'status'> {
  const { of, trusted, isolated, now } = group
  const common = {
    $type: 'dev.knotless.check' as const,
    repo: toAtUri(repo),
    ref: refOf(subject),
    generation: subject.generation,
    tree: subject.tree,
    of,
    trusted,
    isolated,
    createdAt: toDatetime(now),
  }
  switch (subject.of) {
    case 'batch': {
      const batch = subject.members.map(({ pull, head, commit }) => ({ pull: toAtUri(pull), head, commit }))
      return { ...common, commit: subject.tip, baseCommit: subject.base, batch }
    }
    case 'pull':
      return { ...common, commit: subject.head, baseCommit: subject.tip, pull: toAtUri(subject.pull) }
    case 'push':
      return { ...common, commit: subject.commit, ...(subject.before === undefined ? {} : { baseCommit: subject.before }) }
  }
}

/** A check whose run begins. */
export function startedRecord(record: CheckRecord, now: number): CheckRecord {
  return { ...record, status: 'running', startedAt: toDatetime(now) }
}

/** A check whose run has ended, as the executor says it did (CHK-7). */
export function endedRecord(record: CheckRecord, end: JobEnd, now: number): CheckRecord {
  const finishedAt = toDatetime(now)
  if (end.end === 'cancelled') return cancelledRecord(record, checkWords.cancelled(), now)
  const summary = end.summary === '' ? {} : { summary: cutBytes(end.summary, bounds.summary) }
  const verdict = end.end === 'error' && end.verdict !== undefined ? { verdict: end.verdict } : {}
  const again = end.end === 'error' ? [] : (end.retried ?? [])
  const retried = again.length === 0 ? {} : { retried: again.slice(0, bounds.retried).map(test => ({ test: cutBytes(test, bounds.test) })) }
  return { ...record, status: end.end, ...verdict, ...summary, ...retried, finishedAt }
}

/** A check that is cancelled; `cause` says why, in words (MOV-4). */
export function cancelledRecord(record: CheckRecord, cause: string, now: number): CheckRecord {
  const summary = record.batch === undefined ? checkWords.cancelled() : checkWords.dropped()
  return { ...record, status: 'cancelled', cause: cutBytes(cause, bounds.cause), summary, finishedAt: toDatetime(now) }
}

/** MOV-6: a check that an earlier process left behind. */
export function restartedRecord(record: CheckRecord, now: number): CheckRecord {
  return { ...record, status: 'error', verdict: 'restart', summary: checkWords.restarted(), finishedAt: toDatetime(now) }
}

const states: Readonly<Record<RunState, RunNow['state']>> = {
  queued: 'filed',
  running: 'running',
  passed: 'passed',
  reused: 'reused',
  skipped: 'skipped',
  failed: 'failed',
  'no-verdict': 'no-verdict',
  cancelled: 'cancelled',
  unknown: 'no-verdict',
}

/** A check as the planner takes it. */
export function runNow(check: { uri: string; file: string; record: CheckRecord }): RunNow {
  const { record, uri, file } = check
  const state = states[runState(record)]
  const status = endings.find(ending => ending === record.status)
  const verdict = state === 'no-verdict' ? (verdicts.find(one => one === record.verdict) ?? 'other') : undefined
  return {
    workflow: record.workflow,
    file,
    state,
    check: uri,
    ...(verdict === undefined ? {} : { verdict }),
    ...(status === undefined ? {} : { status }),
    startedAt: millis(record.startedAt),
    endedAt: millis(record.finishedAt),
  }
}

const endings = ['failure', 'error', 'cancelled'] as const
const verdicts = ['timeout', 'executor-lost', 'disk', 'restart', 'other'] as const

/** A record as it is sent: nothing in it is undefined. Throws a TypeError for what atproto's data model cannot hold. */
export function lexOfCheck(record: CheckRecord): LexMap {
  const fields: unknown = Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined))
  if (!isLexMap(fields)) throw new TypeError('a check that is no record')
  return fields
}

/** A text of at most so many bytes of UTF-8, its end cut on a whole character and said. */
export function cutBytes(text: string, most: number): string {
  if (Buffer.byteLength(text) <= most) return text
  const bytes = Buffer.from(text).subarray(0, most - 3)
  // What is left of a character that was cut in two ends as the replacement character.
  return `${bytes.toString('utf8').replace(/\uFFFD+$/, '')}…`
}

function refOf(subject: Subject): string {
  return `refs/heads/${subject.branch}`
}
