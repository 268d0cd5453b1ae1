import type { Log } from './types.ts'

/** Field names that never hold anything for a log. */
const secret = /token|password|secret|authorization/i
const MOST = 2000

/** One line an event: text for people, or JSON. `write` takes a line without its end. */
export function createLog(options: { form: 'text' | 'json'; now: () => number; write: (line: string) => void }): Log {
  const { form, now, write } = options
  function line(level: 'info' | 'warn' | 'error', event: string, fields: Readonly<Record<string, unknown>> = {}): void {
    const time = new Date(now()).toISOString()
    const shown = Object.entries(fields).flatMap(([name, value]) =>
      value === undefined || secret.test(name) ? [] : [[name, short(value)] as const],
    )
    if (form === 'json') write(JSON.stringify({ time, level, event, ...Object.fromEntries(shown) }))
    else
      write(
        [time, ...(level === 'info' ? [] : [level.toUpperCase()]), event, ...shown.map(([name, value]) => `${name}=${asText(value)}`)].join(
          ' ',
        ),
      )
  }
  return {
    info: (event, fields) => line('info', event, fields),
    warn: (event, fields) => line('warn', event, fields),
    error: (event, fields) => line('error', event, fields),
  }
}

function short(value: unknown): unknown {
  if (value instanceof Error) return value.message.slice(0, MOST)
  return typeof value === 'string' && value.length > MOST ? `${value.slice(0, MOST)}…` : value
}

/** A value on a line of text: quoted where it would not stand as one word. */
function asText(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return /^[^\s"=\p{Cc}]+$/u.test(text) ? text : JSON.stringify(text)
}
