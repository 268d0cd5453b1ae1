/** What the figures of long spans are made of, remembered: made for all branches at once, and cut to what is asked in memory. */
import { LRUCache } from 'lru-cache'
import { DAY, type FigureFacts, spanStart } from '../../queue/stats/figures.ts'
import type { IndexDatabase } from '../database.ts'
import { versionOf } from '../read/facts.ts'
import { figureFactsOf } from './figures.ts'

interface Entry {
  version: number
  facts: FigureFacts
  madeAt: number
  tookMs: number
}

/** Spans that are made, in days; what is asked gets the least that holds it. The last is as far back as anything is kept. */
const SPANS = [7, 30, 90, 200, 400]
/** Events, batches and runs kept in all of them together. */
const MOST_KEPT = 300_000
/** What took long to make is good for so many times as long, whatever changed since: a busy repository is not read anew with each change. */
const GOOD_FOR = 20
const LONG_MS = 25

const remembered = new WeakMap<IndexDatabase, LRUCache<string, Entry>>()

/**
 * Everything that figures of the last `days` UTC days are made of, today's included and often more; at most 400. It may be a moment old where
 * making it takes long: pages that follow each change take `figuresOf`. `clock` measures spans, in milliseconds.
 */
export function statsFacts(
  index: IndexDatabase,
  { repo, days, now, clock = () => performance.now() }: { repo: string; days: number; now: number; clock?: () => number },
): FigureFacts {
  let kept = remembered.get(index)
  if (kept === undefined) {
    kept = new LRUCache({
      maxSize: MOST_KEPT,
      sizeCalculation: ({ facts }) => 1 + facts.events.length + facts.batches.length + facts.runs.length,
    })
    remembered.set(index, kept)
  }
  const span = SPANS.find(each => each >= days) ?? SPANS.at(-1) ?? days
  const from = spanStart(now, span)
  const key = JSON.stringify([repo, from, span])
  const version = versionOf(index, repo)
  const began = clock()
  const known = kept.get(key)
  if (known !== undefined && (known.version === version || (known.tookMs >= LONG_MS && began - known.madeAt < GOOD_FOR * known.tookMs)))
    return known.facts
  const facts = figureFactsOf(index, { repo, from, to: from + span * DAY, now })
  const madeAt = clock()
  kept.set(key, { version, facts, madeAt, tookMs: madeAt - began })
  return facts
}
