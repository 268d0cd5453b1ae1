import type { SpanFigures } from '../../queue/stats/figures.ts'
import { statsColumns } from '../../queue/words/stats.ts'

/** The figures by day as CSV: a header and a line for each day, oldest first; spans in minutes, empty where there is none. */
export function statsCsv({ days }: SpanFigures): string {
  const lines = days.map(day => [day.day, ...statsColumns.map(({ of }) => of(day) ?? '')].join(','))
  return `${[['day', ...statsColumns.map(({ key }) => key)].join(','), ...lines].join('\n')}\n`
}

/** The same as JSON, with why checks were cancelled and which tests passed on a retry. */
export function statsJson({ days, all }: SpanFigures, of: { repo: string; branch?: string | undefined }): string {
  const numbers = (figures: SpanFigures['all']) => Object.fromEntries(statsColumns.map(({ key, of: cell }) => [key, cell(figures)]))
  const { cancelled, retried } = all
  return `${JSON.stringify({ ...of, days: days.map(day => ({ day: day.day, ...numbers(day) })), all: numbers(all), cancelled, retried }, undefined, 2)}\n`
}
