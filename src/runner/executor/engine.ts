import Docker from 'dockerode'
import { saysFull } from './tree.ts'

/** What went wrong at an engine: it does not answer, its disk is full, what was asked for is not there, or else. */
export type EngineFault = 'lost' | 'disk' | 'missing' | 'other'

/** How long an engine may take for what it does at once, in milliseconds. */
const answerMs = 60_000

/** An engine behind a socket. Connections are made as they are needed. */
export function openEngine(socketPath: string): Docker {
  return new Docker({ socketPath })
}

/** Bounds the time of an answer; a late one is an engine that does not answer. */
export async function answered<T>(asked: Promise<T>, ms = answerMs): Promise<T> {
  asked.catch(() => undefined)
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new EngineSilent()), ms)
  try {
    return await Promise.race([asked, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

class EngineSilent extends Error {
  constructor() {
    super('the container engine does not answer')
  }
}

/** Reads an error of the client. What has no status came from no engine. */
export function faultOf(error: unknown): EngineFault {
  if (error instanceof EngineSilent) return 'lost'
  const message = error instanceof Error ? error.message : String(error)
  if (saysFull(message)) return 'disk'
  const status = statusOf(error)
  if (status === 404) return 'missing'
  if (status === undefined && error instanceof Error && ('code' in error || /socket hang up|closed|aborted/i.test(message))) return 'lost'
  return 'other'
}

export function statusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('statusCode' in error)) return undefined
  return typeof error.statusCode === 'number' ? error.statusCode : undefined
}

/** What an error says, for the log of a runner: no path, and nothing of an engine that does not answer but that. */
export function saidOf(error: unknown): string {
  if (faultOf(error) === 'lost') return 'the container engine does not answer'
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code
  return error instanceof Error ? error.message : 'something that is no error'
}
