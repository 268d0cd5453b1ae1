/** The plots of the Stats page, from figures by day. */
import type { DayFigures, SpanFigures } from '../../queue/stats/figures.ts'
import { healthy } from '../../queue/stats/healthy.ts'
import { barWords, dayShort, statsWords } from '../../queue/words/stats.ts'
import type { MarkKind, Plot } from '../../views/models.ts'
import { topFor } from '../../views/plots.ts'

const MINUTE = 60_000

/** What a day's bar is made of, from the bottom up. */
const parts: readonly { kind: MarkKind; name: string; of: (day: DayFigures) => number }[] = [
  { kind: 'p1', name: statsWords.landed, of: day => day.landed },
  { kind: 'p2', name: statsWords.checks, of: day => day.ejected.checks + day.ejected.preflight },
  { kind: 'p3', name: statsWords.conflict, of: day => day.ejected.conflict },
  { kind: 'p4', name: statsWords['branch-gone'], of: day => day.ejected['branch-gone'] },
  { kind: 'p5', name: statsWords.other, of: day => day.ejected.other },
]

/** `hrefOf`: where the pulls of a day are listed. */
export function statsPlots({ days }: SpanFigures, hrefOf: (day: string) => string): Plot[] {
  const labels = dayLabels(days)
  const waits = lines(days, { l1: day => inMinutes(day.medianMs), l2: day => inMinutes(day.p95Ms) })
  const runs = lines(days, { l1: day => inMinutes(day.longestMs) })
  const passed = lines(days, { l1: day => (day.batchesEnded === 0 ? undefined : (day.batchesPassed / day.batchesEnded) * 100) })
  return [
    {
      title: statsWords.landings,
      label: statsWords.bars,
      key: parts.map(({ kind, name }) => ({ kind, name })),
      top: topFor(Math.max(...days.map(day => day.landed + day.ejections))),
      days: labels,
      bars: days.map(day => barOf(day, hrefOf)),
    },
    {
      title: statsWords.waits,
      label: statsWords.lines,
      key: [
        { kind: 'l1', name: statsWords.median },
        { kind: 'l2', name: statsWords.p95 },
        { kind: 'bound', name: statsWords.healthyWaits },
      ],
      top: topFor(Math.max(healthy.p95Minutes + 1, ...valuesOf(waits))),
      days: labels,
      bounds: [healthy.medianMinutes, healthy.p95Minutes],
      lines: waits,
    },
    {
      title: statsWords.passed,
      label: statsWords.lines,
      key: [
        { kind: 'l1', name: statsWords.passedOf },
        { kind: 'bound', name: statsWords.healthyPassed },
      ],
      top: 100,
      days: labels,
      bounds: [healthy.passed * 100],
      lines: passed,
    },
    {
      title: statsWords.runs,
      label: statsWords.lines,
      key: [{ kind: 'l1', name: statsWords.mean }],
      top: topFor(Math.max(1, ...valuesOf(runs))),
      days: labels,
      lines: runs,
    },
  ]
}

function barOf(day: DayFigures, hrefOf: (day: string) => string): NonNullable<Plot['bars']>[number] {
  const time = Date.parse(day.day)
  const counted = parts.map(({ kind, name, of }) => ({ kind, name, n: of(day) }))
  return {
    href: hrefOf(day.day),
    says: barWords(time, counted),
    parts: counted.map(({ kind, name, n }) => ({ kind, n, says: barWords(time, [{ name, n }]) })),
  }
}

function lines(
  days: readonly DayFigures[],
  of: Partial<Record<'l1' | 'l2', (day: DayFigures) => number | undefined>>,
): NonNullable<Plot['lines']> {
  const { l1, l2 } = of
  return [
    ...(l1 === undefined ? [] : [{ kind: 'l1' as const, values: days.map(l1) }]),
    ...(l2 === undefined ? [] : [{ kind: 'l2' as const, values: days.map(l2) }]),
  ]
}

function valuesOf(drawn: NonNullable<Plot['lines']>): number[] {
  return drawn.flatMap(({ values }) => values.filter(value => value !== undefined))
}

/** Four days evenly apart, the first and the last with their month, and each that is of another month than the one before. */
function dayLabels(days: readonly DayFigures[]): string[] {
  const last = days.length - 1
  const at = [0, Math.round(last / 3), Math.round((last * 2) / 3), last].map(n => days[n]?.day ?? '')
  return at.map((day, n) => {
    const time = Date.parse(day)
    const isSame = n > 0 && n < 3 && at[n - 1]?.slice(0, 7) === day.slice(0, 7)
    return isSame ? `${new Date(time).getUTCDate()}` : dayShort(time)
  })
}

function inMinutes(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / MINUTE
}
