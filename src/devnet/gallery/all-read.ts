import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import type { Scene } from './scene.ts'

const READ_MS = 90_000
const status = z.object({ state: z.string(), applies: z.boolean().optional(), box: z.object({ key: z.string() }) })
/** What git cannot tell more of. */
const told = new Set(['head-gone', 'branch-gone', 'unreadable'])

/** Settles once the server knows every pull and what git says of it; false when it does not in time. */
export async function allRead(scenes: readonly Scene[], serverUrl: string): Promise<boolean> {
  const waiting = [...new Map(scenes.map(scene => [scene.pull, scene])).values()]
  for (const end = Date.now() + READ_MS; waiting.length > 0 && Date.now() < end; ) {
    const [next] = waiting
    if (next !== undefined && (await isRead(next, serverUrl))) waiting.shift()
    else await wait(100)
  }
  return waiting.length === 0
}

async function isRead({ pull, unread }: Scene, serverUrl: string): Promise<boolean> {
  const answer = await fetch(`${serverUrl}/xrpc/dev.knotless.getMergeStatus?pull=${encodeURIComponent(pull)}`)
  const found = answer.ok ? status.safeParse(await answer.json()).data : undefined
  if (found === undefined) return false
  const { state, applies, box } = found
  if (unread === true || state === 'closed') return true
  return state === 'merged' ? box.key !== 'landing' : applies !== undefined || told.has(box.key)
}
