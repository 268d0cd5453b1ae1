import type { Selectable } from 'kysely'
import { type AtUri, makeAtUri, parseAtUri, parseDid } from '../../atproto/ids.ts'
import type { IndexDatabase } from '../../indexer/database.ts'
import { auditWords } from '../../queue/words/delegation.ts'
import type { AuditTable, ServerTables } from '../tables.ts'
import type { Audit, AuditEntry, Door } from './types.ts'

/** A line as it is read. Times in milliseconds since 1970. */
export interface AuditLine extends AuditEntry {
  id: number
  at: number
  outcome: AuditTable['outcome']
  /** Of a line that sums refusals of one caller in one hour: how many. */
  more: number
}

/** The audit log, with what its page, its exports and the program around it need. */
export interface KeptAudit extends Audit {
  /** An owner's lines, newest first, at most `limit`, of those before the line numbered `before`. */
  list(owner: string, page: { before?: number | undefined; limit: number }): readonly AuditLine[]
  /** How many lines an owner has, and how many of them are newer than the one numbered `before`. */
  count(owner: string, before?: number): { all: number; newer: number }
  /** Forgets what is older than 400 days. Gives how many lines. */
  purge(): number
}

const HOUR = 60 * 60_000
const DAY = 24 * HOUR
const KEPT = 400 * DAY
const KEPT_IN_FULL = 100
const PURGED_AT_ONCE = 10_000
/** The longest texts of a line, in characters. */
const TEXT = 2_048

/** An append-only log in the database (GWY-6), written in one step with no wait between. */
export function createAudit(ctx: { database: IndexDatabase; now: () => number }): KeptAudit {
  const { database, now } = ctx
  const { sync } = database
  const db = database.db.withTables<ServerTables>()

  function append(entry: AuditEntry, outcome: AuditTable['outcome'], more = 0): number {
    const at = now()
    const { owner, repo, caller, door, from, to } = entry
    const row = {
      ...{ at, owner, repo, caller, door, from, to, outcome, more },
      ref: cut(entry.ref),
      settled_at: outcome === 'begun' ? null : at,
      reason: cut(entry.reason),
      code: entry.code ?? null,
      note: entry.note === undefined ? null : cut(entry.note),
    }
    return Number(sync.run(db.insertInto('audit').values(row)).lastInsertRowid)
  }

  /** A hundred of an hour in full, the rest in one line that counts (GWY-6). */
  function refuse(entry: AuditEntry): void {
    const hour = Math.floor(now() / HOUR) * HOUR
    const refusals = db
      .selectFrom('audit')
      .where('caller', '=', entry.caller)
      .where('repo', '=', entry.repo)
      .where('at', '>=', hour)
      .where('outcome', '=', 'refused')
    const inFull = sync.all(refusals.where('more', '=', 0).select('id').limit(KEPT_IN_FULL))
    if (inFull.length < KEPT_IN_FULL) {
      append(entry, 'refused')
      return
    }
    const summed = sync.first(refusals.where('more', '>', 0).select('id'))
    if (summed === undefined) append({ ...entry, ref: '', from: null, to: null, ...auditWords.summed() }, 'refused', 1)
    else
      sync.run(
        db
          .updateTable('audit')
          .set(row => ({ more: row('more', '+', 1) }))
          .where('id', '=', summed.id),
      )
  }

  const ofOwner = (owner: string) => db.selectFrom('audit').where('owner', '=', owner)
  const counted = (query: ReturnType<typeof ofOwner>) => sync.first(query.select(row => row.fn.countAll<number>().as('n')))?.n ?? 0

  return {
    begin: entries => database.transaction(() => entries.map(entry => append(entry, 'begun'))),
    settle(ids, outcome, more = {}) {
      const settled_at = outcome === 'unknown' ? null : now()
      const words = {
        ...(more.reason === undefined ? {} : { reason: cut(more.reason) }),
        ...(more.code === undefined ? {} : { code: more.code }),
      }
      database.transaction(() => {
        for (const id of ids) {
          const open = db.updateTable('audit').where('id', '=', id).where('outcome', 'in', ['begun', 'unknown'])
          sync.run(open.set({ outcome, settled_at, ...words }))
        }
      })
    },
    refused: entries =>
      database.transaction(() => {
        for (const entry of entries) refuse(entry)
      }),
    open: limit =>
      sync.all(db.selectFrom('audit').selectAll().where('outcome', 'in', ['begun', 'unknown']).orderBy('id').limit(limit)).flatMap(lineOf),
    madeLater({ id, repo, ref, from, to }) {
      const later = db.selectFrom('audit').select('id').where('repo', '=', repo).where('ref', '=', cut(ref)).where('id', '>', id)
      return sync.first(later.where('from', 'is', from).where('to', 'is', to).where('outcome', '!=', 'refused')) !== undefined
    },
    list(owner, { before, limit }) {
      const lines = ofOwner(owner).selectAll().orderBy('id', 'desc').limit(limit)
      return sync.all(before === undefined ? lines : lines.where('id', '<', before)).flatMap(lineOf)
    },
    count(owner, before) {
      return { all: counted(ofOwner(owner)), newer: before === undefined ? 0 : counted(ofOwner(owner).where('id', '>=', before)) }
    },
    purge() {
      const old = db
        .selectFrom('audit')
        .select('id')
        .where('at', '<', now() - KEPT)
        .orderBy('at')
        .limit(PURGED_AT_ONCE)
      return sync.run(db.deleteFrom('audit').where('id', 'in', old)).changes
    },
  }
}

function cut(text: string): string {
  return text.length <= TEXT ? text : `${text.slice(0, TEXT - 1)}…`
}

const doors: ReadonlySet<string> = new Set<Door>(['push', 'merge', 'commit'])

function isDoor(door: string): door is Door {
  return doors.has(door)
}

function lineOf(row: Selectable<AuditTable>): AuditLine[] {
  const owner = parseDid(row.owner)
  const caller = parseDid(row.caller)
  const repo = uriOf(row.repo)
  if (owner === undefined || caller === undefined || repo === undefined || !isDoor(row.door)) return []
  const { id, at, ref, from, to, reason, outcome, more } = row
  const words = { code: row.code ?? undefined, note: row.note ?? undefined }
  return [{ id, at, owner, repo, caller, door: row.door, ref, from, to, reason, outcome, more, ...words }]
}

function uriOf(text: string): AtUri | undefined {
  const address = parseAtUri(text)
  return address && makeAtUri(address.did, address.collection, address.rkey)
}
