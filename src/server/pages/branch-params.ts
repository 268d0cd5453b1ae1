import { repoOf } from '../../queue/admission.ts'
import { feedTitle } from '../../queue/words/feed.ts'
import { join, plain } from '../../queue/words/phrase.ts'
import { branchNotFound } from '../../queue/words/refusals.ts'
import type { Frame, RepoHead } from '../../views/models.ts'
import { feedPathIn, repositoryName, repositoryPath } from '../../views/paths.ts'
import type { Context } from '../context.ts'
import type { Located, RepoParams } from './locate.ts'

/** The parts of an address that name a branch, which may hold slashes. */
export type BranchParams = RepoParams & { '*': string }

/** The feed of a branch, for the head of the pages that are about it. */
export function feedLink(head: RepoHead, branch: string): NonNullable<Frame['feed']> {
  const title = feedTitle(branch, repositoryName(head.owner, head.name))
  return { href: feedPathIn(repositoryPath(head.owner, head.name), branch), title }
}

/** That a repository has no such branch, and which it has. */
export function noBranch(ctx: Context, { view, names }: Located, branch: string): string {
  const { message, advice } = branchNotFound(repoOf(view), branch, [...view.branches.keys()])
  return plain(join(message, advice), ctx.now(), names)
}
