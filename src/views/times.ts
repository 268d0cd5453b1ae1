import { plain, span } from '../queue/words/phrase.ts'
import { Html } from './html.ts'
import type { Instant, TimeForm } from './models.ts'

/** Milliseconds since 1970; NaN for a text that is no time. */
export function millis(instant: Instant): number {
  return typeof instant === 'number' ? instant : Date.parse(instant)
}

/** How long a run took, from milliseconds: to the second below ten minutes. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 60 || seconds >= 600 || seconds % 60 === 0) return span(ms)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** A time as an element whose text is in UTC; the browser's script puts it into the reader's zone and keeps it ticking. */
export function timeElement(instant: Instant, form: TimeForm, now: number): Html {
  const time = millis(instant)
  const text = plain([{ time, form }], now, () => undefined)
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) return new Html(text)
  return new Html(`<time datetime="${date.toISOString()}" data-t="${form}">${text}</time>`)
}

/** When something is expected, which the browser's script keeps true while time goes by. */
export function rangeElement(from: number, until: number, now: number): Html {
  const text = plain([{ from, until }], now, () => undefined)
  const [start, end] = [new Date(from), new Date(until)]
  if (Number.isNaN(start.getTime()) || Number.isNaN(end.getTime())) return new Html('at an unknown time')
  return new Html(`<time datetime="${start.toISOString()}" data-to="${end.toISOString()}" data-t="in">${text}</time>`)
}
