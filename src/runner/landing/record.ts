/** After the push: states, closings and the intent's end, in one call (LND-5, LND-6, LND-8). */
import { setTimeout as sleep } from 'node:timers/promises'
import { asLex } from '../../atproto/as-lex.ts'
import type { AtUri } from '../../atproto/ids.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import type { Write } from '../../atproto/writer.ts'
import { gather } from '../../indexer/sources/gather.ts'
import type { RunnerContext } from '../context.ts'
import type { Book } from './book.ts'
import { stateCollection, statesOf } from './intent.ts'
import { type Intent, landerCollection, landerKey, readLander, withIntent } from './lander-record.ts'
import { words } from './words.ts'

export type RecordContext = Pick<RunnerContext, 'did' | 'reader' | 'writer' | 'now'>

const TRIES = 10
const AT_ONCE = 8

/**
 * Writes what an intent asks for and is not there yet, and in the same call takes the intent out of the lander's record, or puts `next` in its place.
 * The call swaps with the account's commit, so that one that was held up changes nothing that was written since. States that are there already
 * are left; nothing is written twice however often this is called. `skip`: subjects of which somebody else has written it.
 */
export async function recordLanding(
  ctx: RecordContext,
  book: Book,
  asked: { repo: AtUri; intent: Intent; next?: Intent | undefined; skip?: ReadonlySet<string>; fresh: boolean },
): Promise<{ ok: true } | { ok: false; said: string }> {
  const { repo, intent, next, skip } = asked
  const states = statesOf(repo, intent).filter(({ record }) => skip?.has(String(record.subject)) !== true)
  return await book.alone(repo, async wrote => {
    try {
      let said: string = words.swapBusy
      for (let tried = 0; tried < TRIES; tried++) {
        if (tried > 0) await sleep(Math.min(1000, 20 * 2 ** tried) * (0.5 + Math.random()))
        const commit = await ctx.reader.getLatestCommit(ctx.did)
        const found = await readLander(ctx.reader, ctx.did, repo, ctx.now())
        const creates = asked.fresh && tried === 0 ? states : await missingOf(ctx, states)
        const value = found.record?.value.intent?.tip === intent.tip ? withIntent(found.record.value, next) : undefined
        if (creates.length === 0 && value === undefined) return { ok: true }
        const update: Write[] =
          value === undefined ? [] : [{ action: 'update', collection: landerCollection, rkey: landerKey(repo), record: asLex(value) }]
        const done = await ctx.writer.applyWrites({
          writes: [...creates, ...update],
          ...(commit === undefined ? {} : { swapCommit: commit.cid }),
        })
        if (done.ok) {
          const cid = done.cids.at(-1)
          if (value !== undefined && cid !== undefined) wrote(value, cid)
          return { ok: true }
        }
        said = done.message
        if (done.code !== 'swap-lost' && done.code !== 'key-taken') return { ok: false, said }
      }
      return { ok: false, said }
    } catch (error) {
      if (error instanceof UpstreamError) return { ok: false, said: error.message }
      throw error
    }
  })
}

/** Those of the states whose keys are free. */
async function missingOf<T extends Write>(ctx: RecordContext, states: readonly T[]): Promise<T[]> {
  const found = await gather(states, AT_ONCE, async ({ rkey }) => await ctx.reader.getRecord(ctx.did, stateCollection, rkey))
  return states.filter((_, at) => found[at] === undefined)
}
