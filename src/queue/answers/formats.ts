/** Values in the formats that the lexicons ask for. What comes in was validated where it was read, so a wrong one is a fault here. */
import type * as knotless from '../../lexicons/dev/knotless.ts'

export type Did = knotless.defs.AccountView['did']
export type AtUri = knotless.defs.PullView['uri']
export type Datetime = knotless.defs.PullView['createdAt']

export function toDid(text: string): Did {
  if (!isDid(text)) throw new TypeError('not a DID')
  return text
}

export function toAtUri(text: string): AtUri {
  if (!isAtUri(text)) throw new TypeError('not an AT-URI')
  return text
}

/** The first and the last year that the format takes: 0010 and 9999. */
const FIRST = -61_851_600_000_000
const LAST = 253_402_300_799_999

/** A time in milliseconds since 1970 as ISO 8601; undefined stays undefined. A time beyond what the format can say is said as its end. */
export function toDatetime(ms: number): Datetime
export function toDatetime(ms: number | undefined): Datetime | undefined
export function toDatetime(ms: number | undefined): Datetime | undefined {
  if (ms === undefined) return undefined
  const text = new Date(Number.isNaN(ms) ? 0 : Math.min(LAST, Math.max(FIRST, ms))).toISOString()
  if (!isDatetime(text)) throw new TypeError('not a time')
  return text
}

function isDid(text: string): text is Did {
  return text.startsWith('did:')
}

function isAtUri(text: string): text is AtUri {
  return text.startsWith('at://')
}

function isDatetime(text: string): text is Datetime {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text)
}

type Uri = NonNullable<knotless.defs.GatewayView['settingsUrl']>

export function toUri(text: string | undefined): Uri | undefined {
  if (text === undefined) return undefined
  if (!isUri(text)) throw new TypeError('not a URI')
  return text
}

function isUri(text: string): text is Uri {
  return /^[a-z][a-z0-9+.-]*:\S+$/.test(text)
}
