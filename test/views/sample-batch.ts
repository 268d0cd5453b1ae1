import { batchEventWords, batchTimes, batchWords, halvedWords, memberWords, prunedWords } from '../../src/queue/words/batch.ts'
import { batchLabels, pullLabels, runLabels } from '../../src/queue/words/labels.ts'
import type { BatchPage } from '../../src/views/models.ts'
import { alice, bob, commits, frame, gardener, hostile, minutesAgo, nameless, now, orchard, runner } from './sample.ts'

const path = `/alice.test/orchard/batches/${commits.batch}`
const uri = (n: number) => `at://${bob.did}/dev.knotless.pull/3mb2k0000000${n}`
const check = `at://${runner.did}/dev.knotless.check/queue:a:b:c`
const other = '2c'.repeat(20)

export function batchPage(more: Partial<BatchPage> = {}): BatchPage {
  const title = 'Migrate the tree store to SQLite'
  return {
    frame: frame({ title: 'Batch of 3, failed · main · alice.test/orchard', path }),
    repo: orchard,
    batch: { branch: 'main', base: commits.tip, tip: commits.batch, since: minutesAgo(88), isAhead: false },
    form: 'clock',
    label: batchLabels.failed,
    says: batchWords({ state: 'failed', failed: ['test'], noVerdict: [], size: 3 }),
    more: halvedWords({ lander: runner.did, size: 3, landed: 2, ejected: [{ title, pull: uri(3) }], left: 0 }),
    notes: [],
    times: batchTimes({ since: minutesAgo(88), endedAt: minutesAgo(78), trusted: true, now }),
    members: [
      {
        pull: uri(1),
        title: 'Show harvest weights in pounds',
        author: alice,
        head: commits.head,
        commit: '1e'.repeat(20),
        label: { ...pullLabels.merged, word: 'Landed' },
        says: memberWords({ key: 'landed', commit: '1a'.repeat(20), elsewhere: false }),
        batch: other,
      },
      { pull: uri(2), title: 'Keep the zoom', author: gardener, commit: other, label: pullLabels.queued, says: 'Queued, 2nd of 5' },
      {
        pull: uri(3),
        title,
        author: nameless,
        head: commits.head,
        commit: commits.batch,
        label: pullLabels.ejected,
        says: memberWords({ key: 'ejected', reason: 'test failed', says: 'Halving the batch found it.' }),
      },
    ],
    runs: [
      {
        uri: check,
        workflow: 'test',
        label: runLabels.failed,
        startedAt: minutesAgo(87),
        endedAt: minutesAgo(78),
        took: 9 * 60_000,
        says: 'Failed after 9 min',
        failedTests: true,
      },
      { uri: check, workflow: 'e2e', label: runLabels.running, startedAt: minutesAgo(2), says: '', failedTests: false },
      { workflow: 'docs', label: runLabels.cancelled, says: 'cancelled', failedTests: false },
    ],
    runCounts: '1 failed, 1 running, 1 cancelled',
    events: [
      { at: minutesAgo(88), ...batchEventWords({ key: 'built', branch: 'main', base: commits.tip, ahead: false }) },
      { at: minutesAgo(78), ...batchEventWords({ key: 'run', workflow: 'test', state: 'failed' }), check },
      { at: minutesAgo(78), ...batchEventWords({ key: 'again', pulls: [1, 2], of: 3 }), batch: other },
      { at: minutesAgo(60), ...batchEventWords({ key: 'ejected', pull: 3, alone: false, reason: 'test failed' }), record: uri(3) },
    ],
    ...more,
  }
}

export function batchPages(): Record<string, BatchPage> {
  const page = batchPage()
  return {
    batch: page,
    'batch-live': batchPage({
      frame: { ...page.frame, live: '/events?of=x@1' },
      label: batchLabels.ahead,
      says: batchWords({ state: 'ahead' }),
      more: undefined,
      batch: { ...page.batch, isAhead: true },
      expected: { from: now + 8 * 60_000, to: now + 10 * 60_000, basis: 'from the last 20 batches that passed' },
    }),
    'batch-merged': batchPage({
      frame: frame({ viewer: undefined, path }),
      batch: { branch: 'main', tip: commits.batch, isAhead: false },
      label: batchLabels.landed,
      says: batchWords({ state: 'landed', branch: 'main', tip: commits.batch, nothingRan: false }),
      more: undefined,
      notes: [prunedWords(false)],
      times: [],
      runs: [],
      runCounts: '',
    }),
    'batch-hostile': batchPage({
      batch: { ...page.batch, branch: hostile.attribute },
      label: { word: hostile.script, icon: 'alert', tone: hostile.attribute },
      says: hostile.script,
      more: hostile.long,
      notes: [hostile.attribute],
      times: hostile.turned,
      members: Object.values(hostile).map((title, n) => ({
        ...page.members[0],
        pull: uri(n),
        title,
        author: nameless,
        commit: commits.tip,
        says: title,
      })),
      runs: Object.values(hostile).map(workflow => ({ workflow, label: runLabels.unknown, uri: check, says: workflow, failedTests: true })),
      runCounts: hostile.script,
      events: Object.values(hostile).map(says => ({ at: now, tone: hostile.attribute, says, record: check })),
    }),
  }
}
