/** One of each box of a pull request, and the variants that differ. */

import * as words from '../../../src/queue/words/index.ts'
import { alice, base, bob, branch, carol, earlier, head, NOW, people, repo, runner, type Samples, tip } from './samples-people.ts'

export const boxes: Samples<words.BoxParts['key'], words.BoxParts> = {
  merged: [
    { key: 'merged', branch, commit: tip, by: runner, size: 3, checked: true, queuedBy: carol, deleted: 'row-labels' },
    { key: 'merged', branch, commit: tip, by: runner, size: 3, checked: false },
    { key: 'merged', branch, commit: tip, by: alice, checked: false },
    { key: 'merged', branch, commit: tip, by: alice, size: 1, unqueued: true, checked: false },
  ],
  'merged-later': [
    { key: 'merged-later', branch, commit: tip, by: runner, head: 'row-labels', size: 3, queuedBy: carol },
    { key: 'merged-later', branch, commit: tip, by: runner, later: 2, head: 'row-labels', size: 3 },
    { key: 'merged-later', branch, commit: tip, by: runner, later: 1, head: 'row-labels' },
  ],
  'merged-not-there': [
    { key: 'merged-not-there', branch, commit: tip, by: carol, owner: alice },
    { key: 'merged-not-there', branch, by: alice, owner: alice },
  ],
  closed: [{ key: 'closed', by: carol }, { key: 'closed' }],
  draft: [
    { key: 'draft', author: bob },
    { key: 'draft', author: bob, queuedBy: carol },
    { key: 'draft', author: bob, ejectedBy: runner },
  ],
  landing: [
    { key: 'landing', branch, size: 3, by: runner, tip },
    { key: 'landing', branch, size: 3, by: runner, tip, moved: true },
  ],
  'landing-recorded': [
    { key: 'landing-recorded', branch, commit: tip, by: runner },
    { key: 'landing-recorded', branch, by: runner },
  ],
  'in-batch': [
    { key: 'in-batch', size: 3, position: 2, branch, base, passed: 2, of: 4, reused: 0, running: ['test', 'e2e'] },
    { key: 'in-batch', size: 3, position: 3, branch, base, passed: 1, of: 2, reused: 0, running: ['test'] },
    { key: 'in-batch', size: 1, position: 1, branch, base, passed: 0, of: 1, reused: 1, running: ['test'] },
    { key: 'in-batch', size: 1, position: 1, branch, base, passed: 0, of: 0, reused: 2, running: [] },
    { key: 'in-batch', size: 1, position: 1, branch, base, passed: 0, of: 0, reused: 0, running: [] },
  ],
  'in-ahead': [
    { key: 'in-ahead', size: 2, under: 3 },
    { key: 'in-ahead', size: 2, under: 3, outcome: 'passed' },
    { key: 'in-ahead', size: 2, under: 3, outcome: 'red' },
  ],
  queued: [
    { key: 'queued', position: 8, length: 12, preflights: [], why: words.whyWords({ key: 'next', depth: 2 }) },
    {
      key: 'queued',
      position: 4,
      length: 12,
      preflights: ['check'],
      why: words.whyWords({ key: 'flight-running', names: ['check'], behind: true }),
    },
  ],
  'queued-stranded': [
    { key: 'queued-stranded', unnamed: 'orchard', position: 3, length: 5, now: NOW, owner: alice, isOwner: false },
    { key: 'queued-stranded', unnamed: 'orchard', position: 3, length: 5, now: NOW, owner: alice, isOwner: true },
    {
      key: 'queued-stranded',
      position: 3,
      length: 5,
      since: earlier(142),
      now: NOW,
      owner: alice,
      isOwner: false,
    },
    { key: 'queued-stranded', position: 1, length: 1, now: NOW, owner: alice, isOwner: true },
  ],
  ejected: [{ key: 'ejected', reason: 'test failed', says: ['It failed alone.'] }],
  conflict: [
    { key: 'conflict', branch, tip, files: 2 },
    { key: 'conflict', branch, tip, files: 0 },
  ],
  'checks-failed': [{ key: 'checks-failed', names: ['check', 'test'], head, branch, tip }],
  'head-gone': [{ key: 'head-gone', head: 'row-labels', ...repo }],
  unreadable: [
    { key: 'unreadable', of: 'target', code: 'bad-ref', message: '"main" is listed twice.', passing: false, branch, ...repo },
    { key: 'unreadable', of: 'head', code: 'upstream-failed', message: 'It could not be read.', passing: true, branch, ...repo },
    { key: 'unreadable', of: 'head', code: 'bad-pack', message: 'A pack is corrupt.', passing: false, branch, ...repo },
    {
      key: 'unreadable',
      of: 'merge',
      code: 'unrelated',
      message: 'The two branches have no history in common.',
      passing: false,
      branch,
      ...repo,
    },
    { key: 'unreadable', of: 'merge', code: 'too-large', message: 'It holds too much.', passing: false, branch, ...repo },
  ],
  'branch-gone': [{ key: 'branch-gone', branch: 'release/1.0', ...repo }],
  'gateway-owner': [
    { key: 'gateway-owner', branch, delegation: { state: 'never' } },
    { key: 'gateway-owner', branch, delegation: { state: 'lost', at: earlier(4), why: 'expired' } },
  ],
  'gateway-other': [
    { key: 'gateway-other', owner: alice, delegation: { state: 'never' } },
    {
      key: 'gateway-other',
      owner: alice,
      delegation: { state: 'withdrawn', at: earlier(4) },
      settingsUrl: 'https://queue.example/settings',
    },
  ],
  'no-runners': [
    { key: 'no-runners', ...repo, people, isOwner: false },
    { key: 'no-runners', ...repo, people, isOwner: true },
    { key: 'no-runners', ...repo, people, isOwner: false, queueOnlyBranch: branch },
    { key: 'no-runners', ...repo, people, isOwner: true, queueOnlyBranch: branch },
  ],
  'not-allowed': [
    { key: 'not-allowed', people },
    { key: 'not-allowed', people: [alice] },
  ],
  'signed-out': [{ key: 'signed-out', people }],
  working: [
    { key: 'working', branch, head, tip },
    { key: 'working', branch, head },
    { key: 'working', branch },
  ],
  'ready-unchecked': [{ key: 'ready-unchecked', branch }],
  'ready-running': [
    { key: 'ready-running', running: 2, of: 4, head },
    { key: 'ready-running', running: 1, of: 1, head },
  ],
  ready: [
    { key: 'ready', branch, tip, head, checks: 'passed', position: 13, length: 13 },
    { key: 'ready', branch, tip, head, checks: 'none', position: 1, length: 1 },
    { key: 'ready', branch, tip, head, checks: 'not-all', position: 2, length: 2 },
  ],
}
