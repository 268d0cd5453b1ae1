import { logNotes, noLogWords, ranOn, runResult, runTimes, testsSay } from '../../src/queue/words/check-page.ts'
import { runLabels } from '../../src/queue/words/labels.ts'
import type { LogLine } from '../../src/views/logs.ts'
import type { CheckPage } from '../../src/views/models.ts'
import { commits, frame, hostile, minutesAgo, nameless, now, orchard, pull, runner } from './sample.ts'

const parts = { state: 'failed', filedAt: minutesAgo(12), startedAt: minutesAgo(11), finishedAt: minutesAgo(2) } as const

function linesOf(texts: readonly string[]): LogLine[] {
  return texts.map(text => ({ pieces: [{ text }], kind: text.startsWith('$ ') ? 'step' : undefined }))
}

export function checkPage(more: Partial<CheckPage> = {}): CheckPage {
  const path = `/alice.test/orchard/checks/runner.test/queue:a:b:c`
  return {
    frame: frame({ title: 'test, failed · batch of 3 · alice.test/orchard', path }),
    repo: orchard,
    check: {
      uri: `at://${runner.did}/dev.knotless.check/queue:a:b:c`,
      runner,
      workflow: 'test',
      status: 'failure',
      commit: commits.batch,
      baseCommit: commits.tip,
      isolated: false,
      summary: 'Failed after 9 min, with exit code 1: npm test',
      createdAt: minutesAgo(12),
    },
    branch: 'main',
    batch: { size: 3, tip: commits.batch },
    ran: ranOn(commits.batch, commits.tip),
    ...runLabels.failed,
    ...runResult(parts),
    times: runTimes(parts, now),
    tests: testsSay(undefined, ['socket']),
    failed: {
      of: 2,
      list: [
        {
          name: 'opens an orchard',
          where: 'src/store.test.ts',
          line: { n: 2_006, href: '#L2006' },
          message: 'expected 499 to be 500',
          text: 'at src',
        },
        { name: '', message: '', text: '' },
      ],
      notes: [],
    },
    log: {
      shown: true,
      lines: [
        ...linesOf(['$ npm ci', 'added 412 packages in 11s', '', '$ npm test', hostile.script, hostile.long]),
        { pieces: [{ text: '✗ ' }, { text: '2 failed', tone: 'r', bold: true }], kind: 'bad' },
      ],
      first: 2_001,
      of: 2_007,
      earlier: `${path}?from=1`,
      live: false,
      notes: [logNotes.long],
      plain: `${path}/log`,
    },
    ...more,
  }
}

export function checkPages(): Record<string, CheckPage> {
  const page = checkPage()
  const live = { ...page.frame, live: '/alice.test/orchard/checks/runner.test/queue:a:b:c/events?seen=1' }
  return {
    check: page,
    'check-live': checkPage({
      frame: live,
      ...runLabels.running,
      ...runResult({ ...parts, state: 'running', finishedAt: undefined }),
      times: [],
      pull: pull('Label rows'),
      log: { shown: true, lines: linesOf(['$ npm test', 'one']), live: true, notes: [logNotes.cutBefore(70_000)] },
    }),
    'check-none': checkPage({ frame: live, batch: undefined, log: { shown: false, says: noLogWords({ why: 'coming' }), live: true } }),
    'check-hostile': checkPage({
      frame: live,
      check: { ...page.check, workflow: hostile.script, summary: hostile.long, status: hostile.attribute },
      branch: hostile.attribute,
      pull: pull(hostile.long, { author: nameless }),
      tone: hostile.attribute,
      bold: hostile.script,
      says: hostile.attribute,
      more: hostile.long,
      tests: hostile.script,
      decisions: [
        {
          label: { ...runLabels.failed, word: hostile.script },
          says: hostile.attribute,
          record: `at://${runner.did}/dev.knotless.decision/3k`,
        },
      ],
      failed: {
        of: 3,
        list: Object.values(hostile).map(text => ({ name: text, where: text, message: text, text, line: { n: 2, href: '#L2' } })),
        notes: [hostile.script],
      },
      log: {
        shown: true,
        lines: linesOf(Object.values(hostile)),
        first: 1,
        of: Object.values(hostile).length,
        live: true,
        notes: [hostile.script],
      },
    }),
  }
}
