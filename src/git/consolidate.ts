import type { Mirror } from './mirror.ts'
import type { RefsAccount } from './push.ts'
import type { GitRefusal } from './refusal.ts'

/** Joins small packs of a record that lists over 32 of them; a push wins over it (STO-3). The mirror must hold its packs. */
export function consolidate(_input: {
  mirror: Mirror
  account: RefsAccount
  repo: string
  now: () => Date
}): Promise<{ ok: true; changed: boolean; packs: number } | GitRefusal> {
  throw new Error('not written yet')
}
