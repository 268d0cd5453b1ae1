import type { AnswerContext } from '../../queue/answers/context.ts'
import { queueParts, batchParts as wordsOf } from '../../queue/answers/queue.ts'
import { droppedOf, endingOf, endOf, type Story, type StoryRun, storyEvents, titleOf } from '../../queue/batch-story.ts'
import { inFlight } from '../../queue/batches.ts'
import { type Standing, standing } from '../../queue/standing.ts'
import type { RepositoryView } from '../../queue/view.ts'
import {
  type BatchParts,
  batchTimes,
  batchWords,
  droppedWords,
  halvedWords,
  memberWords,
  noneHadToRun,
  noVerdictLabel,
  prunedWords,
  runCounts,
  runSays,
} from '../../queue/words/batch.ts'
import { batchLabels, pullLabels, runLabels } from '../../queue/words/labels.ts'
import type { Phrase } from '../../queue/words/phrase.ts'
import type { BatchMember, BatchPage, BatchRun } from '../../views/models.ts'
import { type FoundBatch, landedAt } from './batch-find.ts'

/** A batch that ended so long ago is not looked at again by itself, in milliseconds. */
const SETTLED_AFTER = 24 * 3_600_000
/** As `clock` has it: times further away than this are said with their day. */
const TODAY = 20 * 3_600_000

/** Whether nothing more will be said of it. */
export function isSettled(batch: FoundBatch, now: number): boolean {
  if (inFlight(batch.state)) return false
  return now - (landedAt(batch) ?? endOf(batch) ?? 0) > SETTLED_AFTER || batch.members.every(({ view }) => view?.state === 'merged')
}

/** All of a batch's page but its frame. */
export function batchParts(
  view: RepositoryView,
  batch: FoundBatch,
  ctx: AnswerContext,
): Omit<BatchPage, 'frame' | 'repo' | 'says'> & { says: Phrase } {
  const { branch, base, tip, state, since } = batch
  const every = view.branches.get(branch)?.every ?? []
  const failed = namesOf(batch, 'failed', 'unknown')
  const onBatch = every.some(other => other.tip === base)
  const dropped = state === 'cancelled' ? droppedWords(droppedOf(batch, onBatch)) : undefined
  const isAhead = state === 'ahead' || state === 'passed-waiting' || state === 'red-undecided'
  const endedAt = endOf(batch) ?? landedAt(batch)
  const flight = inFlight(state) ? flightOf(view, batch, ctx) : undefined
  return {
    batch: { branch, base, tip, since, isAhead },
    form: ctx.now - (since ?? 0) < TODAY ? 'clock' : 'full',
    label: state === 'failed' && failed.length === 0 ? noVerdictLabel : batchLabels[state],
    says: dropped ?? batchWords(partsOf(view, batch, failed)),
    more: state === 'failed' && failed.length > 0 && batch.members.length > 1 ? halved(batch) : undefined,
    notes: [
      ...(batch.nothingRan && batch.from !== 'kept' && batch.runs.length > 0 && state !== 'landed' ? [noneHadToRun()] : []),
      ...(batch.from === 'checks' ? [] : [prunedWords(batch.from === 'kept')]),
    ],
    times: batchTimes({ since, endedAt, trusted: batch.trusted, now: ctx.now }),
    members: batch.members.map(member => memberOf(view, batch, member, ctx)),
    expected: state === 'landing' ? undefined : flight?.expected,
    runs: batch.runs.map(run => ({ ...runOf(run), check: flight?.checks.find(check => check.uri === run.uri) })),
    runCounts: runCounts(batch.runs.map(run => run.state)),
    events: storyEvents(batch, every),
  }
}

/** The batch as the queue page has it. */
function flightOf(view: RepositoryView, { branch, tip }: FoundBatch, ctx: AnswerContext) {
  const answer = queueParts(view, { branch, limit: 1 }, ctx)
  return answer.ok ? answer.body.batches.find(batch => batch.tip === tip) : undefined
}

function namesOf({ runs }: Story, ...states: readonly string[]): string[] {
  return runs.filter(run => states.includes(run.state)).map(run => run.workflow)
}

function partsOf(view: RepositoryView, batch: FoundBatch, failed: readonly string[]): BatchParts {
  if (batch.view !== undefined) return wordsOf(batch.view, view.branches.get(batch.branch)?.tip)
  const { branch, base, tip, nothingRan } = batch
  if (batch.state === 'landed') return { state: 'landed', branch, base, tip, nothingRan }
  if (batch.state === 'failed') return { state: 'failed', failed, noVerdict: namesOf(batch, 'no-verdict'), size: batch.members.length }
  return { state: 'cancelled', whole: true }
}

function halved(batch: FoundBatch): Phrase {
  const endings = batch.members.map(member => ({ member, ending: endingOf(member, batch.since ?? 0) }))
  const ejected = endings.flatMap(({ member, ending }) => {
    const title = titleOf(member)
    return ending?.key === 'ejected' && title !== undefined ? [{ title, pull: member.pull }] : []
  })
  const left = endings.filter(({ member, ending }) => ending === undefined && member.view?.entry !== undefined).length
  const landed = endings.filter(({ ending }) => ending?.key === 'landed').length
  return halvedWords({ lander: batch.runner, size: batch.members.length, landed, ejected, left })
}

function memberOf(view: RepositoryView, batch: FoundBatch, member: FoundBatch['members'][number], ctx: AnswerContext): BatchMember {
  const pull = member.view
  const author = pull && { did: pull.pull.did, handle: ctx.names(pull.pull.did) }
  const line = { pull: member.pull, title: pull?.pull.value.title, author, head: member.head, commit: member.commit }
  if (pull === undefined) return { ...line, says: memberWords({ key: 'gone' }) }
  const ending = endingOf(member, batch.since ?? 0)
  const isIn = inFlight(batch.state)
  switch (ending?.key) {
    case 'landed': {
      const elsewhere = ending.commit !== member.commit
      const other = ending.batch !== undefined && ending.batch !== batch.tip ? ending.batch : undefined
      const label = pull.mergedThere === false ? pullLabels['not-there'] : { ...pullLabels.merged, word: batchLabels.landed.word }
      return {
        ...line,
        label,
        says: memberWords({ key: 'landed', commit: ending.commit, elsewhere: elsewhere && other === undefined }),
        batch: other,
      }
    }
    case 'ejected':
      return { ...line, label: pullLabels.ejected, says: memberWords({ key: 'ejected', reason: ending.reason, says: ending.says }) }
    case 'left':
      return { ...line, label: pullLabels.open, says: memberWords({ key: 'left', by: ending.by }) }
    case 'closed':
      return { ...line, label: pullLabels.closed, says: memberWords({ key: 'closed', by: ending.by }) }
    default: {
      // In the batch itself there is nothing more to say of it than the batch's own state.
      if (isIn && view.pulls.has(member.pull) && pull.entry !== undefined) return { ...line, says: [] }
      const now = standing(view, pull, ctx)
      return { ...line, label: pullLabels[now.label], says: isSaid(now) ? [] : memberWords({ key: 'stands', text: now.text }) }
    }
  }
}

/** Whether a standing says no more than its label. */
function isSaid({ label, text }: Standing): boolean {
  return text.length === 1 && text[0] === pullLabels[label].word
}

function runOf(run: StoryRun): BatchRun {
  const { uri, workflow, state, startedAt, endedAt, hasReport } = run
  const took = startedAt === undefined || endedAt === undefined || endedAt < startedAt ? undefined : endedAt - startedAt
  return {
    uri,
    workflow,
    label: runLabels[state],
    startedAt,
    endedAt,
    took,
    says: runSays({ retried: run.retried, cause: run.cause, summary: run.summary }),
    failedTests: hasReport && (state === 'failed' || state === 'no-verdict'),
  }
}
