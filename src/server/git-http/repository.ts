import { type AtUri, type Did, parseAtUri, type RecordKey, repoUri } from '../../atproto/ids.ts'
import { findRepository } from '../../indexer/read.ts'
import type { RepositoryView } from '../../queue/view.ts'
import type { Names } from '../../queue/words/phrase.ts'
import type { Context } from '../context.ts'
import { namesOf } from '../names.ts'
import { accountOf, type RepoParams } from '../pages/locate.ts'
import { words } from './words.ts'

/** A repository as git is served it: where its git state is recorded, and the branch that a clone checks out. */
export interface GitRepository {
  uri: AtUri
  owner: Did
  name: RecordKey
  defaultBranch: string
  view: RepositoryView
  names: Names
}

/**
 * The repository of a clone address, whose name may end in `.git`; after a transfer the one that goes on (HON-4). `says`: that it is not here, in
 * words. A repository that is itself called `x.git` is found where there is no `x`.
 */
export function findGitRepository(
  ctx: Context,
  { owner, name }: RepoParams,
): { ok: true; repository: GitRepository } | { ok: false; says: string } {
  const bare = name.replace(/\.git$/, '')
  const did = accountOf(ctx, owner)
  const row =
    did === undefined ? undefined : (findRepository(ctx.database, { did, name: bare }) ?? findRepository(ctx.database, { did, name }))
  const view = row && ctx.repositories.viewOf(row.uri)?.view
  const at = view && parseAtUri(view.record.uri)
  if (view === undefined || at === undefined) return { ok: false, says: words.noRepository(owner, bare) }
  if (findRepository(ctx.database, view.record.uri)?.ownerStatus !== 'active') return { ok: false, says: words.ownerGone() }
  const uri = repoUri(at.did, at.rkey)
  const { defaultBranch } = view.record.value
  return { ok: true, repository: { uri, owner: at.did, name: at.rkey, defaultBranch, view, names: namesOf(ctx.database) } }
}
