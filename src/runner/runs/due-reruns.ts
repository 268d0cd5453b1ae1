/**
 * Reruns that are to be answered (RUN-6), each once. The runs that a rerun asks for have its key for their TID, so that whether it was answered can be
 * read from the keys of this account's checks, also after a restart.
 */

import { isTid, tidMillis } from '../../queue/tid.ts'
import type { PullView } from '../../queue/view.ts'
import { parseCheckKey, pullCheckPrefix, pushCheckPrefix } from '../../workflows/check-keys.ts'
import type { RunnerContext, RunnerSettings } from '../context.ts'
import type { Ground, Rerun } from '../types.ts'
import { covers, type DuePull, runnable } from './due-pulls.ts'
import type { DuePush } from './due-pushes.ts'
import { readOwnChecks } from './own-checks.ts'

const day = 24 * 3_600_000
/** A rerun older than this is nobody's question any more. In one pass so many are looked at. Of the checks about one thing so many are read. */
const bounds = { ageMs: 7 * day, perPass: 50, read: 1_000, remembered: 5_000 } as const

/** What a rerun comes to now. Runs by its key take nothing over: `asked` is its address. */
export type DueRerun = { asked: string; key: string; only?: readonly string[] | undefined } & (
  | { of: 'pull'; pull: DuePull; queued: boolean }
  | { of: 'push'; push: DuePush }
)

/**
 * Reruns that this runner answers now: of pulls that it runs (`--pulls`, or any where it lands queues), queued or not, and of a branch at its present
 * tip. `isOpen` says of a key that it was looked for and not answered. One about a pull that is closed, a commit that is no tip, or longer ago than a week is passed over. Pure.
 */
export function dueReruns(
  ground: Ground,
  reruns: readonly Rerun[],
  asked: { settings: Pick<RunnerSettings, 'pulls' | 'queue'>; now: number; isOpen: (key: string) => boolean },
): DueRerun[] {
  const isDue = ({ key }: Rerun) => isTid(key) && asked.now - tidMillis(key) < bounds.ageMs && asked.isOpen(key)
  return reruns
    .filter(isDue)
    .slice(0, bounds.perPass)
    .flatMap((rerun): DueRerun[] => {
      const about = rerun.pull === undefined ? pushOf(ground, rerun) : pullOf(ground, rerun.pull, asked.settings)
      const only = rerun.workflow === undefined ? {} : { only: [rerun.workflow] }
      return about === undefined ? [] : [{ asked: rerun.uri, key: rerun.key, ...only, ...about }]
    })
}

function pullOf({ view }: Ground, uri: string, settings: Pick<RunnerSettings, 'pulls' | 'queue'>) {
  const pull: PullView | undefined = view.pulls.get(uri)
  if (pull === undefined || !(settings.queue || covers(view.roles, pull, settings.pulls))) return undefined
  const at = runnable(view, pull)
  return at === undefined ? undefined : { of: 'pull' as const, pull: at, queued: pull.entry !== undefined }
}

/** Only at the tip: a push gets secrets, and what is not on the branch was pushed by nobody. */
function pushOf({ view, refs }: Ground, { branch, commit }: Rerun) {
  const row = refs.refs.find(({ name }) => name === `refs/heads/${branch}`)
  if (branch === undefined || row === undefined || row.commit !== commit) return undefined
  const isDefault = branch === view.record.value.defaultBranch
  return { of: 'push' as const, push: { branch, generation: row.generation, commit, isDefault, lands: false } }
}

export interface Answered {
  /** Looked for, and not answered. */
  isOpen(key: string): boolean
  note(key: string): void
  /** Looks which of these reruns this account has answered, in an earlier process too. Rejects with an UpstreamError where its server does not answer. */
  look(ground: Ground, reruns: readonly Rerun[]): Promise<void>
}

/** Answered reruns as far as they are known. */
export function createAnswered(ctx: Pick<RunnerContext, 'did' | 'reader' | 'now'>): Answered {
  const answered = new Set<string>()
  const looked = new Set<string>()

  function remember(set: Set<string>, key: string): void {
    set.add(key)
    for (const oldest of set) {
      if (set.size <= bounds.remembered) return
      set.delete(oldest)
    }
  }

  return {
    isOpen: key => looked.has(key) && !answered.has(key),
    note: key => remember(answered, key),
    async look(ground, reruns) {
      const unknown = reruns.filter(({ key }) => !looked.has(key) && !answered.has(key) && ctx.now() - tidMillis(key) < bounds.ageMs)
      for (const rerun of unknown.slice(0, bounds.perPass)) {
        const prefix = prefixOf(ground, rerun)
        const { found } = prefix === undefined ? { found: [] } : await readOwnChecks(ctx, { prefix, max: bounds.read })
        for (const { rkey } of found) {
          const tid = parseCheckKey(rkey)?.tid
          if (tid === rerun.key) remember(answered, tid)
        }
        remember(looked, rerun.key)
      }
    },
  }
}

function prefixOf({ repo }: Ground, { pull, branch }: Rerun): string | undefined {
  if (pull !== undefined) return pullCheckPrefix(pull)
  return branch === undefined ? undefined : pushCheckPrefix({ repo, ref: `refs/heads/${branch}` })
}
