/** One run, from its slot to its end. */
import type { AtUri } from '../../atproto/ids.ts'
import { checkWords } from '../../queue/words/check.ts'
import type { RunnerContext } from '../context.ts'
import type { Executor, JobEnd } from '../types.ts'
import { endedRecord, startedRecord } from './check-record.ts'
import type { Counter } from './counts.ts'
import { jobOf, secretsMissing } from './job.ts'
import { createLive, type Live } from './live.ts'
import { createRunLog, type RunLog } from './log.ts'
import { takenByAnother } from './others.ts'
import type { Passes } from './passes.ts'
import type { Saver } from './saver.ts'
import type { Run } from './types.ts'

/** The longest that a run's end waits for its check before it rings (CHK-13). */
const ringMs = 5_000

export interface PerformDeps {
  ctx: RunnerContext
  executor: Executor
  ring: (repo: AtUri, why: string) => void
  live?: ((check: string, offset: number, text: string, repo: AtUri) => void) | undefined
  secrets: (repo: AtUri) => Readonly<Record<string, string>>
  saver: Saver
  passes: Passes
  counter: Counter
  pause: (ms: number, signal: AbortSignal) => Promise<void>
  stopping: () => boolean
}

/** Makes a run that has its slot. Settled when the slot is free again; its check may be on its way still. Never rejects. */
export async function perform(deps: PerformDeps, run: Run): Promise<void> {
  const { ctx, saver } = deps
  if (await leftToAnother(deps, run)) {
    if (run.stage === 'waiting') {
      leave(run)
      await saver.remove(run)
      deps.ring(run.group.repo, 'left-to-another-runner')
    }
    return
  }
  const { workflow } = run
  if (run.stage !== 'waiting' || deps.stopping() || workflow === undefined) return
  run.stage = 'running'
  run.record = startedRecord(run.record, ctx.now())
  void saver.save(run)
  const log = createRunLog()
  const live = deps.live && createLive((offset, text) => deps.live?.(run.uri, offset, text, run.group.repo))
  const end = await executed(deps, run, log, live)
  live?.end()
  await ended(deps, run, end, log)
}

/** PRE-4: of pre-flights alone, and only while nothing says that they run. */
async function leftToAnother(deps: PerformDeps, run: Run): Promise<boolean> {
  const { group, record } = run
  const { subject } = group
  if (subject.of !== 'pull' || record.queue !== 'first' || group.others.length === 0) return false
  return takenByAnother(deps.ctx, group.others, { repo: group.repo, subject, workflow: record.workflow })
}

function leave(run: Run): void {
  run.stage = 'gone'
  run.group.runs = run.group.runs.filter(other => other !== run)
}

async function executed(deps: PerformDeps, run: Run, log: RunLog, live: Live | undefined): Promise<JobEnd> {
  const { ctx, counter } = deps
  const { group, workflow } = run
  if (workflow === undefined) return { end: 'error', verdict: 'other', summary: '' }
  const onOutput = (bytes: Uint8Array) => {
    log.add(bytes)
    live?.add(bytes)
  }
  const secrets = deps.secrets(group.repo)
  for (const name of secretsMissing(group.subject, workflow, secrets)) onOutput(Buffer.from(`${checkWords.secretMissing(name)}\n`))
  const { repo, subject, trusted, gitDir } = group
  const { timeoutMs } = ctx.settings
  const job = jobOf({ id: ctx.nextKey(), repo, subject, workflow, trusted, gitDir, class: group.class ?? 'pull', timeoutMs, secrets })
  counter.began()
  try {
    return await deps.executor.run({ ...job, onOutput, signal: run.abort.signal })
  } catch (error) {
    ctx.log.error('executor-broke', { check: run.uri, error: error instanceof Error ? error.name : 'unknown' })
    return { end: 'error', verdict: 'executor-lost', summary: checkWords.executorLost() }
  } finally {
    counter.left()
  }
}

/** CHK-8: what comes after a cancel changes nothing. The planner sees the end at once; its door rings when the check is written, or soon. */
async function ended(deps: PerformDeps, run: Run, end: JobEnd, log: RunLog): Promise<void> {
  const { ctx, counter, passes, saver } = deps
  const { group } = run
  let packed = run.stage === 'running' ? await log.packed() : undefined
  if (run.stage !== 'running') {
    log.line(endWords(run))
    packed = await log.packed()
  }
  if (run.stage === 'running') {
    run.stage = 'ended'
    run.record = endedRecord(run.record, end, ctx.now())
    passes.note(run)
    counter.ended(end.end === 'error' && end.verdict !== undefined ? `error-${end.verdict}` : end.end)
  }
  const report = end.end === 'cancelled' ? undefined : end.report
  if (packed !== undefined || report !== undefined) run.evidence = { logBytes: 0, ...packed, report }
  const { workflow, status, summary } = run.record
  ctx.log.info('run-ended', { repo: group.repo, branch: group.subject.branch, tip: run.record.commit, workflow, status, summary })
  const over = new AbortController()
  void Promise.race([saver.save(run), deps.pause(ringMs, over.signal)]).then(() => {
    over.abort()
    deps.ring(group.repo, 'run-ended')
  })
}

/** What the log of a run that was ended from outside says last. */
function endWords({ record }: Run): string {
  if (record.status !== 'cancelled') return record.summary ?? checkWords.cancelled()
  if (record.batch !== undefined) return checkWords.dropped()
  return record.cause === undefined ? checkWords.cancelled() : `${checkWords.cancelled()}: ${record.cause}`
}
