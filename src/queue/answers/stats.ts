/** dev.knotless.getQueueStats, and the figures of dev.knotless.getQueue (REA-3). */
import type * as knotless from '../../lexicons/dev/knotless.ts'
import type { Asking } from '../asking.ts'
import type { Figures, SpanFigures } from '../stats/figures.ts'

const MINUTE = 60_000
const WEEK = 7

/** Today's figures of a branch and those of seven days; undefined where nobody keeps any. */
export function statsViews(branch: string, ctx: Pick<Asking, 'figures'>): knotless.defs.StatsView[] | undefined {
  const week = ctx.figures?.(branch, WEEK)
  const today = week?.days.at(-1)
  return week === undefined || today === undefined ? undefined : [statsView(1, today), statsView(WEEK, week.all)]
}

/** The answer of dev.knotless.getQueueStats. */
export function queueStatsAnswer({ days, all }: SpanFigures): knotless.getQueueStats.$OutputBody {
  return { days: days.map(({ day, ...figures }) => ({ day, ...figuresView(figures) })), all: figuresView(all) }
}

function statsView(days: number, figures: Figures): knotless.defs.StatsView {
  const { landed, ejections, batchesPassed, batchesEnded } = figures
  return { days, landed, ejected: ejections, ...waits(figures), batchesPassed, batchesEnded }
}

function figuresView(figures: Figures): Omit<knotless.getQueueStats.Span, '$type'> {
  const { queued, landed, ejections, ejected, batchesPassed, batchesEnded, longestMs, cancelled, retried } = figures
  return {
    queued,
    landed,
    ejected: ejections,
    ...waits(figures),
    ejectedFor: {
      conflict: ejected.conflict,
      checks: ejected.checks,
      preflight: ejected.preflight,
      branchGone: ejected['branch-gone'],
      other: ejected.other,
    },
    batchesPassed,
    batchesEnded,
    longestRunSeconds: longestMs === undefined ? undefined : Math.round(longestMs / 1000),
    cancelled: {
      restart: cancelled.restart,
      branchMoved: cancelled['branch-moved'],
      pullMovedOn: cancelled['pull-moved-on'],
      batchFailed: cancelled['batch-failed'],
      other: cancelled.other,
    },
    retried: retried.map(({ workflow, test, times }) => ({ workflow, test, times })),
  }
}

function waits({ medianMs, p95Ms }: Figures): { medianMinutes?: number; p95Minutes?: number } {
  return {
    ...(medianMs === undefined ? {} : { medianMinutes: Math.round(medianMs / MINUTE) }),
    ...(p95Ms === undefined ? {} : { p95Minutes: Math.round(p95Ms / MINUTE) }),
  }
}
