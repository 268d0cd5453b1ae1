import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Figures, figuresOf } from '../../../src/queue/stats/figures.ts'
import { judgeFigures } from '../../../src/queue/stats/healthy.ts'
import { plain } from '../../../src/queue/words/phrase.ts'
import * as words from '../../../src/queue/words/stats.ts'
import { NOW, names } from './samples-people.ts'

const MINUTE = 60_000
const none = figuresOf({ events: [], batches: [], runs: [] })
const figures = (more: Partial<Figures>): Figures => ({ ...none, ...more })

const samples = {
  none,
  healthy: figures({
    queued: 415,
    landed: 375,
    medianMs: 25 * MINUTE,
    p95Ms: 58 * MINUTE,
    ejections: 12,
    batchesEnded: 182,
    batchesPassed: 159,
    longestMs: 756_000,
  }),
  quick: figures({ queued: 4, landed: 4, medianMs: 12_000, p95Ms: 50_000, batchesEnded: 2, batchesPassed: 2, longestMs: 4_000 }),
  near: figures({ queued: 415, landed: 375, medianMs: 31 * MINUTE, p95Ms: 61 * MINUTE, ejections: 29, batchesEnded: 10, batchesPassed: 8 }),
  early: figures({ ejections: 2 }),
  far: figures({ queued: 10, landed: 2, medianMs: 46 * MINUTE, p95Ms: 1500 * MINUTE, ejections: 8, batchesEnded: 3, batchesPassed: 1 }),
}

test('STA-3 REA-3 what figures are called, and how they stand to what is healthy', t => {
  const text = (phrase: Parameters<typeof plain>[0]) => plain(phrase, NOW, names)
  const heads = words.compareHeads(Date.UTC(2026, 10, 20), 30, 11)
  t.assert.snapshot({
    title: words.statsTitle(30, 'alice.test/orchard'),
    heading: words.statsHeading,
    description: [words.statsDescription(30, undefined), words.statsDescription(7, 'main')],
    lead: [[], ['main'], ['main', 'release/1.0']].map(branches =>
      text(words.statsLead({ branches, from: Date.UTC(2026, 10, 1), to: Date.UTC(2026, 10, 30) })),
    ),
    figures: Object.fromEntries(
      Object.entries(samples).map(([key, of]) => [
        key,
        words
          .figureWords(of)
          .map(({ name, value, judgement, note }) => `${name}: ${value}. ${judgement === undefined ? '' : `${judgement.word} `}(${note})`),
      ]),
    ),
    columns: words.statsColumns.map(({ key, name }) => `${key}: ${name}`),
    healthy: words.healthyWords,
    landings: words.landingWords,
    cancelled: words.cancelledWords({ cancelled: { restart: 1, 'branch-moved': 2, 'pull-moved-on': 3, 'batch-failed': 4, other: 5 } }),
    bar: [
      words.barWords(Date.UTC(2026, 10, 8), []),
      words.barWords(Date.UTC(2026, 10, 18), [
        { name: 'landed', n: 14 },
        { name: 'conflict', n: 0 },
        { name: 'other', n: 1 },
      ]),
    ],
    compare: [text(heads.before), text(heads.since)],
    before: words.nothingBefore(Date.UTC(2026, 10, 8)),
    page: words.statsWords,
  })
})

test('REA-3 healthy is under 30 minutes at the median and 60 at the 95th percentile, a few percent ejected, over 80 % passing', () => {
  const of = (more: Partial<Figures>) => judgeFigures(figures(more))
  assert.deepEqual(of({}), { median: undefined, p95: undefined, ejected: undefined, passed: undefined })
  assert.deepEqual(
    [of({ medianMs: 30 * MINUTE - 1 }).median, of({ medianMs: 30 * MINUTE }).median, of({ medianMs: 45 * MINUTE }).median],
    ['healthy', 'near', 'far'],
  )
  assert.deepEqual(
    [of({ p95Ms: 60 * MINUTE - 1 }).p95, of({ p95Ms: 60 * MINUTE }).p95, of({ p95Ms: 90 * MINUTE }).p95],
    ['healthy', 'near', 'far'],
  )
  assert.deepEqual(
    [5, 6, 11].map(ejections => of({ queued: 100, ejections }).ejected),
    ['healthy', 'near', 'far'],
  )
  assert.deepEqual(
    [81, 80, 70].map(batchesPassed => of({ batchesEnded: 100, batchesPassed }).passed),
    ['healthy', 'near', 'far'],
  )
})
