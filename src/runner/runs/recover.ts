/** What an earlier process of this account left (MOV-6), and what it did that still counts: passes (RUN-4, RUN-5) and pulls' heads that ran (RUN-2). */
import { parseAtUri } from '../../atproto/ids.ts'
import type { CheckRecord, Stored } from '../../queue/facts.ts'
import { isGoing } from '../../queue/runs.ts'
import { parseCheckKey } from '../../workflows/check-keys.ts'
import type { RunnerContext } from '../context.ts'
import { restartedRecord } from './check-record.ts'
import { readOwnChecks } from './own-checks.ts'
import type { Passes } from './passes.ts'
import type { Saver } from './saver.ts'

/** Own checks that are read, of all repositories together, and how long one reading serves several repositories. */
const bounds = { read: 20_000, freshMs: 30_000 } as const

export interface Recovery {
  /** Rejects with an UpstreamError where the account's own server does not answer: nothing was changed then, and it can be called again. */
  recover(repo: string): Promise<void>
}

export interface RecoveryDeps {
  ctx: Pick<RunnerContext, 'did' | 'reader' | 'now' | 'log'>
  saver: Saver
  passes: Passes
  /** Addresses of the checks of this process. */
  own: () => ReadonlySet<string>
  ranAt: (pull: string, head: string) => void
}

/** Looks through this account's checks once for all repositories that are taken up together. */
export function createRecovery({ ctx, saver, passes, own, ranAt }: RecoveryDeps): Recovery {
  let last: { at: number; reading: ReturnType<typeof readOwnChecks> } | undefined

  async function read(): Promise<Stored<CheckRecord>[]> {
    if (last === undefined || ctx.now() - last.at > bounds.freshMs)
      last = { at: ctx.now(), reading: readOwnChecks(ctx, { max: bounds.read }) }
    try {
      const { found, whole } = await last.reading
      if (!whole) ctx.log.warn('checks-not-all-read', { read: bounds.read })
      return found
    } catch (error) {
      last = undefined
      throw error
    }
  }

  return {
    async recover(repo) {
      const left: Promise<void>[] = []
      const found = await read()
      const present = own()
      for (const check of found) {
        if (check.value.repo !== repo || present.has(check.uri)) continue
        const at = parseAtUri(check.uri)
        if (at === undefined) continue
        const { value, cid, uri } = check
        passes.note({ rkey: check.rkey, uri, record: value })
        if (didRun(check) && value.pull !== undefined) ranAt(value.pull, value.commit)
        if (!isGoing(value)) continue
        ctx.log.info('check-left', { repo, check: uri, workflow: value.workflow, status: value.status })
        const record = restartedRecord(value, ctx.now())
        left.push(saver.save({ rkey: at.rkey, uri: `at://${at.did}/${at.collection}/${at.rkey}`, record, saved: { cid, record: value } }))
      }
      await Promise.all(left)
    },
  }
}

/** A pull's own run that is or was a run at its head, pre-flights aside; one that a restart ended is to run again. */
function didRun({ rkey, value }: Stored<CheckRecord>): boolean {
  if (parseCheckKey(rkey)?.kind !== 'pull' || value.queue === 'first') return false
  return !isGoing(value) && !(value.status === 'error' && value.verdict === 'restart')
}
