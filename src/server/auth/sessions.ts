import { createHash } from 'node:crypto'
import type { Ids } from '../ids.ts'
import type { ServerDb, WebSessionRow } from '../tables.ts'
import { trimUserAgent } from './user-agent.ts'

/** A browser that is logged in. */
export interface WebSession {
  /** What it is called in forms; no secret. */
  name: string
  did: string
  handle?: string
  userAgent: string
  createdAt: number
  usedAt: number
  expiresAt: number
}

/** The web sessions. An id lies in its cookie only; here is its SHA-256. */
export interface Sessions {
  /** Begins one and gives the id for its cookie. */
  begin(account: { did: string; handle?: string }, userAgent: string | undefined): Promise<{ id: string; session: WebSession }>
  /** The session of a cookie; undefined when it has ended or never was. Notes that it was used, once a minute. */
  find(id: string): Promise<WebSession | undefined>
  list(did: string): Promise<WebSession[]>
  /** Ends one session of an account. Gives how many it has left, or undefined when there was no such session. */
  end(did: string, name: string): Promise<number | undefined>
  /** Ends the sessions of an account: all, all but one, or those begun before a time. Gives how many were ended. */
  endAll(did: string, which?: { except?: string; begunBefore?: number }): Promise<number>
  /** Forgets those whose time is over. */
  purge(): Promise<number>
}

const DAY = 24 * 60 * 60_000
const NOTE_USE_AFTER = 60_000

/** Lifetimes: 14 days on loopback, where the grant behind a session ends then as well, 30 days elsewhere. */
export function createSessions(ctx: { db: ServerDb; ids: Ids; now: () => number; loopback: boolean }): Sessions {
  const { db, ids, now } = ctx
  const lifetime = (ctx.loopback ? 14 : 30) * DAY

  async function begin(account: { did: string; handle?: string }, userAgent: string | undefined) {
    const id = ids.secret()
    const at = now()
    const row: WebSessionRow = {
      id_hash: hash(id),
      name: ids.secret().slice(0, 16),
      did: account.did,
      handle: account.handle ?? null,
      user_agent: trimUserAgent(userAgent),
      created_at: at,
      used_at: at,
      expires_at: at + lifetime,
    }
    await db.insertInto('web_session').values(row).execute()
    return { id, session: sessionOf(row) }
  }

  async function find(id: string) {
    const idHash = hash(id)
    const at = now()
    const row = await db.selectFrom('web_session').selectAll().where('id_hash', '=', idHash).executeTakeFirst()
    if (row === undefined || row.expires_at <= at) return undefined
    if (at - row.used_at >= NOTE_USE_AFTER) {
      await db.updateTable('web_session').set({ used_at: at }).where('id_hash', '=', idHash).execute()
      return sessionOf({ ...row, used_at: at })
    }
    return sessionOf(row)
  }

  async function list(did: string) {
    const rows = await db
      .selectFrom('web_session')
      .selectAll()
      .where('did', '=', did)
      .where('expires_at', '>', now())
      .orderBy('used_at', 'desc')
      .limit(100)
      .execute()
    return rows.map(sessionOf)
  }

  async function end(did: string, name: string) {
    const result = await db.deleteFrom('web_session').where('did', '=', did).where('name', '=', name).executeTakeFirst()
    if (result.numDeletedRows === 0n) return undefined
    const left = await db
      .selectFrom('web_session')
      .select(select => select.fn.countAll().as('count'))
      .where('did', '=', did)
      .where('expires_at', '>', now())
      .executeTakeFirst()
    return Number(left?.count ?? 0)
  }

  async function endAll(did: string, which: { except?: string; begunBefore?: number } = {}) {
    let query = db.deleteFrom('web_session').where('did', '=', did)
    if (which.except !== undefined) query = query.where('name', '!=', which.except)
    if (which.begunBefore !== undefined) query = query.where('created_at', '<', which.begunBefore)
    return Number((await query.executeTakeFirst()).numDeletedRows)
  }

  async function purge() {
    const result = await db.deleteFrom('web_session').where('expires_at', '<=', now()).executeTakeFirst()
    return Number(result.numDeletedRows)
  }

  return { begin, find, list, end, endAll, purge }
}

function hash(id: string): Buffer {
  return createHash('sha256').update(id).digest()
}

function sessionOf(row: WebSessionRow): WebSession {
  return {
    name: row.name,
    did: row.did,
    ...(row.handle === null ? {} : { handle: row.handle }),
    userAgent: row.user_agent,
    createdAt: row.created_at,
    usedAt: row.used_at,
    expiresAt: row.expires_at,
  }
}
