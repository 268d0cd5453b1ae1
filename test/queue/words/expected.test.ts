import { test } from 'node:test'
import {
  basisSentence,
  basisWords,
  batchLandsWords,
  landsIn,
  landsWords,
  type NoEstimate,
  noEstimateWords,
  type RunSays,
  runName,
  runWords,
} from '../../../src/queue/words/expected.ts'
import type { Phrase } from '../../../src/queue/words/phrase.ts'
import { plain } from '../../../src/queue/words/phrase.ts'
import { NOW, names } from './samples.ts'

const MINUTE = 60_000
const range = { from: NOW + 8 * MINUTE, to: NOW + 10 * MINUTE }
const text = (phrase: Phrase) => plain(phrase, NOW, names)

const reasons: readonly NoEstimate[] = [
  { key: 'few', passed: 0, needed: 3 },
  { key: 'few', passed: 1, needed: 3 },
  { key: 'few', passed: 2, needed: 3 },
  { key: 'failing', passed: 4, of: 20 },
  { key: 'later', of: 20 },
  { key: 'silent' },
  { key: 'blocked' },
  { key: 'unnamed' },
  { key: 'halving' },
  { key: 'red' },
  { key: 'held' },
  { key: 'conflict' },
]

const usual = { from: 11 * MINUTE, typical: 12 * MINUTE, to: 13 * MINUTE }
const startedAt = NOW - 4 * MINUTE
const runs: readonly Omit<RunSays, 'now'>[] = [
  { state: 'queued' },
  { state: 'queued', silentSince: NOW - 60 * MINUTE },
  { state: 'running' },
  { state: 'running', startedAt },
  { state: 'running', startedAt, usual },
  { state: 'running', startedAt: NOW - 19 * MINUTE, usual },
  { state: 'running', startedAt, usual: { from: 15_000, typical: 18_000, to: 300_000 } },
  { state: 'running', startedAt: NOW - 148 * MINUTE, usual, silentSince: NOW - 142 * MINUTE },
  { state: 'passed' },
  { state: 'passed', startedAt, finishedAt: startedAt + 72_000, usual },
  { state: 'failed', startedAt, finishedAt: startedAt + 2 * MINUTE },
  { state: 'failed', startedAt, finishedAt: startedAt - 1 },
  { state: 'reused' },
  { state: 'skipped' },
  { state: 'cancelled' },
  { state: 'unknown' },
  ...['timeout', 'executor-lost', 'disk', 'restart', 'surprise'].map(verdict => ({ state: 'no-verdict' as const, verdict })),
]

test('every word about what is expected stands as it was written', t => {
  t.assert.snapshot({
    lands: [text([landsIn(NOW + 8 * MINUTE, NOW + 10 * MINUTE)]), text([landsIn(NOW - MINUTE, NOW + MINUTE)])],
    basis: [text(basisWords(20)), text(basisSentence(basisWords(20)))],
    whole: ([undefined, 'so', 'below'] as const).map(only => text(landsWords({ ...range, basis: basisWords(20) }, only))),
    batch: [false, true].map(ahead => text(batchLandsWords(range, ahead))),
    none: reasons.map(reason => text(noEstimateWords(reason))),
    runs: runs.map(run => text(runWords({ ...run, now: NOW }))),
    names: runs.map(run => text(runName({ ...run, now: NOW }))),
  })
})
