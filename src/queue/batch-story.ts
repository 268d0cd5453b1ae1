/** What is to be said of one batch, whatever became of it: from its checks, from what was kept of them, and from what its pulls' records say. Pure. */
import { wasAhead } from './batch-ends.ts'
import { decisionOn } from './decisions.ts'
import type { QueueRecord, StateRecord, Stored } from './facts.ts'
import { isGoing, millis, type Run, type RunState, runState } from './runs.ts'
import { tidMillis } from './tid.ts'
import type { BatchState, BatchView, PullView } from './view.ts'
import { type BatchEventParts, batchEventWords, type DroppedParts } from './words/batch.ts'
import { readReason } from './words/ejection.ts'
import type { Tone } from './words/labels.ts'
import { cutTitle, type Phrase, say } from './words/phrase.ts'
import { readDrop } from './words/runner.ts'
import { decisionWords } from './words/steward.ts'

/** A run of a batch, from its check or from what was kept of it. Times in milliseconds since 1970. */
export interface StoryRun {
  /** AT-URI of its check, where that is still there. */
  uri?: string | undefined
  workflow: string
  state: RunState
  startedAt?: number | undefined
  endedAt?: number | undefined
  cause?: string | undefined
  summary?: string | undefined
  retried: number
  hasReport: boolean
}

/** A batch as far as anything says. Times in milliseconds since 1970. */
export interface Story {
  branch: string
  /** Absent where only its pulls say that it landed. */
  base?: string | undefined
  tip: string
  state: BatchState
  runner: string
  trusted?: boolean | undefined
  /** In stacking order. `view` is absent for a pull whose record is gone. */
  members: readonly { pull: string; head?: string | undefined; commit: string; view?: PullView | undefined }[]
  runs: readonly StoryRun[]
  since?: number | undefined
  nothingRan: boolean
}

/** A run of a batch, from its check. */
export function runOfCheck(run: Run): StoryRun {
  const { value } = run
  return {
    uri: run.uri,
    workflow: value.workflow,
    state: runState(value),
    startedAt: millis(value.startedAt),
    endedAt: isGoing(value) ? undefined : millis(value.finishedAt),
    cause: value.cause,
    summary: value.summary,
    retried: value.retried?.length ?? 0,
    hasReport: value.report !== undefined,
  }
}

/** Titles up to this many characters are said whole; one that is longer would hide what is said of it. */
const LONGEST = 300

/** A pull's title as sentences about a batch say it. */
export function titleOf({ view }: Pick<Story['members'][number], 'view'>): string | undefined {
  const title = view?.pull.value.title
  return title === undefined || title.length <= LONGEST ? title : cutTitle(title)
}

/** When its last run ended; absent while one goes, or where none says. */
export function endOf({ runs }: Pick<Story, 'runs'>): number | undefined {
  if (runs.some(run => run.state === 'queued' || run.state === 'running')) return undefined
  const ends = runs.flatMap(run => run.endedAt ?? [])
  return ends.length === 0 ? undefined : Math.max(...ends)
}

/** What ended a pull's time in a batch, as honoured records say: the first of them after the batch began, or merged at its commit. */
export type Ending =
  | { key: 'landed'; at: number; commit: string; batch?: string | undefined; record: string }
  | { key: 'ejected'; at: number; reason: string; says: string; record: Stored<QueueRecord> }
  | { key: 'left' | 'closed'; at: number; by: string; record: string }

/** What ended a member's time in a batch that began at `since`, in milliseconds since 1970; undefined while nothing did. */
export function endingOf({ view: pull, commit }: Story['members'][number], since: number): Ending | undefined {
  for (const record of pull?.history ?? []) {
    const at = tidMillis(record.rkey)
    const isItself = !isQueue(record) && record.value.state === 'merged' && record.value.commit === commit
    if (at < since && !isItself) continue
    if (isQueue(record)) {
      if (record.value.state === 'ejected') return { key: 'ejected', at, ...readReason(record.value.reason, record.value.kind), record }
      if (record.value.state === 'left') return { key: 'left', at, by: record.did, record: record.uri }
    } else if (record.value.state === 'closed') return { key: 'closed', at, by: record.did, record: record.uri }
    else if (record.value.state === 'merged' && record.value.commit !== undefined)
      return { key: 'landed', at, commit: record.value.commit, batch: record.value.batch, record: record.uri }
  }
  return undefined
}

function isQueue(record: Stored<QueueRecord> | Stored<StateRecord>): record is Stored<QueueRecord> {
  return record.uri.includes('/dev.knotless.queue/')
}

/** Why it was dropped; `onBatch`: what it stood on is another batch. */
export function droppedOf(story: Story, onBatch: boolean): DroppedParts {
  const { branch, runs } = story
  const cause = runs.map(run => readDrop(run.cause)).find(each => each !== undefined)
  const until = (endOf(story) ?? Number.POSITIVE_INFINITY) + 60_000
  const since = story.since ?? 0
  const member = story.members.flatMap(each => {
    const ending = endingOf(each, since)
    const title = titleOf(each)
    if (ending === undefined || title === undefined || ending.at > until) return []
    return [{ title, pull: each.pull, did: ending.key === 'landed' ? ('merged' as const) : ending.key, at: ending.at }]
  })
  const moved = story.members.find(({ head, view }) => view?.head !== undefined && head !== undefined && view.head !== head)
  const changed = moved && { title: titleOf(moved) ?? '', pull: moved.pull, did: 'changed' as const }
  const [first = cause === 'pull-moved-on' ? changed : undefined] = member.sort((a, b) => a.at - b.at)
  return {
    cause,
    branch,
    onBatch,
    member: first,
    passed: runs.length > 0 && runs.every(run => run.state === 'passed' || run.state === 'reused'),
  }
}

/** A line of what happened. It leads to a batch by its tip, to a run, or to a record, by AT-URI. */
export interface StoryEvent {
  at: number
  tone: Tone
  says: Phrase
  batch?: string | undefined
  check?: string | undefined
  record?: string | undefined
}

const MOST = 100

/** What happened with a batch, oldest first. `every` is each batch of its branch that checks tell of. */
export function storyEvents(story: Story, every: readonly BatchView[]): StoryEvent[] {
  const since = story.since ?? 0
  const events = [...ofRuns(story, every), ...ofMembers(story, since), ...ofHalves(story, every, since)]
  return events.sort((a, b) => a.at - b.at).slice(0, MOST)
}

function event(at: number, parts: BatchEventParts, to: Pick<StoryEvent, 'batch' | 'check' | 'record'> = {}): StoryEvent {
  return { at, ...batchEventWords(parts), ...to }
}

function ofRuns(story: Story, every: readonly BatchView[]): StoryEvent[] {
  const { branch, base, runs, since, state } = story
  const under = base === undefined ? undefined : every.find(batch => batch.tip === base)
  // A batch ahead was built before the one under it had landed.
  const isAhead = state === 'ahead' || state === 'passed-waiting' || state === 'red-undecided'
  const ahead = under !== undefined && since !== undefined && (isAhead || wasAhead({ base: under.tip, since }, every))
  const built = since === undefined ? [] : [event(since, { key: 'built', branch, base, ahead }, ahead ? { batch: under.tip } : {})]
  const red = runs.flatMap(run => {
    const { workflow, endedAt, uri } = run
    if (endedAt === undefined || (run.state !== 'failed' && run.state !== 'no-verdict')) return []
    return [event(endedAt, { key: 'run', workflow, state: run.state }, { check: uri })]
  })
  const cancelled = runs.filter(run => run.state === 'cancelled')
  const end = endOf(story)
  const out =
    end !== undefined && cancelled.length > 0 ? [event(end, { key: 'cancelled', workflows: cancelled.map(run => run.workflow) })] : []
  const passed = runs.length > 0 && runs.every(({ state: each }) => each === 'passed' || each === 'reused' || each === 'skipped')
  const green = end !== undefined && passed ? [event(end, { key: 'passed', nothingRan: story.nothingRan })] : []
  const dropped = state === 'cancelled' && end !== undefined ? [event(end, { key: 'dropped' })] : []
  return [...built, ...red, ...(dropped.length > 0 ? dropped : out), ...green]
}

function ofMembers(story: Story, since: number): StoryEvent[] {
  const { members, branch } = story
  const alone = members.length === 1
  const landings = new Map<string, { at: number; pulls: number[]; tip: string }>()
  const events: StoryEvent[] = []
  for (const [index, member] of members.entries()) {
    const ending = endingOf(member, since)
    const pull = index + 1
    if (ending === undefined) continue
    const { at } = ending
    if (ending.key === 'landed') {
      const tip = ending.batch ?? ending.commit
      const known = landings.get(tip) ?? { at, pulls: [], tip }
      landings.set(tip, { at: Math.max(known.at, at), pulls: [...known.pulls, pull], tip })
    } else if (ending.key === 'ejected') {
      events.push(event(at, { key: 'ejected', pull, alone, reason: ending.reason }, { record: ending.record.uri }))
      const decision = member.view === undefined ? undefined : decisionOn(member.view, ending.record.uri)
      if (decision !== undefined) {
        const { label, says } = decisionWords(decision.value)
        const said = { key: 'decision' as const, says: say`${label.word}, ${says}` }
        events.push(event(tidMillis(decision.rkey), said, { record: decision.uri }))
      }
    } else events.push(event(at, { key: ending.key, pull, alone, by: ending.by }, { record: ending.record }))
  }
  for (const { at, pulls, tip } of landings.values()) {
    const all = pulls.length === members.length
    events.push(event(at, { key: 'landed', pulls, all, branch, tip }, tip === story.tip ? {} : { batch: tip }))
  }
  return events
}

/** Later batches out of nothing but its pulls: its halves, or itself built again. */
function ofHalves(story: Story, every: readonly BatchView[], since: number): StoryEvent[] {
  if (story.state !== 'failed' && story.state !== 'cancelled') return []
  const places = new Map(story.members.map(({ pull }, at) => [pull, at + 1]))
  return every.flatMap(batch => {
    if (batch.since <= since || batch.tip === story.tip) return []
    const pulls = batch.members.flatMap(({ pull }) => places.get(pull) ?? [])
    if (pulls.length !== batch.members.length) return []
    return [event(batch.since, { key: 'again', pulls: pulls.sort((a, b) => a - b), of: story.members.length }, { batch: batch.tip })]
  })
}
