/** One of each thing that the words can say, and the variants that differ: what the snapshot is made of. */

import type * as words from '../../../src/queue/words/index.ts'
import { alice, base, bob, branch, carol, earlier, head, MINUTE, NOW, repo, runner, type Samples, tip, title } from './samples-people.ts'

export * from './samples-boxes.ts'
export * from './samples-pages.ts'
export * from './samples-people.ts'
export * from './samples-refusals.ts'

export const standings: Samples<words.StandingParts['kind'], words.StandingParts> = {
  merged: [
    { kind: 'merged', branch, commit: tip },
    { kind: 'merged', branch },
  ],
  'merged-not-there': [
    { kind: 'merged-not-there', branch, commit: tip },
    { kind: 'merged-not-there', branch },
  ],
  closed: [{ kind: 'closed' }],
  draft: [{ kind: 'draft' }],
  landing: [{ kind: 'landing' }],
  'in-batch': [{ kind: 'in-batch', size: 3 }],
  'in-ahead': [
    { kind: 'in-ahead', size: 2 },
    { kind: 'in-ahead', size: 2, outcome: 'passed' },
    { kind: 'in-ahead', size: 2, outcome: 'red' },
  ],
  queued: [
    { kind: 'queued', position: 2, length: 5, preflights: [] },
    { kind: 'queued', position: 2, length: 5, preflights: ['check'] },
    { kind: 'queued', position: 21, length: 122, preflights: ['check', 'test'] },
  ],
  ejected: [{ kind: 'ejected', reason: 'test failed' }],
  open: [{ kind: 'open' }],
}

export const whys: Samples<words.WhyParts['key'], words.WhyParts> = {
  new: [
    { key: 'new', lander: runner },
    { key: 'new', lander: runner, within: 30_000 },
  ],
  next: [
    { key: 'next', depth: 2 },
    { key: 'next', depth: 1 },
  ],
  ready: [{ key: 'ready' }],
  full: [{ key: 'full', size: 4 }],
  later: [{ key: 'later', before: 46 }],
  fill: [{ key: 'fill', lander: runner, left: 4 * MINUTE }],
  'flight-running': [
    { key: 'flight-running', names: ['check'], behind: true, since: earlier(4) },
    { key: 'flight-running', names: ['check', 'test'], behind: true },
    { key: 'flight-running', names: ['check'], behind: false },
  ],
  'flight-head': [
    { key: 'flight-head', names: ['check'], behind: true, since: earlier(3) },
    { key: 'flight-head', names: ['check', 'test'], behind: true },
  ],
  'flight-none': [
    { key: 'flight-none', names: ['check'], lander: runner, within: 30_000 },
    { key: 'flight-none', names: ['check', 'test'], lander: runner },
    { key: 'flight-none', names: ['check'], lander: runner, taken: true },
  ],
  'flight-job': [
    { key: 'flight-job', names: ['check'], behind: true, lander: runner, jobs: 12 },
    { key: 'flight-job', names: ['check'], behind: true, lander: runner },
  ],
  'flight-again': [
    { key: 'flight-again', names: ['check'], behind: true },
    { key: 'flight-again', names: ['check', 'test'], behind: true },
  ],
  'conflict-ahead': [
    { key: 'conflict-ahead', files: ['src/import/csv.ts'], others: [title], more: 0, branch },
    { key: 'conflict-ahead', others: [title, title], more: 2, branch },
  ],
  'conflict-branch': [{ key: 'conflict-branch', branch, tip: 'a1'.repeat(20) }],
  halving: [{ key: 'halving' }],
  stopped: [{ key: 'stopped', lander: runner }],
  'no-lander': [
    { key: 'no-lander', since: earlier(142), now: NOW },
    { key: 'no-lander', since: earlier(3000), now: NOW },
    { key: 'no-lander', now: NOW },
  ],
  'no-runners': [{ key: 'no-runners', ...repo }],
  'unnamed-lander': [{ key: 'unnamed-lander', lander: runner }],
  'not-delegated': [{ key: 'not-delegated', owner: alice }],
  restart: [{ key: 'restart', lander: runner, since: earlier(3) }],
}

export const healths: Samples<words.HealthKind, words.HealthParts> = {
  trouble: [{ kind: 'trouble', size: 3, at: earlier(4), said: 'Test lost its executor.', lander: runner }],
  behind: [{ kind: 'behind', by: 3 * MINUTE }],
  busy: [{ kind: 'busy', waiting: 7, size: 3, since: earlier(4), ahead: 2, lastLanding: earlier(5) }],
  checking: [
    { kind: 'checking', waiting: 5, size: 3, since: earlier(4), lastLanding: earlier(12) },
    { kind: 'checking', waiting: 0, size: 1, since: earlier(1) },
    { kind: 'checking', waiting: 5, size: 3, since: earlier(4), landing: true, lastLanding: earlier(12) },
  ],
  filling: [{ kind: 'filling', waiting: 2, lander: runner, wait: 2 * MINUTE }],
  waiting: [{ kind: 'waiting', waiting: 2, lander: runner, lastLanding: earlier(12) }],
  idle: [{ kind: 'idle', lastLanding: earlier(3 * 1440) }, { kind: 'idle' }],
  halving: [
    { kind: 'halving', size: 4, failedAt: earlier(11), lander: runner, waiting: 6 },
    { kind: 'halving', size: 4, failedAt: earlier(11), lander: runner, waiting: 1 },
    { kind: 'halving', size: 4, failedAt: earlier(11), lander: runner, waiting: 0 },
  ],
  'no-lander': [
    { kind: 'no-lander', since: earlier(142), now: NOW, queued: 5, owner: alice, isOwner: false },
    { kind: 'no-lander', since: earlier(142), now: NOW, queued: 1, owner: alice, isOwner: true },
    { kind: 'no-lander', since: earlier(3000), now: NOW, queued: 0, owner: alice, isOwner: true },
  ],
  'never-lander': [
    { kind: 'never-lander', lander: runner, owner: alice, isOwner: false, queued: 5 },
    { kind: 'never-lander', lander: runner, owner: alice, isOwner: true, queued: 0 },
  ],
  stall: [
    { kind: 'stall', since: earlier(82), lander: runner, seenAt: NOW - 20_000, said: 'waiting for a free job', owner: alice },
    { kind: 'stall', since: earlier(82), lander: runner, seenAt: NOW - 20_000, owner: alice },
  ],
  churn: [
    { kind: 'churn', drops: 6, since: earlier(72), now: NOW, branch, cause: ['main was pushed to 6 times.'] },
    { kind: 'churn', drops: 6, since: earlier(72), now: NOW, branch },
  ],
  'not-delegated': [
    { kind: 'not-delegated', owner: alice, isOwner: false, since: earlier(267), now: NOW },
    { kind: 'not-delegated', owner: alice, isOwner: true, now: NOW },
  ],
  'no-runners': [
    { kind: 'no-runners', ...repo, isOwner: true },
    { kind: 'no-runners', ...repo, isOwner: false },
  ],
  unchecked: [
    { kind: 'unchecked', branch, commit: tip, since: earlier(88) },
    { kind: 'unchecked', branch },
  ],
  stopping: [
    { kind: 'stopping', lander: runner, busy: true },
    { kind: 'stopping', lander: runner, busy: false },
  ],
}

export const batches: Samples<words.BatchParts['state'], words.BatchParts> = {
  checking: [
    { state: 'checking', passed: 2, of: 4, running: ['test', 'e2e'] },
    { state: 'checking', passed: 0, of: 1, running: ['test'] },
    { state: 'checking', passed: 0, of: 0, running: [] },
  ],
  ahead: [{ state: 'ahead' }],
  'passed-waiting': [{ state: 'passed-waiting' }],
  'red-undecided': [{ state: 'red-undecided', failed: ['test'] }],
  landing: [
    { state: 'landing', lander: runner, branch, tip, nothingRan: false },
    { state: 'landing', lander: runner, branch, tip, nothingRan: true },
    { state: 'landing', lander: runner, branch, tip, nothingRan: false, moved: true },
  ],
  landed: [
    { state: 'landed', branch, base, tip, nothingRan: false },
    { state: 'landed', branch, base, tip, nothingRan: true },
  ],
  cancelled: [
    { state: 'cancelled', whole: true },
    { state: 'cancelled', whole: false },
  ],
  failed: [
    { state: 'failed', failed: ['test'], noVerdict: [], size: 1 },
    { state: 'failed', failed: ['check', 'test'], noVerdict: ['e2e'], size: 4 },
    { state: 'failed', failed: [], noVerdict: ['e2e'], size: 4 },
  ],
}

export const ejections: Samples<words.EjectionParts['key'], words.EjectionParts> = {
  conflict: [{ key: 'conflict', branch, tip, head, files: ['a.ts', 'b.ts'], more: 0 }],
  'conflict-pulls': [
    { key: 'conflict-pulls', branch, head, files: ['a.ts'], branches: ['csv-stream'] },
    { key: 'conflict-pulls', branch, head, files: ['a.ts'], branches: ['csv-stream', 'frost'] },
    { key: 'conflict-pulls', branch, head, files: ['a.ts'], more: 12, branches: ['csv-stream'], pulls: [title] },
  ],
  alone: [
    { key: 'alone', names: ['test'], commit: head, branch, tip, newer: 0 },
    { key: 'alone', names: ['check', 'test'], commit: head, branch, tip, newer: 2 },
    { key: 'alone', names: ['test'], commit: head, branch, tip, newer: 'unknown', onTop: [title] },
  ],
  together: [
    { key: 'together', names: ['test'], others: [title], branch },
    { key: 'together', names: ['test'], others: [title], branch, halving: true },
  ],
  halving: [{ key: 'halving', names: ['test'], others: ['3 others'], size: 4, branch, tip }],
  preflight: [{ key: 'preflight', names: ['check'], head, branch, tip }],
  'branch-gone': [{ key: 'branch-gone', head: 'row-labels', ...repo }],
  unreadable: [{ key: 'unreadable', head: 'row-labels', server: 'pds.example' }],
  'account-gone': [{ key: 'account-gone', author: carol }],
  draft: [{ key: 'draft', by: alice }],
  changed: [{ key: 'changed', from: head, to: tip }],
  retargeted: [{ key: 'retargeted', from: 'main', to: 'release/1.0' }],
  unseen: [{ key: 'unseen', head }],
  timeout: [{ key: 'timeout', names: ['e2e'] }],
  'head-moved': [{ key: 'head-moved', times: 2 }],
  'head-unread': [{ key: 'head-unread', times: 2 }],
  hostile: [{ key: 'hostile', detail: 'It holds a path that is too long.' }],
  'not-filed': [{ key: 'not-filed', workflow: 'lint' }],
  'no-delegation': [
    { key: 'no-delegation', owner: alice },
    { key: 'no-delegation', owner: alice, said: 'Nobody here may write for that account.' },
  ],
  gateway: [{ key: 'gateway', said: 'the second commit is not the squash of a queued pull.' }],
  empty: [
    { key: 'empty', branch, tip },
    { key: 'empty', branch, tip, commit: base },
  ],
  other: [{ key: 'other', detail: 'The runner could not say why.' }],
}

export const leaves: Samples<words.LeaveParts['key'], words.LeaveParts> = {
  queued: [{ key: 'queued', position: 8 }],
  'in-batch': [
    { key: 'in-batch', size: 3, others: 4, ahead: true },
    { key: 'in-batch', size: 2, others: 1, ahead: false },
    { key: 'in-batch', size: 1, others: 0, ahead: false },
  ],
  held: [{ key: 'held' }],
}

export const timelines: Samples<words.TimelineParts['key'], words.TimelineParts> = {
  opened: [{ key: 'opened', by: alice, head: 'row-labels' }],
  queued: [
    { key: 'queued', by: bob, again: false },
    { key: 'queued', by: bob, again: true, head },
    { key: 'queued', by: runner, again: true, requeue: { kind: 'flake', attempt: 1 } },
  ],
  left: [{ key: 'left', by: bob }],
  ejected: [
    { key: 'ejected', reason: 'test failed', says: ['It failed alone.'] },
    { key: 'ejected', reason: 'test failed', says: [] },
  ],
  merged: [
    { key: 'merged', by: runner, branch, commit: tip, there: true },
    { key: 'merged', by: runner, branch, commit: tip },
    { key: 'merged', by: runner, branch, commit: tip, there: false },
  ],
  closed: [{ key: 'closed', by: carol }],
  reopened: [{ key: 'reopened', by: carol }],
  check: (['queued', 'running', 'passed', 'failed', 'no-verdict', 'cancelled', 'skipped', 'reused', 'unknown'] as const).map(state => ({
    key: 'check',
    name: 'check',
    state,
    commit: head,
    branch,
  })),
  'in-batch': [
    { key: 'in-batch', size: 4, branch, base },
    { key: 'in-batch', size: 2, branch, base, ahead: true },
  ],
  dropped: [
    { key: 'dropped', size: 4, branch, cause: 'branch-moved' },
    { key: 'dropped', size: 1, branch },
    { key: 'dropped', size: 2, branch, cause: 'not-landed' },
    { key: 'dropped', size: 4, branch, cause: 'pull-moved-on', moved: { how: 'head' } },
    ...(['left', 'ejected', 'closed', 'merged', 'draft', 'retargeted', 'head', 'gone'] as const).map(how => ({
      key: 'dropped' as const,
      size: 4,
      branch,
      moved: { pull: title, how },
    })),
  ],
  'batch-failed': [
    { key: 'batch-failed', size: 4, names: ['test', 'e2e'], verdict: true },
    { key: 'batch-failed', size: 1, names: ['test'], verdict: false },
  ],
  decided: [
    { key: 'decided', verdict: 'requeue', kind: 'flake', attempt: 1, entry: 'KN-12' },
    { key: 'decided', verdict: 'reject', kind: 'other', attempt: 1, assertion: 'expected 4, got 5' },
    { key: 'decided', verdict: 'none', kind: 'other', attempt: 1 },
  ],
}

export { title as sampleTitle }
