import { sql } from 'kysely'
import type { IndexDatabase } from '../database.ts'
import type { AccountStatus } from '../schema.ts'
import { oneOf } from './json-list.ts'

/** A repository as lists and addresses need it. */
export interface RepositoryRow {
  uri: string
  did: string
  name: string
  defaultBranch: string
  /** The owner's handle, when it points back to the account. */
  handle?: string
  /** Whether the owner's account stands. */
  ownerStatus: AccountStatus
  /** Where it moved, when both records say so. */
  movedTo?: string
  version: number
}

/** Which repositories: `q` as `listRepositories` says; of one `owner`; those that `member` owns or collaborates on (DIDs). */
export interface RepositoryFilter {
  q?: string
  owner?: string
  member?: string
}

export interface RepositoryPage {
  repositories: RepositoryRow[]
  cursor?: string
}

function base(index: IndexDatabase) {
  return index.db
    .selectFrom('repo')
    .leftJoin('account', 'account.did', 'repo.did')
    .leftJoin('repo_version', 'repo_version.repo', 'repo.uri')
    .select([
      'repo.uri',
      'repo.did',
      'repo.name',
      'repo.default_branch',
      'repo.moved_to',
      'account.handle',
      'account.status',
      'repo_version.version',
    ])
}

type Row = ReturnType<ReturnType<typeof base>['execute']> extends Promise<(infer R)[]> ? R : never

/** The repository at an address, or of an owner by its name; undefined when none is known. Owners that are gone are told by `ownerStatus`. */
export function findRepository(index: IndexDatabase, where: string | { did: string; name: string }): RepositoryRow | undefined {
  const query = base(index)
  const found =
    typeof where === 'string'
      ? query.where('repo.uri', '=', where)
      : query.where('repo.did', '=', where.did).where('repo.name', '=', where.name)
  const row = index.sync.first(found)
  return row === undefined ? undefined : read(row)
}

/**
 * Repositories by name, then address: those whose name, owner's handle, or both as `handle/name`, contain `q`, of one `owner` (a DID) when given.
 * Those that moved away and those whose owner is gone are left out. `limit` is at most 100.
 */
export function listRepositories(
  index: IndexDatabase,
  options: RepositoryFilter & { cursor?: string; limit?: number } = {},
): RepositoryPage {
  const { cursor } = options
  const limit = Math.min(100, Math.max(1, options.limit ?? 50))
  const after = cursor === undefined ? undefined : readCursor(cursor)
  let query = chosen(index, options)
    .orderBy('repo.name')
    .orderBy('repo.uri')
    .limit(limit + 1)
  if (after !== undefined) query = query.where(sql<boolean>`(repo.name, repo.uri) > (${after.name}, ${after.uri})`)
  const rows = index.sync.all(query)
  const page = rows.slice(0, limit)
  const last = rows.length > limit ? page.at(-1) : undefined
  return { repositories: page.map(read), ...(last === undefined ? {} : { cursor: writeCursor(last) }) }
}

/** How many repositories `listRepositories` would list in all. */
export function countRepositories(index: IndexDatabase, filter: RepositoryFilter = {}): number {
  const counted = chosen(index, filter)
    .clearSelect()
    .select(eb => eb.fn.countAll<number>().as('count'))
  return index.sync.first(counted)?.count ?? 0
}

function chosen(index: IndexDatabase, { q = '', owner, member }: RepositoryFilter) {
  let query = base(index)
    .where('repo.moved_to', 'is', null)
    .where(eb => eb.or([eb('account.status', 'is', null), eb('account.status', '=', 'active')]))
  if (owner !== undefined) query = query.where('repo.did', '=', owner)
  if (member !== undefined) {
    const theirs = index.db.selectFrom('member').select('repo').where('did', '=', member).where('role', 'in', ['owner', 'collaborator'])
    query = query.where('repo.uri', 'in', theirs)
  }
  const words = q.trim().slice(0, 200)
  if (words === '') return query
  const pattern = `%${words.replace(/[\\%_]/g, '\\$&')}%`
  return query.where(
    sql<boolean>`(repo.name like ${pattern} escape '\\' or (coalesce(account.handle, '') || '/' || repo.name) like ${pattern} escape '\\')`,
  )
}

/** The handles of accounts that have one which points back to them. */
export function handlesOf(index: IndexDatabase, dids: Iterable<string>): Map<string, string> {
  const rows = index.sync.all(
    index.db.selectFrom('account').select(['did', 'handle']).where('did', 'in', oneOf(dids)).where('handle', 'is not', null),
  )
  return new Map(rows.flatMap(({ did, handle }) => (handle === null ? [] : [[did, handle] as const])))
}

/** Accounts of this handle, as far as the index knows. */
export function didOfHandle(index: IndexDatabase, handle: string): string | undefined {
  return index.sync.first(index.db.selectFrom('account').select('did').where('handle', '=', handle.toLowerCase()))?.did
}

function read(row: Row): RepositoryRow {
  return {
    uri: row.uri,
    did: row.did,
    name: row.name,
    defaultBranch: row.default_branch,
    ownerStatus: row.status ?? 'active',
    version: row.version ?? 0,
    ...(row.handle === null ? {} : { handle: row.handle }),
    ...(row.moved_to === null ? {} : { movedTo: row.moved_to }),
  }
}

function writeCursor(row: { name: string; uri: string }): string {
  return Buffer.from(JSON.stringify([row.name, row.uri])).toString('base64url')
}

/** What a cursor says; one that is none reads as the beginning. */
function readCursor(cursor: string): { name: string; uri: string } | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor.slice(0, 2_000), 'base64url').toString('utf8'))
    if (!Array.isArray(parts)) return undefined
    const [name, uri]: unknown[] = parts
    return typeof name === 'string' && typeof uri === 'string' ? { name, uri } : undefined
  } catch {
    return undefined
  }
}
