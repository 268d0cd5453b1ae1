import { makeAtUri, parseDid, parseHandle, parseRecordKey } from '../../atproto/ids.ts'
import { didOfHandle, findRepository, type RepositoryRow } from '../../indexer/read.ts'
import type { PullView, RepositoryView } from '../../queue/view.ts'
import type { Names } from '../../queue/words/phrase.ts'
import type { RepoHead } from '../../views/models.ts'
import { namesOf } from '../names.ts'
import type { PageContext } from './context.ts'

/** A repository as a page is about it. */
export interface Located {
  row: RepositoryRow
  view: RepositoryView
  version: number
  names: Names
  head: RepoHead
}

/** The parts of an address that name a repository. */
export interface RepoParams {
  owner: string
  name: string
}

/** Bounds of the parts of an address. */
export const repoParams = {
  type: 'object',
  properties: { owner: { type: 'string', maxLength: 512 }, name: { type: 'string', maxLength: 512 } },
  required: ['owner', 'name'],
} as const

/** An account by what stands for it in an address: its handle, as far as the index knows, or its DID. */
export function accountOf(ctx: Pick<PageContext, 'database'>, text: string): string | undefined {
  const did = parseDid(text)
  if (did !== undefined) return did
  const handle = parseHandle(text)
  return handle === undefined ? undefined : didOfHandle(ctx.database, handle)
}

/** The repository that an address names; undefined when none is known. */
export function locate(ctx: PageContext, { owner, name }: RepoParams): Located | undefined {
  const did = accountOf(ctx, owner)
  const row = did === undefined ? undefined : findRepository(ctx.database, { did, name })
  if (row === undefined) return undefined
  const found = ctx.repositories.viewOf(row.uri)
  return found && located(ctx, row, found)
}

/** A repository and one pull of it, however long ago that was settled; undefined when it has no such pull. */
export function locatePull(
  ctx: PageContext,
  params: RepoParams & { author: string; key: string },
): (Located & { pull: PullView }) | undefined {
  const did = accountOf(ctx, params.owner)
  const row = did === undefined ? undefined : findRepository(ctx.database, { did, name: params.name })
  const author = parseDid(accountOf(ctx, params.author))
  const key = parseRecordKey(params.key)
  if (row === undefined || author === undefined || key === undefined) return undefined
  const uri = makeAtUri(author, 'dev.knotless.pull', key)
  const found = ctx.repositories.viewOfPull(uri)
  const pull = found?.view.pulls.get(uri)
  if (found === undefined || pull === undefined || !isOf(found.view, row.uri)) return undefined
  return { ...located(ctx, row, found), pull }
}

/** A pull by its AT-URI, and the repository that it is of now; undefined when either is not known. */
export function locatePullAt(ctx: PageContext, uri: string): (Located & { pull: PullView }) | undefined {
  const found = ctx.repositories.viewOfPull(uri)
  const pull = found?.view.pulls.get(uri)
  const row = found === undefined ? undefined : findRepository(ctx.database, found.view.record.uri)
  if (found === undefined || pull === undefined || row === undefined) return undefined
  return { ...located(ctx, row, found), pull }
}

/** Whether a view is of the repository at this address, old or new (HON-4). */
function isOf(view: RepositoryView, uri: string): boolean {
  return view.uri === uri || view.record.uri === uri
}

function located(ctx: PageContext, row: RepositoryRow, found: { view: RepositoryView; version: number }): Located {
  const { view, version } = found
  const names = namesOf(ctx.database, view)
  const { defaultBranch } = view.record.value
  const queued = view.branches.get(defaultBranch)?.queue.length ?? 0
  const head = { uri: row.uri, owner: { did: row.did, handle: row.handle }, name: row.name, defaultBranch, queued }
  return { row, view, version, names, head }
}
