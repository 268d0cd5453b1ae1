import { createHash, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import type { Did } from '../../atproto/ids.ts'

/** What giving a delegation remembers while the owner is at their own server: whose it is to be, and which browser began. */
const shape = z.object({ owner: z.string(), browser: z.string() })

/** Binds it to the account that is logged in and to the browser that began it, by the secret in its cookie. */
export function writeGiving(owner: Did, secret: string): string {
  return JSON.stringify({ owner, browser: digest(secret).toString('base64url') } satisfies z.output<typeof shape>)
}

/** Whether the browser that holds this secret began it. */
export function isGivingOf(state: string, secret: string | undefined): boolean {
  const begun = read(state)
  if (begun === undefined || secret === undefined) return false
  const wanted = Buffer.from(begun.browser, 'base64url')
  const held = digest(secret)
  return wanted.length === held.length && timingSafeEqual(wanted, held)
}

/** Whether it was begun by this account. */
export function isGivingBy(state: string, owner: string): boolean {
  return read(state)?.owner === owner
}

function read(state: string): z.output<typeof shape> | undefined {
  try {
    return shape.safeParse(JSON.parse(state)).data
  } catch {
    return undefined
  }
}

function digest(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}
