import { runSummaries } from '../../queue/words/run.ts'
import type { JobEnd } from '../types.ts'
import type { RunLimits } from './limits.ts'
import type { Progress } from './transcript.ts'

/** Why a run was ended from outside, the first cause only. */
export type Stop = 'cancelled' | 'timeout' | 'output' | 'files' | 'disk' | 'lost'

/**
 * How a run ended. `code` is the script's own exit code, null when it was ended by a signal or nobody knows. An end from outside counts before
 * any code; a time-out, a lost engine and a full disk are no verdict (CHK-7).
 */
export function endOf(run: {
  stop?: Stop | undefined
  code: number | null
  progress: Progress
  /** In milliseconds. */
  took: number
  timeoutMs: number
  limits: RunLimits
  /** The engine says that it was ended for want of memory. */
  outOfMemory?: boolean
  report?: Uint8Array | undefined
}): JobEnd {
  const { progress, took, limits, report } = run
  const { step, ended, retried } = progress
  switch (run.stop) {
    case 'cancelled':
      return { end: 'cancelled' }
    case 'timeout':
      return { end: 'error', verdict: 'timeout', summary: runSummaries.timedOut(run.timeoutMs, step), report }
    case 'disk':
      return { end: 'error', verdict: 'disk', summary: runSummaries.diskFull() }
    case 'lost':
      return { end: 'error', verdict: 'executor-lost', summary: runSummaries.engineLost() }
    case 'output':
      return { end: 'failure', summary: runSummaries.tooMuchOutput(limits.output.most, step), report }
    case 'files':
      return { end: 'failure', summary: runSummaries.tooManyFiles(limits.diskBytes, step) }
    case undefined:
  }
  const wholly = ended !== undefined && step !== undefined && ended.step === step.step
  if (run.code === 0 && wholly && ended.code === 0 && step.step === step.of) {
    const names = retried.map(({ command }) => command)
    return { end: 'success', summary: runSummaries.passed(took, retried), report, ...(names.length > 0 ? { retried: names } : {}) }
  }
  if (run.outOfMemory === true || lackedMemory(run, wholly)) {
    return { end: 'failure', summary: runSummaries.outOfMemory(took, step, limits.memoryBytes), report }
  }
  if ((ended?.processes ?? 0) > 0) return { end: 'failure', summary: runSummaries.tooManyProcesses(took, step, limits.processes), report }
  if (!wholly || ended.code === 0) return { end: 'failure', summary: runSummaries.broken(took, step), report }
  return { end: 'failure', summary: runSummaries.failed(took, step, ended.code), report }
}

/** How a run ends whose files could not be put in place: no verdict (CHK-7). */
export function noTree(full: boolean) {
  if (full) return { end: 'error', verdict: 'disk', summary: runSummaries.diskFull() } as const
  return { end: 'error', verdict: 'other', summary: runSummaries.noTree() } as const
}

/** Where nothing counts it: a process that was killed, where nobody else does that, was by the kernel. */
function lackedMemory(
  { code, progress: { ended }, limits }: { code: number | null; progress: Progress; limits: RunLimits },
  wholly: boolean,
): boolean {
  if (wholly && ended?.memory !== undefined) return ended.memory > 0
  return limits.enforced && (wholly ? ended?.code : code) === 137
}
