/** What was turned away lately, and what the steward made of it (STW-10). */
import { decisionOn } from '../decisions.ts'
import type { QueueRecord, Stored } from '../facts.ts'
import { placeOf } from '../places.ts'
import { tidMillis } from '../tid.ts'
import type { BranchView, PullView, RepositoryView } from '../view.ts'
import { ejectionKind, readReason } from '../words/ejection.ts'
import { decisionWords } from '../words/steward.ts'
import type { AnswerContext, Voice } from './context.ts'
import { toAtUri, toDatetime } from './formats.ts'
import { accountView, pullView } from './parts.ts'

const LATELY = 7 * 86_400_000
const MOST = 50

/** Pulls turned away in the last seven days, newest first, 50 at most: those that are still out, and those that the steward put back. */
export function ejectionViews<W>(view: RepositoryView, branch: BranchView, ctx: AnswerContext, voice: Voice<W>) {
  const out = branch.ejected.flatMap(pull => (pull.ejection === undefined ? [] : [{ pull, record: pull.ejection }]))
  const back = branch.queue.flatMap(pull => {
    const record = pull.entry?.record.value.requeue === undefined ? undefined : lastEjection(pull)
    return record === undefined ? [] : [{ pull, record }]
  })
  return [...out, ...back]
    .filter(({ record }) => tidMillis(record.rkey) >= ctx.now - LATELY)
    .sort((a, b) => tidMillis(b.record.rkey) - tidMillis(a.record.rkey))
    .slice(0, MOST)
    .map(({ pull, record }) => ejectionView(view, pull, record, ctx, voice))
}

function lastEjection(pull: PullView): Stored<QueueRecord> | undefined {
  for (const { value, ...place } of pull.history.toReversed()) {
    if (value.$type === 'dev.knotless.queue' && value.state === 'ejected') return { ...place, value }
  }
  return undefined
}

function ejectionView<W>(view: RepositoryView, pull: PullView, record: Stored<QueueRecord>, ctx: AnswerContext, voice: Voice<W>) {
  const { reason, says } = readReason(record.value.reason, record.value.kind)
  return {
    pull: pullView(pull, ctx.names),
    record: toAtUri(record.uri),
    by: accountView(record.did, ctx.names),
    at: toDatetime(tidMillis(record.rkey)),
    reason,
    says: says === '' ? undefined : voice([says]),
    kind: ejectionKind(record.value.kind),
    commit: record.value.commit,
    checks: (record.value.checks ?? []).map(({ workflow, status, check }) => ({ workflow, status, check })),
    decision: decisionView(pull, record.uri, ctx, voice),
    ...placeOf(view, pull),
  }
}

function decisionView<W>(pull: PullView, ejection: string, { names }: AnswerContext, voice: Voice<W>) {
  const record = decisionOn(pull, ejection)
  if (record === undefined) return undefined
  const { verdict, kind, attempt, evidence } = record.value
  const { label, says } = decisionWords(record.value)
  return {
    uri: toAtUri(record.uri),
    by: accountView(record.did, names),
    at: toDatetime(tidMillis(record.rkey)),
    verdict,
    kind,
    label: label.word,
    says: voice(says),
    attempt,
    evidence: evidence.map(({ uri }) => ({ uri })),
  }
}
