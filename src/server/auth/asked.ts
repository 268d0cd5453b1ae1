import { z } from 'zod'

/** What a client remembers of a request for a grant until its answer comes. */
export interface Asked {
  scope: string
  /** What whoever began it wants back. */
  state: string
}

const shape = z.object({ scope: z.string(), state: z.string() })

export function writeAsked(asked: Asked): string {
  return JSON.stringify(asked)
}

/** Undefined for a text that is none. */
export function readAsked(text: string | undefined): Asked | undefined {
  if (text === undefined) return undefined
  try {
    return shape.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}
