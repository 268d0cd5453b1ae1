import type { Identity } from '../../atproto/identity.ts'
import type { Reader } from '../../atproto/reader.ts'
import type { Ingest } from '../ingest/queue.ts'
import type { Budget } from './budget.ts'
import type { Jobs } from './jobs.ts'

/** What reading from people's servers takes. */
export interface BackfillContext {
  ingest: Pick<Ingest, 'submit'>
  identity: Pick<Identity, 'resolveDid' | 'forget'>
  reader: Pick<Reader, 'getRecord' | 'getLatestCommit' | 'getRepoStatus' | 'describeRepo' | 'listAllRecords' | 'listReposByCollection'>
  budget: Budget
  jobs: Jobs
  /** The relay's address, when there is one. */
  relay?: string | undefined
  /** Milliseconds since 1970. */
  now: () => number
  bounds: BackfillBounds
}

export interface BackfillBounds {
  /** Records read per collection of an account. */
  perCollection: number
  /** Accounts taken from the relay per collection. */
  fromRelay: number
  /** After how long a named account is read again, in milliseconds. */
  renewMs: number
  /** After how long a repository that was not there is looked for again when something names it, in milliseconds. */
  absentMs: number
}

export const usualBounds: BackfillBounds = { perCollection: 50_000, fromRelay: 20_000, renewMs: 24 * 3_600_000, absentMs: 3_600_000 }

/** How a job ended: `later` when its server is busy with others of ours. */
export type JobEnd = 'done' | 'absent' | 'later'
