import type { IndexDatabase } from '../database.ts'
import type { AccountStatus, AccountTable } from '../schema.ts'
import { bind } from '../sync-queries.ts'

/** At most so many repositories are told of one account's change. */
const MOST_CONCERNED = 5_000

export interface Accounts {
  /** An account that a record brings up. */
  known(did: string): boolean
  add(did: string): void
  /** Writes a standing that is newer than the one kept; gives what it was before, or undefined when nothing changed. */
  setStatus(did: string, status: AccountStatus, atUs: number): AccountStatus | undefined
  /** Handle and server are to be looked up again; false when the account is of no interest. */
  unresolve(did: string): boolean
  /** Writes what was looked up; true when the handle changed. */
  resolve(did: string, found: { handle: string | null; pds: string | null }, at: number): boolean
  /** Writes where an account is whose handle could not be looked at: that stays, to be looked up again. Always false. */
  place(did: string, pds: string | null): false
  /** Repositories that name the account or have a pull of it. */
  concerned(did: string): string[]
}

/** Statements over `account`, prepared once. */
export function createAccounts({ db, sqlite }: IndexDatabase): Accounts {
  const find = bind(sqlite, ['did'], (p: { did: string }) => db.selectFrom('account').selectAll().where('did', '=', p.did))
  const insert = bind(sqlite, ['did'], (p: { did: string }) =>
    db
      .insertInto('account')
      .values({ did: p.did, handle: null, pds: null, status: 'active', status_at: 0, resolved_at: null })
      .onConflict(conflict => conflict.doNothing()),
  )
  const status = bind(sqlite, ['did', 'status', 'status_at'], (p: Pick<AccountTable, 'did' | 'status' | 'status_at'>) =>
    db.updateTable('account').set({ status: p.status, status_at: p.status_at }).where('did', '=', p.did),
  )
  const unresolve = bind(sqlite, ['did'], (p: { did: string }) =>
    db.updateTable('account').set({ resolved_at: null }).where('did', '=', p.did),
  )
  const resolve = bind(
    sqlite,
    ['did', 'handle', 'pds', 'resolved_at'],
    ({ did, ...found }: Pick<AccountTable, 'did' | 'handle' | 'pds' | 'resolved_at'>) =>
      db.updateTable('account').set(found).where('did', '=', did),
  )
  const place = bind(sqlite, ['did', 'pds'], (p: Pick<AccountTable, 'did' | 'pds'>) =>
    db.updateTable('account').set({ pds: p.pds, resolved_at: null }).where('did', '=', p.did),
  )
  const unname = bind(sqlite, ['did', 'handle'], (p: { did: string; handle: string }) =>
    db.updateTable('account').set({ handle: null, resolved_at: null }).where('handle', '=', p.handle).where('did', '!=', p.did),
  )
  const named = bind(sqlite, ['did', 'limit'], (p: { did: string; limit: number }) =>
    db.selectFrom('member').select('repo').distinct().where('did', '=', p.did).limit(p.limit),
  )
  const authored = bind(sqlite, ['from', 'to', 'limit'], (p: { from: string; to: string; limit: number }) =>
    db.selectFrom('pull').select('repo').distinct().where('uri', '>', p.from).where('uri', '<', p.to).limit(p.limit),
  )
  return {
    known: did => find.get({ did }) !== undefined,
    add: did => void insert.run({ did }),
    setStatus(did, next, atUs) {
      const row = find.get({ did })
      if (row === undefined || row.status_at >= atUs) return undefined
      status.run({ did, status: next, status_at: atUs })
      return row.status === next ? undefined : row.status
    },
    unresolve: did => unresolve.run({ did }).changes > 0,
    resolve(did, found, at) {
      const row = find.get({ did })
      if (row === undefined) return false
      // A handle changed hands: whoever had it is looked up again.
      if (found.handle !== null) unname.run({ did, handle: found.handle })
      resolve.run({ did, ...found, resolved_at: at })
      return row.handle !== found.handle
    },
    place(did, pds) {
      place.run({ did, pds })
      return false
    },
    concerned(did) {
      const limit = MOST_CONCERNED
      const pulls = `at://${did}/dev.knotless.pull`
      const rows = [...named.all({ did, limit }), ...authored.all({ from: `${pulls}/`, to: `${pulls}0`, limit })]
      return [...new Set(rows.map(row => row.repo))]
    },
  }
}

/** What a status on the wire says: whether records of the account are there to be read. Undefined for one that says nothing about that. */
export function readStatus(active: boolean, status: string | undefined): AccountStatus | undefined {
  if (active) return 'active'
  switch (status) {
    case 'deactivated':
    case 'deleted':
    case 'takendown':
    case 'suspended':
      return status
    // Trouble between servers, not of the account.
    case 'desynchronized':
    case 'throttled':
      return undefined
    default:
      return 'deactivated'
  }
}
