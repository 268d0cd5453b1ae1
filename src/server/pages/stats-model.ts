import { statsFacts, titlesOf } from '../../indexer/read.ts'
import { branchesWithQueue } from '../../queue/branches-with-queue.ts'
import {
  compareAt,
  DAY,
  dayOf,
  type FigureFacts,
  type Figures,
  inSpan,
  onBranch,
  type SpanFigures,
  spanFigures,
  spanStart,
} from '../../queue/stats/figures.ts'
import type { QueueEvent } from '../../queue/stats/story.ts'
import { emptyWords } from '../../queue/words/pages.ts'
import { count, span } from '../../queue/words/phrase.ts'
import * as words from '../../queue/words/stats.ts'
import type { DayPulls, RepoHead, StatsPage } from '../../views/models.ts'
import { withQuery } from '../../views/paths.ts'
import type { PageContext } from './context.ts'
import type { Located } from './locate.ts'
import { statsPlots } from './stats-plots.ts'

/** What is asked of the Stats page. */
export interface StatsQuery {
  have?: string
  days?: 7 | 30 | 90
  branch?: string
  /** YYYY-MM-DD: the pulls of this day are listed. */
  day?: string
  /** YYYY-MM-DD: the days before and after it are compared. */
  compare?: string
}

/** How many days are shown unless another span is asked for. */
export const DAYS = 30
/** Landings below which nothing is drawn. */
const FEW = 5
const MOST_OF_GROUP = 100
const MOST_RETRIED = 50

/** What the page is made of. */
export interface StatsInput {
  head: RepoHead
  asked: StatsQuery
  /** Branches with a queue, the default one first; those that the figures are of are added. */
  branches: readonly string[]
  figures: SpanFigures
  day?: DayPulls | undefined
  compare: StatsPage['compare']
  /** Path of the page. */
  base: string
  now: number
}

/** The figures that are asked for, of one branch or of all. */
export function statsFigures(ctx: PageContext, at: Located, { days = DAYS, branch }: StatsQuery): SpanFigures {
  const now = ctx.now()
  return spanFigures(onBranch(statsFacts(ctx.database, { repo: at.view.record.uri, days, now }), branch), spanStart(now, days), days)
}

/** The page of what was asked, from the index. `base`: its path. */
export function statsModel(ctx: PageContext, at: Located, asked: StatsQuery, base: string): Omit<StatsPage, 'frame'> {
  const now = ctx.now()
  const day = asked.day === undefined ? Number.NaN : Date.parse(asked.day)
  return statsPageOf({
    head: at.head,
    asked,
    branches: branchesWithQueue(at.view).map(each => each.branch),
    figures: statsFigures(ctx, at, asked),
    day: Number.isNaN(day) ? undefined : dayPulls(ctx, at, day, inSpan(factsSince(ctx, at, asked, day), day, day + DAY)),
    compare: compared(ctx, at, asked),
    base,
    now,
  })
}

/** What happened from a day on, or since as far back as is looked. */
function factsSince(ctx: PageContext, at: Located, { branch }: StatsQuery, since: number): FigureFacts {
  const now = ctx.now()
  const days = Math.floor(now / DAY) - Math.floor(since / DAY) + 1
  return onBranch(statsFacts(ctx.database, { repo: at.view.record.uri, days, now }), branch)
}

/** The page without its frame. */
export function statsPageOf({ head, asked, branches, figures, day, compare, base, now }: StatsInput): Omit<StatsPage, 'frame'> {
  const { days = DAYS, branch } = asked
  const from = spanStart(now, days)
  const here = { days: days === DAYS ? undefined : String(days), branch }
  const href = (changes: Record<string, string | undefined>) => withQuery(base, { ...here, ...changes })
  const hrefOf = (date: string) => `${href({ day: date })}#day`
  const isFew = figures.all.landed < FEW
  return {
    repo: head,
    heading: words.statsHeading,
    lead: words.statsLead({ branches: branch === undefined ? figures.branches : [branch], from, to: from + (days - 1) * DAY }),
    spans: ([7, 30, 90] as const).map(n => ({
      name: count(n, 'day'),
      href: href({ days: n === DAYS ? undefined : String(n) }),
      current: n === days,
    })),
    branches: branchesOf([...branches, ...figures.branches], branch).map(name => ({
      name,
      href: href({ branch: name }),
      current: name === branch,
    })),
    figures: words.figureWords(figures.all),
    plots: isFew ? undefined : statsPlots(figures, hrefOf),
    empty: isFew ? emptyWords({ key: 'stats' }).says : undefined,
    table: tableOf(figures, days, asked.day, hrefOf),
    healthy: words.healthyWords,
    cancelled: words.cancelledWords(figures.all),
    retried: figures.all.retried.slice(0, MOST_RETRIED),
    nothing: {
      cancelled: words.statsWords.nothingCancelled,
      retried: words.statsWords.nothingRetried,
      pulls: words.statsWords.noPulls,
    },
    day,
    compare,
    csv: withQuery(`${base}.csv`, here),
    json: withQuery(`${base}.json`, here),
  }
}

/** All of them together first; none where there is nothing to choose. */
function branchesOf(branches: readonly string[], asked: string | undefined): (string | undefined)[] {
  const all = new Set([...branches, ...(asked === undefined ? [] : [asked])])
  return all.size < 2 ? [] : [undefined, ...all]
}

function tableOf(figures: SpanFigures, days: number, asked: string | undefined, hrefOf: (day: string) => string): StatsPage['table'] {
  const cells = (of: Figures) => words.statsColumns.map(column => `${column.of(of) ?? words.noNumber}`)
  const first = figures.days.findIndex(day => words.statsColumns.some(column => (column.of(day) ?? 0) > 0))
  const shown = figures.days.slice(Math.max(0, first))
  const [begin] = shown
  return {
    columns: words.statsColumns.map(({ name }) => name),
    before: first > 0 && begin !== undefined ? words.nothingBefore(Date.parse(begin.day)) : undefined,
    rows: shown.map(day => ({
      day: words.dayShort(Date.parse(day.day)),
      href: day.landed + day.ejections === 0 ? undefined : hrefOf(day.day),
      current: day.day === asked,
      cells: cells(day),
    })),
    all: { name: count(days, 'day'), cells: cells(figures.all) },
  }
}

function dayPulls(ctx: PageContext, at: Located, day: number, { events }: FigureFacts): DayPulls {
  const keyOf = (event: QueueEvent) => (event.kind === 'ejected' ? event.why : event.kind === 'landed' ? event.kind : undefined)
  const groups = Object.entries(words.landingWords).flatMap(([key, name]) => {
    const all = events.filter(event => keyOf(event) === key)
    const more = Math.max(0, all.length - MOST_OF_GROUP)
    return all.length === 0 ? [] : [{ name, landed: key === 'landed', shown: all.slice(0, MOST_OF_GROUP), more }]
  })
  const titles = titlesOf(ctx.database, [...new Set(groups.flatMap(({ shown }) => shown.map(({ pull }) => pull)))])
  return {
    day,
    groups: groups.map(({ shown, ...group }) => ({
      ...group,
      pulls: shown.map(event => {
        const author = event.pull.split('/')[2] ?? ''
        return {
          uri: event.pull,
          title: titles.get(event.pull)?.title,
          author: { did: author, handle: at.names(author) },
          at: event.at,
          waited: event.kind === 'landed' ? span(event.waitedMs) : undefined,
        }
      }),
    })),
  }
}

function compared(ctx: PageContext, at: Located, asked: StatsQuery): StatsPage['compare'] {
  const { days = DAYS, branch } = asked
  const now = ctx.now()
  const today = dayOf(now)
  const hidden = [
    ...(days === DAYS ? [] : [{ name: 'days', value: String(days) }]),
    ...(branch === undefined ? [] : [{ name: 'branch', value: branch }]),
  ]
  const day = asked.compare === undefined ? Number.NaN : Date.parse(asked.compare)
  if (Number.isNaN(day) || day > now) return { day: asked.compare ?? '', today, hidden }
  const { before, since, sinceDays } = compareAt(factsSince(ctx, at, asked, day - days * DAY), day, days, now)
  const after = words.figureWords(since)
  return {
    day: dayOf(day),
    today,
    hidden,
    heads: words.compareHeads(day, days, sinceDays),
    rows: words.figureWords(before).map(({ name, value }, n) => ({ name, before: value, since: after[n]?.value ?? '' })),
  }
}
