import type { Migration } from 'kysely/migration'
import * as records from './2026-11-30-a-records.ts'
import * as typed from './2026-11-30-b-typed.ts'
import * as work from './2026-11-30-c-work.ts'
import * as faults from './2026-11-30-d-faults.ts'
import * as missed from './2026-11-30-e-missed.ts'
import * as history from './2026-11-30-f-history.ts'
import * as turns from './2026-11-30-g-turns.ts'
import * as settings from './2026-11-30-h-settings.ts'
import * as touched from './2026-11-30-i-touched.ts'

/** The index's migrations by dated name, oldest first. One that has shipped is never edited. */
export const migrations: Readonly<Record<string, Migration>> = {
  '2026-11-30-a-records': records,
  '2026-11-30-b-typed': typed,
  '2026-11-30-c-work': work,
  '2026-11-30-d-faults': faults,
  '2026-11-30-e-missed': missed,
  '2026-11-30-f-history': history,
  '2026-11-30-g-turns': turns,
  '2026-11-30-h-settings': settings,
  '2026-11-30-i-touched': touched,
}
