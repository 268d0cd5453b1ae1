/** The second lines of rows: what stands beside a name in lists. */
import type { FailedCheck } from '../queue/failed-checks.ts'
import { batchLandsWords, landsIn, landsWords, noEstimate, runName, runWords } from '../queue/words/expected.ts'
import { gatewayLabels, healthLabels, pullLabels, runLabels, stewardLabels, timedOutLabel } from '../queue/words/labels.ts'
import { stewardLabel } from '../queue/words/steward.ts'
import { type Html, html } from './html.ts'
import { runLabel, runStateOf } from './labels.ts'
import type {
  CheckLine,
  DecisionLine,
  ExpectedLine,
  Instant,
  LanderLine,
  PullLine,
  QueueLane,
  StandingWords,
  TimeForm,
  Words,
} from './models.ts'
import { duration, millis } from './times.ts'
import { clip } from './titles.ts'

interface Tools {
  /** The page of a run, by its address; undefined for what is none. */
  checkHref(uri: string): string | undefined
  label(of: { word: string | Html; icon: string; tone: string }, bare?: boolean): Html
  time(at: Instant, form: TimeForm): Html
  words(of: Words | undefined): Html | string
  /** A sentence as plain text. */
  text(of: Words): string
  /** In milliseconds since 1970. */
  now: number
}

const healthy = new Set(['busy', 'checking', 'filling', 'waiting', 'idle'])

/** What was done to a pull when its standing began; of what is being checked, for how long counts. */
const dones: Readonly<Record<string, string>> = {
  queued: 'queued',
  'in-batch': 'for',
  'in-ahead': 'for',
  landing: 'passed',
  merged: 'landed',
  'merged-not-there': 'recorded',
  closed: 'closed',
}

const ended = new Set(['success', 'failure', 'error', 'cancelled'])

function rangeOf({ from, to }: ExpectedLine): { from: number; to: number } | undefined {
  return from === undefined || to === undefined ? undefined : { from: millis(from), to: millis(to) }
}

/** A sentence that goes on: without its full stop. */
function unstopped(of: Words): Words {
  if (typeof of === 'string') return of.replace(/\.$/, '')
  const last = of.at(-1)
  return typeof last === 'string' ? [...of.slice(0, -1), last.replace(/\.$/, '')] : of
}

/** Helpers that say more about a row. */
export function rowTexts({ label, time, words, text, checkHref, now }: Tools) {
  /** How long a run took, or has taken so far, which ticks; undefined when its record does not say. */
  const took = (check: CheckLine): string | Html | undefined => {
    if (check.startedAt === undefined) return undefined
    if (check.finishedAt === undefined) return time(check.startedAt, 'for')
    const ms = millis(check.finishedAt) - millis(check.startedAt)
    return Number.isNaN(ms) || ms < 0 ? undefined : duration(ms)
  }

  /** What a bar needs to fill while time goes by: when the run began, and how long such runs take, in seconds. */
  const bar = ({ status, startedAt, usual }: CheckLine, isSilent: boolean) => {
    if (status !== 'running' || isSilent || startedAt === undefined || usual === undefined || usual.typical <= 0) return ''
    const time = new Date(millis(startedAt))
    return Number.isNaN(time.getTime()) ? '' : html` data-from="${time.toISOString()}" data-for="${usual.typical}"`
  }

  return {
    /** A branch in a list of queues: figures while it is well, the sentence about it when it is not. */
    laneSays: (lane: QueueLane) => {
      const queued = lane.length === 0 ? 'nothing queued' : `${lane.length.toLocaleString('en')} queued`
      if (lane.health.kind === 'no-runners') return lane.length === 0 ? 'names no runner' : `${queued}; names no runner`
      if (!healthy.has(lane.health.kind)) return html`${queued}: ${words(unstopped(lane.health.says))}`
      const batches = lane.batches === 0 ? '' : `, ${lane.batches} ${lane.batches === 1 ? 'batch' : 'batches'} in flight`
      return queued + batches
    },

    /** A pull in a list of pulls. */
    rowSays: (pull: PullLine, standing: StandingWords) => {
      if (standing.kind === 'ejected' && standing.reason !== undefined) return html`<bdi>${clip(standing.reason, 120)}</bdi>`
      const preflights = standing.preflights ?? []
      if (standing.kind === 'queued' && preflights.length > 0)
        return `waiting for its ${preflights.length === 1 ? 'pre-flight' : 'pre-flights'}: ${preflights.map(each => each.name).join(', ')}`
      const done = standing.since === undefined ? undefined : dones[standing.kind]
      if (standing.since === undefined || done === undefined) return html`opened ${time(pull.createdAt, 'ago')}`
      return done === 'for' ? html`being checked for ${time(standing.since, 'for')}` : html`${done} ${time(standing.since, 'ago')}`
    },

    /** Who lands, when it was seen, and how it is set. */
    landerSays: (lander: LanderLine) => {
      const seen = lander.lastSeen === undefined ? 'never seen' : html`seen ${time(lander.lastSeen, 'ago')}`
      const settings = [
        lander.batch === undefined ? undefined : `batches of up to ${lander.batch}`,
        lander.depth === undefined ? undefined : lander.depth > 1 ? 'one ahead' : 'one at a time',
        lander.wait === undefined ? undefined : lander.wait === 0 ? 'no wait' : `waits up to ${duration(lander.wait * 1000)}`,
        lander.timeout === undefined ? undefined : `${duration(lander.timeout * 1000)} time limit`,
        lander.executor === undefined || lander.executor === 'host' ? undefined : 'isolated runs',
      ].filter(each => each !== undefined)
      return html`lands this queue, ${seen}.${settings.length === 0 ? '' : ` Set to ${settings.join(', ')}.`}`
    },

    /**
     * A run in a strip: the text beside its name, which ticks while it goes on, the same for its label, and how full its bar is, in hundredths.
     * `silentSince`: when whoever runs it was last seen, where that is too long ago.
     */
    run: (check: CheckLine, silentSince?: Instant) => {
      const state = runStateOf(check.status, check.verdict, check.reusedFrom)
      const at = (instant: Instant | undefined) => (instant === undefined ? undefined : millis(instant))
      const { startedAt, finishedAt, usual, verdict } = check
      const ms = usual && { from: usual.from * 1000, typical: usual.typical * 1000, to: usual.to * 1000 }
      const silent = at(silentSince)
      const of = { state, startedAt: at(startedAt), finishedAt: at(finishedAt), verdict, usual: ms, now, silentSince: silent }
      const isSilent = silent !== undefined && (state === 'running' || state === 'queued')
      const { icon, tone } = isSilent && state === 'running' ? { icon: 'alert', tone: 'attention' } : runLabels[state]
      const spent = state === 'running' && startedAt !== undefined ? (silent ?? now) - millis(startedAt) : 0
      const part = ms === undefined || ms.typical <= 0 ? 0 : Math.min(100, Math.max(0, Math.round((100 * spent) / ms.typical)))
      return {
        icon,
        tone,
        text: text(runName(of)),
        says: words(runWords(of)),
        bar: bar(check, isSilent),
        part: ended.has(check.status) && state !== 'skipped' ? 100 : part,
      }
    },

    /** A run by the name of its workflow, which leads to its log. */
    runName: (check: CheckLine) => {
      const href = checkHref(check.uri)
      const name = html`<bdi>${check.workflow}</bdi>`
      return href === undefined ? name : html`<a href="${href}">${name}</a>`
    },

    /** A run in a line of several: its name and how it went. */
    ranOn: (check: CheckLine) => {
      const run = runLabel(check.status, check.verdict)
      const href = checkHref(check.uri)
      const name = html`<bdi>${check.workflow}</bdi>: ${run.word.toLowerCase()}`
      return label({ ...run, word: href === undefined ? name : html`<a href="${href}">${name}</a>` }, true)
    },

    runLabel: (check: CheckLine) => runLabel(check.status, check.verdict),

    /** A run in a list of checks. */
    checkSays: (check: CheckLine) => {
      const parts: (string | Html)[] = []
      if (check.preflight) parts.push('pre-flight')
      if (check.baseCommit !== undefined) parts.push(html`on <code>${check.baseCommit.slice(0, 7)}</code>`)
      const spent = took(check)
      if (spent !== undefined) parts.push(spent)
      if (check.isolated === false) parts.push('not isolated')
      const summary = check.summary === undefined || check.summary === '' ? '' : html` <bdi class="long">${check.summary}</bdi>`
      return html`${parts.map((each, at) => html`${at === 0 ? '' : ', '}${each}`)}${summary}`
    },

    /** Whether the owner lets a gateway write. */
    delegation: (given: boolean) => (given ? gatewayLabels.delegated : healthLabels['not-delegated']),

    /** A workflow that failed, with its log one click away where its check is known. */
    failed: (check: FailedCheck) => {
      const run = check.verdict === 'timeout' ? timedOutLabel : runLabel(check.status, check.verdict)
      const href = checkHref(check.check)
      const name = html`<bdi>${check.workflow}</bdi>: ${run.word.toLowerCase()}`
      return label({ ...run, word: href === undefined ? name : html`<a href="${href}">${name}</a>` }, true)
    },

    /** When something lands: "in 8–10 min"; why there is no estimate, unless the reason is among those `said` beside it; nothing where nobody estimates. */
    lands: (expected: ExpectedLine | undefined, said: readonly Words[]) => {
      if (expected === undefined) return undefined
      const range = rangeOf(expected)
      if (range !== undefined) return words([landsIn(range.from, range.to)])
      const { none } = expected
      return none === undefined || said.some(each => text(each) === text(none)) ? noEstimate : words(none)
    },

    /** The same beside a batch's name, or why not; `ahead`: it stands on another. */
    batchLands: (expected: ExpectedLine | undefined, ahead: boolean) => {
      const range = expected && rangeOf(expected)
      return range === undefined ? expected?.none && words(expected.none) : words(batchLandsWords(range, ahead))
    },

    /** The same as a sentence. */
    batchLandsWhole: (expected: ExpectedLine | undefined, ahead: boolean) => {
      const range = expected && rangeOf(expected)
      if (range === undefined) return expected?.none && words(expected.none)
      const basis = expected?.basis
      return words(landsWords({ ...range, basis: typeof basis === 'string' ? [basis] : basis }, ahead ? 'below' : undefined))
    },

    /** What the steward decided, as a label. */
    decided: ({ verdict }: DecisionLine) => {
      const of = verdict === 'requeue' ? stewardLabels.requeued : verdict === 'reject' ? stewardLabels.rejected : stewardLabels.none
      return label(stewardLabel(of))
    },

    /** A pre-flight of a pull, and where its run stands. */
    flight: (flight: { name: string; status?: string | undefined; verdict?: string | undefined }) => {
      const run = flight.status === undefined ? pullLabels.waiting : runLabel(flight.status, flight.verdict)
      return label({ ...run, word: html`<bdi>${flight.name}</bdi>: ${run.word.toLowerCase()}` }, true)
    },
  }
}
