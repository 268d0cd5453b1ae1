import type { Context } from '../../src/server/context.ts'
import { madeUp, type Orchard, plantOrchard } from './orchard.ts'

/** The commit that main of an orchard is at. */
export const base = commitOf(1)

/** An orchard of its own, whose owner is alice.test and whose runner is rigby.test, and batches in it by hand. */
export interface BatchedOrchard {
  name: string
  orchard: Orchard
  /** A commit that no other orchard has. */
  commit(n: number): string
  /** The head of a pull, by its number. */
  head(pull: number): string
  /** Members of a batch by the numbers of their pulls; its tip is the commit of the last. */
  membersOf(pulls: readonly number[], from: number): { pull: string; head: string; commit: string }[]
  /** Writes a check by the runner: a passed one on main unless said otherwise. Gives its address. */
  check(fields: Record<string, unknown>, key?: string): Promise<string>
}

/** Plants the `number`th orchard of a server. */
export async function plantBatched(ctx: Context, number: number, count = 4): Promise<BatchedOrchard> {
  const name = `orchard-${number}`
  const handles = { [madeUp.owner]: 'alice.test', [madeUp.runner]: 'rigby.test' }
  const orchard = await plantOrchard(ctx, { count, name, handles })
  const commit = (n: number) => `${number}${n}`.padStart(40, 'c0ffee')
  const head = (pull: number) => commitOf(pull + 2)
  let keys = 0
  return {
    name,
    orchard,
    commit,
    head,
    membersOf: (pulls, from) => pulls.map((pull, at) => ({ pull: orchard.pulls[pull] ?? '', head: head(pull), commit: commit(from + at) })),
    async check(fields, key = `queue:${number}:${++keys}`) {
      const record = {
        repo: orchard.repo,
        workflow: 'test',
        status: 'success',
        ref: 'refs/heads/main',
        generation: 1,
        baseCommit: base,
        of: 1,
        trusted: true,
        ...fields,
      }
      // What is undefined is not in a record.
      const plain: Record<string, never> = JSON.parse(JSON.stringify(record))
      return await orchard.write(madeUp.runner, 'dev.knotless.check', key, plain)
    },
  }
}

/** A time before now, as records say it. */
export function minutesAgo(minutes: number): string {
  return new Date(Date.now() - minutes * 60_000).toISOString()
}

function commitOf(n: number): string {
  return n.toString(16).padStart(40, '0')
}
