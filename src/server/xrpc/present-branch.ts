import { lexParse } from '@atproto/lex-json'
import { recordAt } from '../../indexer/read.ts'
import { dev } from '../../lexicons/index.ts'
import type { RepositoryView } from '../../queue/view.ts'
import type { Context } from '../context.ts'

/** Tip and generation of a branch that a view does not list, since no pull is onto it; undefined for one that it lists, or that is not there. */
export function presentBranch(ctx: Context, view: RepositoryView, branch = view.record.value.defaultBranch) {
  if (view.branches.has(branch)) return undefined
  const record = recordAt(ctx.database, view.uri.replace('/dev.knotless.repo/', '/dev.knotless.refs/'))
  const refs = record && dev.knotless.refs.$ifMatches(lexParse(record.json))
  const found = refs?.refs.find(ref => ref.name === `refs/heads/${branch}`)
  return found === undefined ? undefined : { tip: found.commit, generation: found.generation }
}

/** Whether a repository has a branch of this name, with or without pulls onto it. */
export function hasBranch(ctx: Context, view: RepositoryView, branch: string): boolean {
  return view.branches.has(branch) || presentBranch(ctx, view, branch) !== undefined
}
