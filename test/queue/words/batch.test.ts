import { test } from 'node:test'
import * as words from '../../../src/queue/words/batch.ts'
import * as run from '../../../src/queue/words/check-page.ts'
import { type Phrase, plain } from '../../../src/queue/words/phrase.ts'
import { DROPS } from '../../../src/queue/words/runner.ts'
import { NOW, names } from './samples.ts'

const text = (phrase: Phrase) => plain(phrase, NOW, names)
const branch = 'main'
const tip = '8d02f6b4c1d2e900000000000000000000000000'
const base = '77e1a0c000000000000000000000000000000000'
const lander = 'did:plc:rrrrrrrrrrrrrrrrrrrrrrrr'
const pull = 'at://did:plc:carol/dev.knotless.pull/3k'
const minute = 60_000
const member = { title: 'Label rows', pull }

const causes = [...DROPS, undefined]
const dids = ['left', 'closed', 'ejected', 'merged', 'changed'] as const

test('STA-3 FAI-7 MOV-4 words of a batch: why it was dropped, what came of its pulls, what happened', t => {
  t.assert.snapshot({
    dropped: causes.map(cause => text(words.droppedWords({ cause, branch, onBatch: true, passed: false }))),
    droppedAlone: text(words.droppedWords({ cause: 'batch-failed', branch, onBatch: false, passed: false })),
    droppedPassed: text(words.droppedWords({ branch, onBatch: false, passed: true })),
    droppedFor: dids.map(did =>
      text(words.droppedWords({ cause: 'pull-moved-on', branch, onBatch: false, passed: false, member: { ...member, did } })),
    ),
    droppedUnsaid: text(words.droppedWords({ branch, onBatch: false, passed: false, member: { ...member, did: 'left' } })),
    halved: [
      { landed: 0, ejected: [], left: 4 },
      { landed: 2, ejected: [], left: 2 },
      { landed: 3, ejected: [member], left: 0 },
      { landed: 0, ejected: [member, { title: 'Draw', pull }], left: 0 },
    ].map(parts => text(words.halvedWords({ lander, size: 4, ...parts }))),
    landedWithoutBase: text(words.batchWords({ state: 'landed', branch, tip, nothingRan: false })),
    times: [
      text(words.batchTimes({ now: NOW })),
      text(words.batchTimes({ since: NOW - 5 * minute, trusted: true, now: NOW })),
      text(words.batchTimes({ since: NOW - 90 * minute, endedAt: NOW - 80 * minute, trusted: false, now: NOW })),
    ],
    noneHadToRun: text(words.noneHadToRun()),
    pruned: [true, false].map(kept => text(words.prunedWords(kept))),
    member: (
      [
        { key: 'landed', commit: tip, elsewhere: false },
        { key: 'landed', commit: tip, elsewhere: true },
        { key: 'ejected', reason: 'test failed', says: 'It failed alone.' },
        { key: 'ejected', reason: 'turned away', says: '' },
        { key: 'left', by: lander },
        { key: 'closed', by: lander },
        { key: 'gone' },
        { key: 'stands', text: ['Queued, 2nd of 5'] },
      ] as const
    ).map(parts => text(words.memberWords(parts))),
    events: (
      [
        { key: 'built', branch, base, ahead: false },
        { key: 'built', branch, base, ahead: true },
        { key: 'built', branch, ahead: false },
        { key: 'run', workflow: 'test', state: 'failed' },
        { key: 'run', workflow: 'test', state: 'no-verdict' },
        { key: 'cancelled', workflows: ['e2e'] },
        { key: 'cancelled', workflows: ['e2e', 'docs'] },
        { key: 'passed', nothingRan: false },
        { key: 'passed', nothingRan: true },
        { key: 'dropped' },
        { key: 'again', pulls: [1, 2], of: 4 },
        { key: 'again', pulls: [1, 2], of: 2 },
        { key: 'again', pulls: [4], of: 6 },
        { key: 'again', pulls: [1], of: 1 },
        { key: 'landed', pulls: [1, 2], all: false, branch, tip },
        { key: 'landed', pulls: [1], all: true, branch, tip },
        { key: 'ejected', pull: 4, alone: false, reason: 'test failed' },
        { key: 'ejected', pull: 1, alone: true, reason: 'test failed' },
        { key: 'left', pull: 2, alone: false, by: lander },
        { key: 'closed', pull: 1, alone: true, by: lander },
        { key: 'decision', says: ['Rejected, 2 failed assertions.'] },
      ] as const
    ).map(parts => `${words.batchEventWords(parts).tone}: ${text(words.batchEventWords(parts).says)}`),
    counts: [
      words.runCounts([]),
      words.runCounts(['passed', 'failed', 'passed', 'cancelled', 'no-verdict', 'unknown', 'running', 'queued']),
    ],
    runs: [
      words.runSays({ retried: 0 }),
      words.runSays({ retried: 2, summary: 'Passed in 3 min.' }),
      words.runSays({ retried: 0, summary: 'Failed after 1 h 3 min, with exit code 1: npm test' }),
      words.runSays({ retried: 0, summary: 'Failed after 9 min in step 2 of 3, with exit code 1: x' }),
      words.runSays({ retried: 0, summary: 'Timed out after 5 min in step 1 of 2: sleep 9' }),
      words.runSays({ retried: 0, cause: 'cancelled', summary: 'x' }),
    ],
  })
})

test('STA-3 CHK-13 words of a run’s page: its tests, its report, its log', t => {
  const parts = { state: 'failed', filedAt: NOW - 20 * minute, startedAt: NOW - 19 * minute, finishedAt: NOW - 10 * minute } as const
  t.assert.snapshot({
    result: [
      run.runResult({ ...parts, tests: { failures: 2, of: 1204 } }),
      run.runResult({ ...parts, tests: { failures: 0, of: 1204 } }),
      run.runResult({ ...parts, startedAt: undefined, tests: { failures: 1, of: 1 } }),
      run.runResult(parts),
    ].map(({ bold, says }) => `${bold}${text(says)}`),
    tests: [
      run.testsSay(undefined, []),
      run.testsSay({ failures: 0, of: 1204, skipped: 3 }, []),
      run.testsSay({ failures: 0, of: 1, skipped: 0 }, ['socket']),
      run.testsSay({ failures: 2, of: 9, skipped: 0 }, ['socket', 'frost']),
    ].map(text),
    report: (['gone', 'broken', 'busy', 'unread', 'damaged'] as const).map(why => text(run.noReportWords({ why }))),
    more: text(run.moreFailed(1200)),
    log: [
      ...(['going', 'none', 'coming', 'gone', 'broken', 'busy', 'no-room'] as const).map(why => text(run.noLogWords({ why }))),
      text(run.noLogWords({ why: 'unread', host: 'pds.test' })),
      text(run.noLogWords({ why: 'reading', lines: 4_000_000 })),
    ],
    notes: [run.logNotes.live, run.logNotes.cutBefore(70_000), run.logNotes.long, run.logNotes.damaged].map(text),
  })
})
