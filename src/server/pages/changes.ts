import { LRUCache } from 'lru-cache'
import type { Mirrors } from '../../git/mirror.ts'
import { commitsOf, diffOf } from '../../git/pull.ts'
import type { ChangesModel } from '../../views/models.ts'

/** What lies between a branch and a head. */
export interface ChangesQuestion {
  target: string
  tip: string | undefined
  source: string
  head: string | undefined
}

/** Commits and diffs of pulls, by what they lie between. */
export interface Changes {
  of(question: ChangesQuestion): Promise<ChangesModel>
}

const MOST_COMMITS = 100
const KEPT = 100

const unread: ChangesModel = { ok: false, says: 'Its commits have not been read yet.' }

/** Reads from the mirrors and keeps what was read last: commits never change. */
export function createChanges(mirrors: Mirrors): Changes {
  const kept = new LRUCache<string, ChangesModel>({ max: KEPT })
  return {
    async of({ target, tip, source, head }) {
      if (tip === undefined || head === undefined) return unread
      const key = `${target} ${tip} ${source} ${head}`
      const known = kept.get(key)
      if (known !== undefined) return known
      const between = { target: await mirrors.of(target), tip, source: await mirrors.of(source), head }
      const [commits, diff] = await Promise.all([commitsOf({ ...between, limit: MOST_COMMITS }), diffOf(between)])
      if (!commits.ok || !diff.ok) return unread
      const model: ChangesModel = {
        ok: true,
        commits: commits.commits,
        moreCommits: commits.more,
        files: diff.files,
        totals: diff.totals,
      }
      kept.set(key, model)
      return model
    },
  }
}
