/** Ejections as records (REC-2, REC-7, REC-10): once for each queueing, and never of what is not queued any more. */

import type { LexMap } from '@atproto/lex-data'
import { LRUCache } from 'lru-cache'
import { makeAtUri, parseTid, type Tid } from '../../atproto/ids.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import { keysToExceed } from '../../queue/keys-to-exceed.ts'
import type { PullView } from '../../queue/view.ts'
import { ejectionWords } from '../../queue/words/ejection.ts'
import { plain } from '../../queue/words/phrase.ts'
import type { RunnerContext } from '../context.ts'
import type { Action } from '../planner/types.ts'
import type { Ejector, Ground, Reads } from '../types.ts'
import { keyAbove, madeAt } from './keys.ts'
import { words } from './words.ts'

export type EjectorContext = Pick<RunnerContext, 'did' | 'writer' | 'now' | 'nextKey' | 'names' | 'log'>

type Ejection = Action & { do: 'eject' }

const collection = 'dev.knotless.queue'
/** The most bytes of a reason, and checks. */
const REASON_BYTES = 10_000
const MOST_CHECKS = 100
/** Records that are kept until it is known that they are written. */
const KEPT = 10_000

interface Kept {
  rkey: Tid
  record: LexMap
}

export function createEjector(ctx: EjectorContext, deps: { reads: Pick<Reads, 'again'> }): Ejector {
  /** What was sent for a queueing and whose answer was lost: it is sent again as it was. By the queueing's record. */
  const unsure = new LRUCache<string, Kept>({ max: KEPT })

  /** The record to write; kept over tries, unless records past its key were read meanwhile. */
  function recordOf(ground: Ground, ejection: Ejection): Kept | undefined {
    const above = keysToExceed(ground.view, ejection.pull)
    const kept = unsure.get(ejection.entry)
    if (kept !== undefined && kept.rkey > (above ?? '')) return kept
    const rkey = parseTid(keyAbove(ctx, above))
    return rkey === undefined ? undefined : { rkey, record: ejectedRecord(ctx, ground, ejection, rkey) }
  }

  return {
    async eject(ground, ejection) {
      let now: Ground
      try {
        now = (await deps.reads.again(ground, [ejection.pull])).ground
      } catch (error) {
        if (error instanceof UpstreamError) return { ok: false, said: words.unread(error.message) }
        throw error
      }
      const pull = now.view.pulls.get(ejection.pull)
      const done = ejectedBefore(pull, ejection.entry, ctx.did)
      if (done !== undefined) return { ok: true, record: done }
      if ((pull?.entry ?? pull?.heldEntry)?.key !== ejection.key) return { ok: false, said: words.gone }
      const made = recordOf(now, ejection)
      if (made === undefined) return { ok: false, said: words.noKey }
      unsure.set(ejection.entry, made)
      const written = await ctx.writer.createRecord({ collection, ...made })
      if (!written.ok) {
        if (written.settled) unsure.delete(ejection.entry)
        return { ok: false, said: written.message }
      }
      unsure.delete(ejection.entry)
      ctx.log.info(words.ejected, { repo: now.repo, pull: ejection.pull, kind: ejection.kind })
      return { ok: true, record: makeAtUri(ctx.did, collection, made.rkey) }
    },
  }
}

/** The ejection by this account that ended this very queueing, if there is one. */
function ejectedBefore(pull: PullView | undefined, entry: string, did: string): string | undefined {
  const found = pull?.history.findLast(
    ({ did: writer, value }) => writer === did && value.state === 'ejected' && 'ends' in value && value.ends === entry,
  )
  return found?.uri
}

function ejectedRecord(ctx: EjectorContext, ground: Ground, ejection: Ejection, rkey: Tid): LexMap {
  const { reason, says } = ejectionWords(ejection.why)
  const [headline, sentence] = [reason, says].map(phrase => plain(phrase, ctx.now(), ctx.names).trim())
  const checks = ejection.checks.slice(0, MOST_CHECKS).map(({ workflow, status, check }) => ({ workflow, status, check }))
  return {
    $type: collection,
    repo: ground.repo,
    subject: ejection.pull,
    state: 'ejected',
    ends: ejection.entry,
    reason: cut(sentence === '' ? `${headline}.` : `${headline}. ${sentence}`),
    kind: ejection.kind,
    ...(ejection.head === undefined ? {} : { commit: ejection.head }),
    ...(checks.length === 0 ? {} : { checks }),
    createdAt: madeAt(rkey),
  }
}

/** Cut at whole characters, within the bytes that a reason may have. */
function cut(text: string): string {
  if (Buffer.byteLength(text) <= REASON_BYTES) return text
  return `${Buffer.from(text)
    .subarray(0, REASON_BYTES - 4)
    .toString('utf8')
    .replace(/\uFFFD+$/, '')}…`
}
