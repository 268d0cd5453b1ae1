import { emptyTree } from '../../git/bounds.ts'
import type { RunnerContext } from '../context.ts'
import type { Executor } from '../types.ts'
import { jobOf } from './job.ts'
import type { Run } from './types.ts'

/** The longest that copying a cache may take, in milliseconds. */
const COPY_MS = 10 * 60_000

/**
 * RUN-4: the push that lands a batch takes over its cache layers with its results: what trusted runs share becomes what pushes to the default branch
 * promoted. Of a run that was not taken over, or keeps no cache, nothing happens. Never rejects: a cache that is not copied costs time, no landing.
 */
export async function takeCache({ ctx, executor }: { ctx: RunnerContext; executor: Executor }, run: Run): Promise<void> {
  const { group, workflow, record } = run
  const { subject, repo, gitDir } = group
  if (record.reusedFrom === undefined || workflow === undefined || workflow.cache.length === 0) return
  if (subject.of !== 'push' || !subject.isDefault || executor.kind === 'host') return
  const bare = { ...workflow, steps: [{ run: ':' }], report: undefined, secrets: [], network: false, retries: 0 }
  const asked = {
    id: ctx.nextKey(),
    repo,
    subject,
    workflow: bare,
    trusted: true,
    gitDir,
    class: 'pull' as const,
    timeoutMs: COPY_MS,
    secrets: {},
  }
  const job = jobOf(asked)
  const cache = { ...job.cache, use: 'take' as const }
  const { signal } = new AbortController()
  const end = await executor
    .run({ ...job, timeoutMs: COPY_MS, source: { gitDir, commit: emptyTree }, cache, onOutput: () => {}, signal })
    .catch(() => undefined)
  if (end?.end !== 'success') ctx.log.warn('a cache was not taken over', { repo, workflow: workflow.name })
}
