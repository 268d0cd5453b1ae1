import type { Migration } from 'kysely/migration'
import * as audit from './2026-11-30-audit.ts'
import * as delegations from './2026-11-30-delegations.ts'
import * as passes from './2026-11-30-passes.ts'
import * as sessions from './2026-11-30-server-sessions.ts'
import * as spentTokens from './2026-11-30-spent-tokens.ts'

/** The server's own migrations by dated name; they run together with those of the index. One that has shipped is never edited. */
export const migrations: Readonly<Record<string, Migration>> = {
  '2026-11-30-server-sessions': sessions,
  '2026-11-30-delegations': delegations,
  '2026-11-30-audit': audit,
  '2026-11-30-spent-tokens': spentTokens,
  '2026-11-30-passes': passes,
}
