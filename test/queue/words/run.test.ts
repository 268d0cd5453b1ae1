import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandWords, runLines, runSummaries, type StepParts, sizeWords } from '../../../src/queue/words/run.ts'

const MINUTE = 60_000
const MB = 2 ** 20
const step: StepParts = { step: 2, of: 3, command: 'npm test' }
const only: StepParts = { step: 1, of: 1, command: 'npm ci\nnpm test\n' }

test('what a run’s summary says is what it was', t => {
  t.assert.snapshot({
    passed: [
      runSummaries.passed(9 * MINUTE, []),
      runSummaries.passed(40_000, [step]),
      runSummaries.passed(40_000, [step, { ...step, step: 3, command: 'npm run e2e' }]),
      runSummaries.passed(40_000, Array(100).fill(step)),
    ],
    failed: [runSummaries.failed(9 * MINUTE, step, 1), runSummaries.failed(9 * MINUTE, only, 127)],
    broken: [runSummaries.broken(MINUTE, step), runSummaries.broken(MINUTE, undefined)],
    outOfMemory: [runSummaries.outOfMemory(MINUTE, step, 4096 * MB), runSummaries.outOfMemory(MINUTE, undefined, 1536 * MB)],
    tooManyProcesses: [runSummaries.tooManyProcesses(MINUTE, step, 2048)],
    tooMuchOutput: [runSummaries.tooMuchOutput(256 * MB, step)],
    tooManyFiles: [runSummaries.tooManyFiles(20 * 1024 * MB, only)],
    timedOut: [runSummaries.timedOut(45 * MINUTE, step), runSummaries.timedOut(45 * MINUTE, undefined)],
    diskFull: [runSummaries.diskFull()],
    engine: [runSummaries.engineLost(), runSummaries.noEngine()],
    image: [
      runSummaries.noImage('node:99'),
      runSummaries.imageNotFetched('node:24'),
      runSummaries.unfitImage('scratch'),
      runSummaries.noDefaultImage(),
    ],
    needsNetwork: [runSummaries.needsNetwork()],
    noTree: [runSummaries.noTree()],
    other: [runSummaries.other()],
  })
})

test('what the runner itself says in a log is what it was', t => {
  t.assert.snapshot({
    container: [runLines.container('node:24', 4096 * MB, false), runLines.container('node:24', 512 * MB, true)],
    host: runLines.host(),
    step: [runLines.step('npm test'), runLines.step('npm ci\nnpm test')],
    retry: runLines.retry(1, 1, 2),
    cut: runLines.cut(1003.5 * MB),
    noReport: runLines.noReport('reports/*.xml'),
    cancelled: runLines.cancelled(),
  })
})

test('a command and an image that somebody wrote stay one bounded line that turns nothing round', () => {
  const hostile = `\u202e\u001b[31m${'x'.repeat(5000)}\r\nsecond`
  for (const text of [
    commandWords(hostile),
    runSummaries.noImage(hostile),
    runSummaries.failed(0, { step: 1, of: 1, command: hostile }, 1),
  ]) {
    assert.doesNotMatch(text, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
    assert.ok(text.length < 450)
  }
  assert.equal(commandWords('\n\n  a\n'), 'a')
  assert.equal(commandWords('\u{1f333}'.repeat(300)), `${'\u{1f333}'.repeat(200)}…`)
})

test('sizes are said in the unit that is read most easily', () => {
  assert.deepEqual([0, 1, 1023, 1024, 1536, 150 * 1024, 20 * 2 ** 30].map(sizeWords), [
    '0 bytes',
    '1 byte',
    '1023 bytes',
    '1 KB',
    '1.5 KB',
    '150 KB',
    '20 GB',
  ])
})
