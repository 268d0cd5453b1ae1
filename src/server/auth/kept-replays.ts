import { createReplayMemory, type ReplayMemory } from '../../atproto/replay-memory.ts'
import type { IndexDatabase } from '../../indexer/database.ts'

/** Spent tokens that outlive the process, and that every process over the same database knows of (GWY-10). */
export interface KeptReplays extends ReplayMemory {
  /** Forgets those that have expired. */
  purge(): void
}

/** `now` in milliseconds since 1970. The bounds on live tokens are those of one process's memory; what was spent is a row of the database. */
export function createKeptReplays(ctx: { database: Pick<IndexDatabase, 'sqlite'>; now: () => number }): KeptReplays {
  const memory = createReplayMemory({ now: ctx.now })
  const { sqlite } = ctx.database
  const find = sqlite.prepare<[string, string]>('select 1 from spent_token where issuer = ? and jti = ?')
  const insert = sqlite.prepare<[string, string, number]>(
    'insert into spent_token (issuer, jti, exp) values (?, ?, ?) on conflict do nothing',
  )
  const forget = sqlite.prepare<[number]>('delete from spent_token where exp < ?')
  return {
    isSpent: (issuer, jti) => memory.isSpent(issuer, jti) || find.get(issuer, jti) !== undefined,
    spend(issuer, jti, exp) {
      const spent = memory.spend(issuer, jti, exp)
      if (spent !== 'ok') return spent
      return insert.run(issuer, jti, Math.ceil(exp)).changes === 1 ? 'ok' : 'spent'
    },
    purge: () => void forget.run(Math.floor(ctx.now() / 1000)),
  }
}
