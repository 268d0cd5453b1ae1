/** What became of a batch, in words. */
import { summaryRest } from './check-page.ts'
import { type Label, runLabels, type Tone } from './labels.ts'
import { ago, capital, clock, commit, count, join, list, type Phrase, passedOf, say, who } from './phrase.ts'
import type { DropParts } from './runner.ts'

export type BatchParts =
  | { state: 'checking'; passed: number; of: number; running: readonly string[] }
  | { state: 'ahead' }
  | { state: 'passed-waiting' }
  | { state: 'red-undecided'; failed: readonly string[] }
  /** `moved`: the branch is at its tip, and its states are being recorded. */
  | { state: 'landing'; lander: string; branch: string; tip: string; nothingRan: boolean; moved?: boolean | undefined }
  | { state: 'landed'; branch: string; base?: string | undefined; tip: string; nothingRan: boolean }
  | { state: 'cancelled'; whole: boolean }
  | { state: 'failed'; failed: readonly string[]; noVerdict: readonly string[]; size: number }

/** One or two sentences. */
export function batchWords(parts: BatchParts): Phrase {
  switch (parts.state) {
    case 'checking': {
      if (parts.of === 0) return say`No workflow runs on it.`
      const done = passedOf(parts.passed, parts.of)
      return parts.running.length === 0
        ? say`${done}.`
        : say`${done}; ${list(parts.running)} ${parts.running.length === 1 ? 'is' : 'are'} running.`
    }
    case 'ahead':
      return say`It stands on a batch that is still being checked, and lands only if that one does.`
    case 'passed-waiting':
      return say`Every workflow passed. It waits for the batch under it, and lands only if that one does.`
    case 'red-undecided':
      return say`${list(parts.failed)} failed. That is decided only once the batch under it has landed; if that one does not, this verdict is thrown away.`
    case 'landing':
      return join(
        parts.nothingRan ? nothingRanWords() : say`Every workflow passed;`,
        parts.moved === true
          ? say`${who(parts.lander)} moved ${parts.branch} to ${commit(parts.tip)} and records that its pulls landed.`
          : say`${who(parts.lander)} is moving ${parts.branch} to ${commit(parts.tip)}.`,
      )
    case 'landed':
      return join(
        parts.base === undefined
          ? say`${parts.branch} moved to ${commit(parts.tip)}.`
          : say`${parts.branch} moved from ${commit(parts.base)} to ${commit(parts.tip)}.`,
        parts.nothingRan ? nothingRanWords() : undefined,
      )
    case 'cancelled':
      return parts.whole
        ? say`It was dropped before it was decided.`
        : say`Not all of its checks are there, so nothing can be said for it: it counts as dropped.`
    case 'failed':
      return failedWords(parts)
  }
}

function failedWords(parts: Extract<BatchParts, { state: 'failed' }>): Phrase {
  if (parts.failed.length === 0) {
    return say`${list(parts.noVerdict)} ended without a verdict. No pull is blamed.`
  }
  return parts.size === 1
    ? say`${list(parts.failed)} failed on this stack, which held one pull.`
    : say`${list(parts.failed)} failed on this stack, so none of it landed as it stood.`
}

/** ADM-11: a batch in which nothing ran. */
export function nothingRanWords(): Phrase {
  return say`Nothing ran: no workflow checks this branch.`
}

/** The same of a batch that has workflows, which had nothing to do. */
export function noneHadToRun(): Phrase {
  return say`No workflow had to run on it.`
}

/** How a batch is called where nobody is blamed for its end. */
export const noVerdictLabel: Label = runLabels['no-verdict']

/** Why a batch was dropped. `member`: the pull because of which, and what became of it. `onBatch`: it stood on another batch. */
export interface DroppedParts {
  cause?: DropParts | undefined
  branch: string
  onBatch: boolean
  member?: { title: string; pull: string; did: 'left' | 'closed' | 'ejected' | 'merged' | 'changed' } | undefined
  /** Every workflow of it had passed. */
  passed: boolean
}

const DID: Readonly<Record<NonNullable<DroppedParts['member']>['did'], string>> = {
  left: 'left the queue while it was in this batch',
  closed: 'was closed while it was in this batch',
  ejected: 'was turned away while it was in this batch',
  merged: 'landed otherwise while it was in this batch',
  changed: 'changed while it was in this batch, so what was checked was no longer the pull',
}

/** MOV-1 to MOV-5, AHD-2: why a batch was dropped before it was decided. */
export function droppedWords({ cause, branch, onBatch, member, passed }: DroppedParts): Phrase {
  switch (cause) {
    case 'branch-moved':
      return say`${branch} moved by another push, so the stack had to be built again.`
    case 'pull-moved-on':
      return member === undefined
        ? say`One of its pulls moved on while it was in this batch.`
        : say`${{ title: member.title, pull: member.pull }} ${DID[member.did]}.`
    case 'batch-failed':
      return onBatch ? say`The batch it stood on did not land.` : say`Another of its workflows had failed.`
    case 'no-verdict':
      return say`A run ended without a verdict, so the stack is built again. No pull is blamed.`
    case 'landing-failed':
      return say`Every workflow passed, and its landing was refused, so the stack had to be built again.`
    case 'not-lander':
      return say`Another runner lands here.`
    case 'stopping':
      return say`Its runner stopped. Its pulls keep their places.`
    default:
      if (member !== undefined) return say`${{ title: member.title, pull: member.pull }} ${DID[member.did]}.`
      return passed
        ? say`It passed and did not land: what it stood on, or what it held, had changed.`
        : say`It was dropped before it was decided.`
  }
}

/** FAI-3: what came of looking for the cause of a failed batch. `ejected` are pulls; `left` waits or is being checked. */
export function halvedWords(parts: {
  lander: string
  size: number
  landed: number
  ejected: readonly { title: string; pull: string }[]
  left: number
}): Phrase {
  const { lander, size, landed, ejected, left } = parts
  const goesOn = left > 0
  const how = say`Which pull caused it was not known, so ${who(lander)} ${goesOn ? 'checks' : 'checked'} it in halves.`
  const many = landed === 0 ? undefined : say`${landed} of the ${size} landed after all`
  const out = ejected.length === 0 ? undefined : say`${list(ejected)} ${ejected.length === 1 ? 'was' : 'were'} ejected`
  if (many === undefined && out === undefined) return how
  return join(how, many !== undefined && out !== undefined ? say`${many}; ${out}.` : say`${many ?? out ?? ''}.`)
}

/** When it was checked, and what its trust meant (CHK-2). Times in milliseconds since 1970. */
export function batchTimes(parts: {
  since?: number | undefined
  endedAt?: number | undefined
  trusted?: boolean | undefined
  now: number
}): Phrase {
  const { since, endedAt, trusted, now } = parts
  const times =
    since === undefined
      ? undefined
      : endedAt === undefined
        ? say`Checked since ${clock(since, now)}, ${ago(since)}.`
        : say`Checked ${clock(since, now)} to ${clock(endedAt, now)}, ${ago(endedAt)}.`
  if (trusted === undefined) return times ?? []
  return join(
    times,
    trusted
      ? say`Its pulls come from the owner and collaborators only, so it ${endedAt === undefined ? 'uses' : 'used'} the branch’s cache.`
      : say`Its pulls come from others too, so nothing that it ${endedAt === undefined ? 'caches is' : 'cached was'} kept for the branch.`,
  )
}

/** Said where its checks were cleared away: what is shown was kept of them, or comes from merged records alone. */
export function prunedWords(kept: boolean): Phrase {
  return kept
    ? say`Its checks were cleared away by its runner; this is what was kept of them.`
    : say`Its checks were cleared away by its runner; its pulls say what landed.`
}

export type MemberParts =
  /** `elsewhere`: in another batch than this one. */
  | { key: 'landed'; commit: string; elsewhere: boolean }
  | { key: 'ejected'; reason: string; says: string }
  | { key: 'left'; by: string }
  | { key: 'closed'; by: string }
  | { key: 'gone' }
  /** As its standing says. */
  | { key: 'stands'; text: Phrase }

/** What became of a pull that was in a batch, after its label. */
export function memberWords(parts: MemberParts): Phrase {
  switch (parts.key) {
    case 'landed':
      return parts.elsewhere ? say`as ${commit(parts.commit)}, otherwise than in this batch` : say`as ${commit(parts.commit)}`
    case 'ejected':
      return parts.says === '' ? say`${parts.reason}` : say`${parts.reason}. ${parts.says}`
    case 'left':
      return say`${who(parts.by)} took it out of the queue`
    case 'closed':
      return say`by ${who(parts.by)}`
    case 'gone':
      return say`Its record is no longer there.`
    case 'stands':
      return parts.text
  }
}

/** Pulls by their numbers in the stack. */
function numbered(pulls: readonly number[]): Phrase {
  return say`${pulls.length === 1 ? 'pull' : 'pulls'} ${list(pulls.map(n => `${n}`))}`
}

function begun(phrase: Phrase): Phrase {
  const [first, ...rest] = phrase
  return typeof first === 'string' ? [capital(first), ...rest] : phrase
}

export type BatchEventParts =
  | { key: 'built'; branch: string; base?: string | undefined; ahead: boolean }
  | { key: 'run'; workflow: string; state: 'failed' | 'no-verdict' }
  | { key: 'cancelled'; workflows: readonly string[] }
  | { key: 'passed'; nothingRan: boolean }
  | { key: 'dropped' }
  | { key: 'again'; pulls: readonly number[]; of: number }
  | { key: 'landed'; pulls: readonly number[]; all: boolean; branch: string; tip: string }
  | { key: 'ejected'; pull: number; alone: boolean; reason: string }
  | { key: 'left' | 'closed'; pull: number; alone: boolean; by: string }
  | { key: 'decision'; says: Phrase }

function again({ pulls, of }: { pulls: readonly number[]; of: number }): string {
  if (pulls.length === of) return of === 1 ? '' : ' together'
  return pulls.length === 1 ? ' by itself' : ' by themselves'
}

/** What happened with a batch, line by line. No links: a line is one. */
export function batchEventWords(parts: BatchEventParts): { tone: Tone; says: Phrase } {
  switch (parts.key) {
    case 'built': {
      const on = parts.base === undefined ? say`` : say` at ${commit(parts.base)}`
      return { tone: 'accent', says: parts.ahead ? say`Built on the batch${on}, ahead of it` : say`Built on ${parts.branch}${on}` }
    }
    case 'run':
      return parts.state === 'failed'
        ? { tone: 'danger', says: say`${parts.workflow} failed` }
        : { tone: 'attention', says: say`${parts.workflow} ended without a verdict` }
    case 'cancelled':
      return { tone: 'neutral', says: say`${list(parts.workflows)} ${parts.workflows.length === 1 ? 'was' : 'were'} cancelled` }
    case 'passed':
      return { tone: 'success', says: parts.nothingRan ? say`Nothing ran` : say`Every workflow passed` }
    case 'dropped':
      return { tone: 'neutral', says: say`Dropped` }
    case 'again':
      return {
        tone: 'accent',
        says: begun(say`${numbered(parts.pulls)} checked again${again(parts)}`),
      }
    case 'landed':
      return {
        tone: 'done',
        says: begun(say`${parts.all ? say`landed` : say`${numbered(parts.pulls)} landed`}; ${parts.branch} at ${commit(parts.tip)}`),
      }
    case 'ejected':
      return { tone: 'danger', says: say`${parts.alone ? 'Its pull' : `Pull ${parts.pull}`} was ejected: ${parts.reason}` }
    case 'left':
      return { tone: 'neutral', says: say`${parts.alone ? 'Its pull' : `Pull ${parts.pull}`} left the queue` }
    case 'closed':
      return { tone: 'neutral', says: say`${parts.alone ? 'Its pull' : `Pull ${parts.pull}`} was closed` }
    case 'decision':
      return { tone: 'attention', says: say`The steward: ${parts.says}` }
  }
}

/** "1 failed, 2 passed", as the count beside a heading. */
export function runCounts(states: readonly string[]): string {
  const words = ['failed', 'no verdict', 'running', 'queued', 'passed', 'reused', 'skipped', 'cancelled']
  const names: Readonly<Record<string, string>> = { 'no-verdict': 'no verdict', unknown: 'no verdict' }
  const said = words.flatMap(word => {
    const n = states.filter(state => (names[state] ?? state) === word).length
    return n === 0 ? [] : [`${n} ${word}`]
  })
  return said.join(', ')
}

/** A run in a table: what it says of itself beside its state. */
export function runSays(run: {
  failures?: number | undefined
  retried: number
  cause?: string | undefined
  summary?: string | undefined
}): string {
  const retried = run.retried === 0 ? '' : `${count(run.retried, 'test')} passed on a retry`
  const said = run.cause ?? summaryRest(run.summary ?? '').replace(/\.$/, '')
  return [said, retried].filter(text => text !== '').join('; ')
}
