import { logNotes, noLogWords, ranOn, runResult, runTimes } from '../../src/queue/words/check-page.ts'
import { runLabels } from '../../src/queue/words/labels.ts'
import type { CheckPage } from '../../src/views/models.ts'
import { commits, frame, hostile, minutesAgo, nameless, now, orchard, pull, runner } from './sample.ts'

const parts = { state: 'failed', filedAt: minutesAgo(12), startedAt: minutesAgo(11), finishedAt: minutesAgo(2) } as const

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
    batch: { size: 3, inFlight: true },
    ran: ranOn(commits.batch, commits.tip),
    ...runLabels.failed,
    ...runResult(parts),
    times: runTimes(parts, now),
    log: {
      shown: true,
      lines: ['$ npm ci', 'added 412 packages in 11s', '', '$ npm test', hostile.script, hostile.long, '✗ 2 failed'],
      first: 2_001,
      of: 2_007,
      earlier: `${path}?from=1`,
      live: false,
      notes: [logNotes.cutAfter],
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
      log: { shown: true, lines: ['$ npm test', 'one'], live: true, notes: [logNotes.cutBefore(70_000)] },
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
      log: { shown: true, lines: Object.values(hostile), first: 1, of: Object.values(hostile).length, live: true, notes: [hostile.script] },
    }),
  }
}
