/** The second lines of rows: what stands beside a name in lists. */
import { gatewayLabels, healthLabels, pullLabels } from '../queue/words/labels.ts'
import { type Html, html } from './html.ts'
import { runLabel } from './labels.ts'
import type { CheckLine, Instant, LanderLine, PullLine, QueueLane, StandingWords, TimeForm, Words } from './models.ts'
import { duration, millis } from './times.ts'
import { clip } from './titles.ts'

interface Tools {
  /** The page of a run, by its address; undefined for what is none. */
  checkHref(uri: string): string | undefined
  label(of: { word: string | Html; icon: string; tone: string }, bare?: boolean): Html
  time(at: Instant, form: TimeForm): Html
  words(of: Words | undefined): Html | string
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
const ran = new Set(['running', 'success', 'failure', 'error'])

/** A sentence that goes on: without its full stop. */
function unstopped(of: Words): Words {
  if (typeof of === 'string') return of.replace(/\.$/, '')
  const last = of.at(-1)
  return typeof last === 'string' ? [...of.slice(0, -1), last.replace(/\.$/, '')] : of
}

/** Helpers that say more about a row. */
export function rowTexts({ label, time, words, checkHref }: Tools) {
  /** How long a run took, or has taken so far, which ticks; undefined when its record does not say. */
  const took = (check: CheckLine): string | Html | undefined => {
    if (check.startedAt === undefined) return undefined
    if (check.finishedAt === undefined) return time(check.startedAt, 'for')
    const ms = millis(check.finishedAt) - millis(check.startedAt)
    return Number.isNaN(ms) || ms < 0 ? undefined : duration(ms)
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
        lander.executor === undefined || lander.executor === 'host' ? undefined : 'isolated runs',
      ].filter(each => each !== undefined)
      return html`lands this queue, ${seen}.${settings.length === 0 ? '' : ` Set to ${settings.join(', ')}.`}`
    },

    /** A run in a strip: the text under its bar, which ticks while it goes on, the same for its label, and whether the bar is full. */
    run: (check: CheckLine) => {
      const { word, icon, tone } = runLabel(check.status, check.verdict)
      const spent = took(check)
      const text = word.toLowerCase()
      const says =
        spent === undefined || !ran.has(check.status) ? text : html`${text} ${check.status === 'running' ? 'for' : 'in'} ${spent}`
      return { icon, tone, text, says, full: ended.has(check.status) }
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
    failed: (check: { workflow: string; status: string; check?: string | undefined }) => {
      const run = runLabel(check.status)
      const href = check.check === undefined ? undefined : checkHref(check.check)
      const name = html`<bdi>${check.workflow}</bdi>: ${run.word.toLowerCase()}`
      return label({ ...run, word: href === undefined ? name : html`<a href="${href}">${name}</a>` }, true)
    },

    /** A pre-flight that a pull waits for. */
    flight: (flight: { name: string; status?: string | undefined }) => {
      const run = flight.status === undefined ? pullLabels.waiting : runLabel(flight.status)
      return label({ ...run, word: html`<bdi>${flight.name}</bdi>: ${run.word.toLowerCase()}` }, true)
    },
  }
}
