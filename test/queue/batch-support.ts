/** Batches for tests: checks of a runner over a stack of pulls. */
import type { CheckRecord, Stored } from '../../src/queue/facts.ts'
import type { BatchView } from '../../src/queue/view.ts'
import { type AtUri, commit, type Did, type History, MINUTE, rigby, TIP, type Written } from './support.ts'

export interface Stack {
  /** The batch's tip; the last member's commit. */
  tip: string
  base?: string
  pulls: readonly AtUri[]
  /** Status of each workflow's run, by name. */
  runs: Record<string, CheckRecord['status']>
  by?: Did
  of?: number
}

/** The commit of the nth member (from 1) of a stack with this tip; the last one's is the tip. */
export function memberCommit(stack: Stack, n: number): string {
  return n === stack.pulls.length ? stack.tip : commit(Number.parseInt(stack.tip, 16) * 100 + n)
}

/** Files the checks of a batch, all at one time. */
export function fileBatch(
  history: History,
  stack: Stack,
  more: Partial<Omit<CheckRecord, 'repo' | 'createdAt'>> & Written = {},
): Stored<CheckRecord>[] {
  const batch = stack.pulls.map((pull, i) => ({ pull, head: commit(500 + i), commit: memberCommit(stack, i + 1) }))
  const at = more.at ?? history.tick()
  const names = Object.keys(stack.runs)
  return names.map((workflow, i) =>
    history.check(stack.by ?? rigby, {
      workflow,
      status: stack.runs[workflow] ?? 'queued',
      commit: stack.tip,
      baseCommit: stack.base ?? TIP,
      batch,
      of: stack.of ?? names.length,
      trusted: true,
      isolated: true,
      ...more,
      at: at + i,
    }),
  )
}

/** The states of the batches in flight, by the last letters of their tips. */
export function flight(history: History, now = history.now + MINUTE): Record<string, BatchView['state']> {
  const batches = history.view(now).branches.get('main')?.batches ?? []
  return Object.fromEntries(batches.map(batch => [batch.tip.slice(-3), batch.state]))
}

/** Merged states of all members, as a lander writes them after its push. */
export function land(history: History, stack: Stack): void {
  const at = history.tick()
  for (const [i, pull] of stack.pulls.entries()) {
    history.merged(stack.by ?? rigby, pull, { commit: memberCommit(stack, i + 1), batch: stack.tip, at: at + i })
  }
}
