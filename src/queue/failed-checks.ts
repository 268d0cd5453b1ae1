/** A workflow that failed, as an ejection or a batch names it. */
import type { QueueRecord } from './facts.ts'

export interface FailedCheck {
  workflow: string
  status: string
  /** The check that holds its log. */
  check: string
  /** Why it gave no verdict (CHK-7). */
  verdict?: string | undefined
}

/** What an ejection says failed (REC-2). It tells how a run ended, and by its kind only why one gave no verdict (FAI-8). */
export function failedChecks({ kind, checks }: { kind?: string | undefined; checks?: QueueRecord['checks'] }): FailedCheck[] {
  const verdict = kind === 'timeout' ? 'timeout' : kind === 'infra' ? 'other' : undefined
  return (checks ?? []).map(({ workflow, status, check }) => ({ workflow, status, check, ...(status === 'error' ? { verdict } : {}) }))
}
