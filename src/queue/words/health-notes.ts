/** What is said under the health line. */
import { notIsolatedWords, unnamedLanderWords } from './health.ts'
import { clock, code, list, type Phrase, say, span, who } from './phrase.ts'

export type Setting = 'batch' | 'depth' | 'wait' | 'timeout'

/** Landers are DIDs. */
export type NoteParts =
  | { kind: 'unnamed-lander'; lander: string }
  | { kind: 'host'; lander: string }
  /** `wait` and `timeout` in seconds. */
  | {
      kind: 'drift'
      differing: readonly { name: Setting; want: number; have: number }[]
      lander: string
      since?: number | undefined
      now: number
    }
  | { kind: 'unread'; said: string }
  /** Fewer jobs than the batches in flight have runs. */
  | { kind: 'jobs'; lander: string; jobs: number; runs: number; depth: number }

export interface HealthNote {
  kind: NoteParts['kind']
  /** How it starts, with its colon. */
  bold: string
  says: Phrase
  advice?: Phrase | undefined
}

/** How a note begins, what it says and what to do about it. */
export function noteWords(parts: NoteParts): HealthNote {
  const { kind } = parts
  switch (parts.kind) {
    case 'unnamed-lander':
      return { kind, bold: 'Not named:', says: unnamedLanderWords(parts.lander) }
    case 'host':
      return { kind, bold: 'Not isolated:', says: notIsolatedWords(parts.lander) }
    case 'drift':
      return {
        kind,
        bold: 'Settings drift:',
        says: say`${code('.knotless/queue.yml')} asks for ${list(parts.differing.map(({ name, want }) => setting(name, want)))}; ${who(parts.lander)} runs with ${list(parts.differing.map(({ name, have }) => setting(name, have)))}${parts.since === undefined ? '' : say` since ${clock(parts.since, parts.now)}`}.`,
        advice: say`Start the runner again with what is intended, or change the file.`,
      }
    case 'unread':
      return { kind, bold: 'Settings unread:', says: say`${code('.knotless/queue.yml')} cannot be read: ${parts.said}.` }
    case 'jobs':
      return {
        kind,
        bold: 'Few jobs:',
        says:
          parts.depth > 1
            ? say`${who(parts.lander)} runs ${parts.jobs} at once, and two batches in flight have ${parts.runs}: the one ahead waits for free jobs.`
            : say`${who(parts.lander)} runs ${parts.jobs} at once, and a batch has ${parts.runs}: some of them wait for others.`,
      }
  }
}

/** "batches of up to 12", "a wait of 10 min". */
function setting(name: Setting, value: number): string {
  switch (name) {
    case 'batch':
      return `batches of up to ${value}`
    case 'depth':
      return value > 1 ? `${value} batches in flight` : 'one batch at a time'
    case 'wait':
      return value === 0 ? 'no wait' : `a wait of ${span(value * 1000)}`
    case 'timeout':
      return `a time limit of ${span(value * 1000)}`
  }
}
