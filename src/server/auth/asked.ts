import { z } from 'zod'
import { type Did, parseDid } from '../../atproto/ids.ts'

/** What a client remembers of a request for a grant until its answer comes. */
export interface Asked {
  scope: string
  /** Whose grant was asked for. */
  did: Did
  /** What whoever began it wants back. */
  state: string
}

const shape = z.object({ scope: z.string(), did: z.custom<Did>(value => parseDid(value) !== undefined), state: z.string() })

export function writeAsked(asked: Asked): string {
  return JSON.stringify(asked)
}

export function readAsked(text: string | undefined): Asked | undefined {
  if (text === undefined) return undefined
  try {
    return shape.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}
