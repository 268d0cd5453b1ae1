/** What the figures of a queue are called, and how they are said (REA-3). */
import type { CancelledFor, Figures } from '../stats/figures.ts'
import { ejectedPart, type Judgement, type Judgements, judgeFigures, passedPart } from '../stats/healthy.ts'
import type { EjectedFor } from '../stats/story.ts'
import { code, count, list, type Phrase, plain, say, span } from './phrase.ts'

const MINUTE = 60_000
const NONE = 'none'

/** The title of the stats page in a tab and a search, before the site's name. */
export function statsTitle(days: number, repo: string): string {
  return `Stats, ${count(days, 'day')} · ${repo}`
}

export const statsHeading = 'How the queue did'

/** For search engines and Open Graph. */
export function statsDescription(days: number, branch: string | undefined): string {
  return `How the queue${branch === undefined ? '' : ` of ${branch}`} did over the last ${count(days, 'day')}.`
}

/** What is counted, and over which days; `from` and `to` in milliseconds since 1970, the first and the last day. */
export function statsLead({ branches, from, to }: { branches: readonly string[]; from: number; to: number }): Phrase {
  const which = branches.length === 0 ? say`All branches` : list(branches.map(code))
  return say`${which}${branches.length > 1 ? ' together' : ''}, by UTC day, ${dayShort(from)} to ${{ time: to, form: 'day' }}. Queued → landed counts from the first queueing to the commit on the branch, past any ejection.`
}

/** A day without its year: "18 Nov". */
export function dayShort(time: number): string {
  return plain([{ time, form: 'day' }], time, () => undefined).replace(/ \d+$/, '')
}

export interface FigureWords {
  name: string
  value: string
  /** How it stands to what is called healthy. */
  judgement?: { is: Judgement; word: string } | undefined
  /** Beside the value. */
  note: string
}

/** The figures of a span, as the head of the page and a comparison say them. */
export function figureWords(figures: Figures): FigureWords[] {
  const { landed, queued, medianMs, p95Ms, longestMs } = figures
  const is = judgeFigures(figures)
  return [
    { name: 'Landed', value: `${landed}`, note: `of ${queued} queued` },
    { name: 'Queued → landed, median', value: minutes(medianMs), ...judgement('median', is) },
    { name: '95th percentile', value: minutes(p95Ms), ...judgement('p95', is) },
    { name: 'Ejected', value: ejectedOf(figures), ...judgement('ejected', is) },
    { name: 'Batches passed', value: percent(passedPart(figures)), ...judgement('passed', is) },
    { name: 'A batch’s run', value: runSpan(longestMs), note: 'the longest of its workflows' },
  ]
}

const JUDGED: Readonly<Record<keyof Judgements, Readonly<Record<Judgement, string>>>> = {
  median: { healthy: 'Healthy', near: 'A little slow', far: 'Slow' },
  p95: { healthy: 'Healthy', near: 'A little slow', far: 'Slow' },
  ejected: { healthy: 'Healthy', near: 'A little high', far: 'High' },
  passed: { healthy: 'Healthy', near: 'A little low', far: 'Low' },
}

const BOUNDS: Readonly<Record<keyof Judgements, string>> = {
  median: 'under 30 min',
  p95: 'under 60 min',
  ejected: 'a few percent',
  passed: 'over 80\u00a0%',
}

function judgement(of: keyof Judgements, all: Judgements): Pick<FigureWords, 'judgement' | 'note'> {
  const is = all[of]
  return {
    judgement: is === undefined ? undefined : { is, word: JUDGED[of][is] },
    note: is === 'healthy' ? BOUNDS[of] : `healthy is ${BOUNDS[of]}`,
  }
}

/** Said under the table. */
export const healthyWords =
  'Commonly called healthy: queued → landed under 30 minutes at the median and 60 at the 95th percentile, a few percent ejected, over 80 % of batches passing. Batches that were dropped before they were decided are not among the ended.'

/** The table's columns: what each is called, its name in CSV and JSON, and its cell. Spans are in minutes; absent ones are empty. */
export const statsColumns: readonly { key: string; name: string; of: (figures: Figures) => number | undefined }[] = [
  { key: 'queued', name: 'Queued', of: f => f.queued },
  { key: 'landed', name: 'Landed', of: f => f.landed },
  { key: 'median', name: 'Median, min', of: f => wholeMinutes(f.medianMs) },
  { key: 'p95', name: '95th, min', of: f => wholeMinutes(f.p95Ms) },
  { key: 'conflict', name: 'Ejected: conflict', of: f => f.ejected.conflict },
  { key: 'failed', name: 'Ejected: checks', of: f => f.ejected.checks },
  { key: 'preflight', name: 'Ejected: pre-flight', of: f => f.ejected.preflight },
  { key: 'gone', name: 'Ejected: branch gone', of: f => f.ejected['branch-gone'] },
  { key: 'other', name: 'Ejected: other', of: f => f.ejected.other },
  { key: 'ended', name: 'Batches ended', of: f => f.batchesEnded },
  { key: 'passed', name: 'Batches passed', of: f => f.batchesPassed },
  { key: 'mins', name: 'Batch run, min', of: f => (f.longestMs === undefined ? undefined : tenths(f.longestMs)) },
  { key: 'cancelled', name: 'Checks cancelled', of: f => f.cancellations },
  { key: 'retry', name: 'Passed on a retry', of: f => f.retries },
]

/** Of a table that begins with the first day on which anything happened. */
export function nothingBefore(day: number): string {
  return `Nothing happened before ${dayShort(day)}.`
}

/** In place of a number that there is none of. */
export const noNumber = '–'

/** What a plot's bars are made of, and the lists of a day's pulls; pre-flights are checks too, and share a bar with them. */
export const landingWords: Readonly<Record<'landed' | EjectedFor, string>> = {
  landed: 'Landed',
  checks: 'Ejected: checks',
  preflight: 'Ejected: pre-flight',
  conflict: 'Ejected: conflict',
  'branch-gone': 'Ejected: branch gone',
  other: 'Ejected: other',
}

const cancelledForWords: Readonly<Record<CancelledFor, string>> = {
  'batch-failed': 'the batch, or the one under it, had failed',
  'branch-moved': 'the branch moved by another push',
  'pull-moved-on': 'a pull in the batch moved on',
  restart: 'the runner restarted',
  other: 'something else',
}

/** Why runs were cancelled, with how many of each; those that none was cancelled for are left out. */
export function cancelledWords({ cancelled }: Pick<Figures, 'cancelled'>): { why: string; runs: number }[] {
  return [
    { why: cancelledForWords['batch-failed'], runs: cancelled['batch-failed'] },
    { why: cancelledForWords['branch-moved'], runs: cancelled['branch-moved'] },
    { why: cancelledForWords['pull-moved-on'], runs: cancelled['pull-moved-on'] },
    { why: cancelledForWords.restart, runs: cancelled.restart },
    { why: cancelledForWords.other, runs: cancelled.other },
  ].filter(({ runs }) => runs > 0)
}

/** What the page's plots and tables are called. */
export const statsWords = {
  landings: 'Landed and ejected, pulls',
  landed: 'landed',
  checks: 'ejected: checks',
  conflict: 'conflict',
  'branch-gone': 'branch gone',
  other: 'other',
  waits: 'Queued → landed, minutes',
  passed: 'Batches passed, percent',
  runs: 'A batch’s run, minutes',
  median: 'median',
  p95: '95th percentile',
  passedOf: 'passed of those that ended',
  mean: 'mean of the day',
  healthyWaits: 'healthy: 30 and 60',
  healthyPassed: 'healthy: 80',
  bars: 'Bars by day, each a link to its pulls; the same numbers are in the table below',
  lines: 'Lines by day; the same numbers are in the table below',
  nothingCancelled: 'No check was cancelled.',
  nothingRetried: 'No test passed on a retry.',
  noPulls: 'Nothing landed and nothing was turned away on this day.',
} as const

/** What a bar stands for: "18 Nov: 14 landed, 6 ejected: checks". */
export function barWords(day: number, parts: readonly { name: string; n: number }[]): string {
  const said = parts.filter(({ n }) => n > 0).map(({ name, n }) => `${n} ${name}`)
  return `${dayShort(day)}: ${said.length === 0 ? 'nothing' : said.join(', ')}`
}

/** The heads of a comparison: the days before a day, and those from it on. */
export function compareHeads(day: number, days: number, sinceDays: number): { before: Phrase; since: Phrase } {
  const date = { time: day, form: 'day' } as const
  return { before: say`${count(days, 'day')} before`, since: say`${count(sinceDays, 'day')} from ${date} on` }
}

/** A span that may be absent: in minutes while they are few, in seconds where it is less than one. */
function minutes(ms: number | undefined): string {
  if (ms === undefined) return NONE
  return ms < MINUTE || ms >= 100 * MINUTE ? span(ms) : `${Math.round(ms / MINUTE)} min`
}

/** A span in whole minutes, as answers give it: what rounds to none took some time all the same. */
export function minutesWords(minutes: number | undefined): string {
  if (minutes === undefined) return NONE
  return minutes === 0 ? 'under 1 min' : `${minutes} min`
}

/** How long a run took: to a tenth of a minute, in seconds where it is less than one. */
function runSpan(ms: number | undefined): string {
  if (ms === undefined) return NONE
  return ms < MINUTE ? span(ms) : `${tenths(ms)} min`
}

/** As a part of the queueings; how many, where nothing was queued in the span. */
function ejectedOf(figures: Figures): string {
  const part = ejectedPart(figures)
  return part === undefined && figures.ejections > 0 ? `${figures.ejections}` : percent(part)
}

function wholeMinutes(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms / MINUTE)
}

/** In minutes, to a tenth. */
function tenths(ms: number): number {
  return Math.round(ms / 6_000) / 10
}

function percent(part: number | undefined): string {
  return part === undefined ? NONE : `${Math.round(part * 1000) / 10} %`
}
