/** Refusals and lines of the audit log, for the snapshot. */
import * as words from '../../../src/queue/words/index.ts'
import * as writing from '../../../src/queue/words/writing.ts'
import { did } from '../made-up.ts'
import { alice, base, bob, branch, carol, earlier, head, MINUTE, people, repo, runner, type Samples, tip, title } from './samples-people.ts'

const conflictParts = { branch, tip, files: ['src/import/csv.ts', 'docs/picking.md'], more: 3 }

const settingsUrl = 'https://queue.example/settings'

const batchFaults: readonly words.BatchFault[] = [
  { what: 'not-moved' },
  { what: 'makes-branch', branch },
  { what: 'too-long', most: 50 },
  { what: 'off-the-tip', branch, tip },
  { what: 'no-commits' },
  { what: 'other-ref', ref: 'refs/heads/release/1.0' },
  { what: 'not-one-parent', commit: tip, parents: 2 },
  { what: 'out-of-line', commit: tip, parent: base },
  { what: 'unclean', commit: tip },
  { what: 'no-pull', commit: tip },
  { what: 'other-repository', commit: tip },
  { what: 'unknown-pull', commit: tip },
  { what: 'twice', commit: tip, first: base },
]

const forceFaults: readonly words.ForceFault[] = [
  { why: 'default' },
  { why: 'rule' },
  { why: 'landing' },
  { why: 'target', pull: title, more: 0 },
  { why: 'target', pull: title, more: 2 },
  { why: 'head', pull: title },
  { why: 'tag', owner: alice },
]

export const refusals: Samples<words.RefusalCode, words.Refusal> = {
  'repo-not-found': [words.repoNotFound('alice.test/orchrad'), words.repoMoved('push', repo, { owner: bob, name: 'orchard' })],
  'pull-not-found': [words.pullNotFound()],
  'branch-not-found': [
    words.branchNotFound(repo, 'mian', ['main', 'release/1.0']),
    words.branchNotFound(repo, 'mian', []),
    words.headGone('queue', 'row-labels', repo),
    words.headGone('merge', 'row-labels', repo),
  ],
  'not-allowed': [
    writing.notAlone('push'),
    writing.gitRefused('push', { code: 'bad-pack', message: 'A pack is broken.' }),
    words.notAllowed('push', people),
    words.notARef('push', 'refs/notes/commits'),
    words.namedTwice('push', 'refs/heads/main'),
    words.notAllowed('queue', people),
    words.notAllowed('leave', people),
    words.notAllowed('merge', [alice]),
    words.notAllowed('report', [runner, alice]),
    words.notAllowed(
      'queue',
      Array.from({ length: 101 }, (_, i) => did(`p${i}`.replace(/[0189]/g, 'x'))),
    ),
  ],
  'signed-out': [words.signedOut('queue', people), words.signedOut('leave', [alice])],
  'no-runners': [words.noRunners(repo), words.noRunners(repo, branch), words.noRunners(repo, branch, 'push')],
  'pull-not-open': [
    words.pullNotOpen('queue', 'closed', earlier(3)),
    words.pullNotOpen('queue', 'merged', earlier(3)),
    words.pullNotOpen('merge', 'closed'),
    words.memberRefused(title, { what: 'closed', at: earlier(3) }),
    words.memberRefused(title, { what: 'merged' }),
  ],
  draft: [words.isDraft('queue'), words.isDraft('merge'), words.memberRefused(title, { what: 'draft' })],
  'already-queued': [words.alreadyQueued(8, 12)],
  'not-queued': [
    words.notQueued({ what: 'ejected', at: earlier(3) }),
    words.notQueued({ what: 'left', at: earlier(3) }),
    words.notQueued({ what: 'closed' }),
    words.notQueued({ what: 'landed', at: earlier(3) }),
    words.notQueued(),
    words.memberRefused(title, { what: 'not-queued' }),
    words.memberRefused(title, { what: 'not-queued', last: { what: 'ejected', at: earlier(3) } }),
    words.memberRefused(title, { what: 'not-queued', last: { what: 'left', at: earlier(3) } }),
    words.memberRefused(title, { what: 'other-branch', queuedFor: 'release/1.0', branch }),
  ],
  conflict: [
    words.memberRefused(title, { what: 'conflict', head, parent: base, files: ['a.ts', 'b.ts'] }),
    words.memberRefused(title, { what: 'conflict', head, parent: base, files: [] }),
    words.notMergeable(
      'queue',
      { of: 'merge', code: 'unrelated', message: 'The two branches have no history in common.', passing: false },
      { branch, repo },
    ),
    words.conflict('queue', conflictParts),
    words.conflict('merge', conflictParts),
    words.conflict('queue', { ...conflictParts, files: Array.from({ length: 100 }, (_, i) => `src/a-file-that-conflicts-${i}.ts`) }),
    words.conflict('queue', { ...conflictParts, files: [], more: 0 }),
  ],
  'checks-failed': [
    words.checksFailed({ workflows: ['check', 'test'], head, branch }),
    words.checksMissing(branch, tip, [
      { workflow: 'check', status: 'running' },
      { workflow: 'test', status: 'none' },
    ]),
  ],
  'queue-only': [words.queueOnly(branch), words.queueOnly(branch, 'push'), words.queueOnly(branch, 'commit')],
  'not-delegated': [
    words.notDelegated('queue', alice, true),
    words.notDelegated('queue', alice, false),
    words.notDelegated('land', alice, false, { delegation: { state: 'never' }, settingsUrl }),
    words.notDelegated('merge', alice, true, { delegation: { state: 'withdrawn', at: earlier(4) }, settingsUrl }),
    words.notDelegated('push', alice, false, { delegation: { state: 'lost', at: earlier(4), why: 'revoked' }, settingsUrl }),
    words.notDelegated('push', alice, false, { delegation: { state: 'lost', at: earlier(4), why: 'expired' } }),
    words.notDelegated('commit', alice, false, { delegation: { state: 'lost', at: earlier(4), why: 'moved' } }),
  ],
  'wrong-gateway': [words.wrongGateway('push', repo, 'did:web:other.example')],
  'not-lander': [words.notLander(carol, runner), words.notLander(carol, undefined)],
  clock: [writing.clocksApart('commit', 'pds.example'), words.clockApart('queue', 'pds.example', -95_000)],
  'branch-moved': [
    writing.tooBusy('push', repo),
    words.branchMoved(branch, tip),
    words.refMoved('land', 'refs/heads/main', { old: base, now: tip }),
    words.refMoved('land', 'refs/heads/main', { old: base, now: null }),
    words.refMoved('push', 'refs/heads/main', { old: base, now: tip }),
    words.refMoved('push', 'refs/heads/main', { old: null, now: tip }),
    words.refMoved('push', 'refs/tags/v1', { old: base, now: null }),
  ],
  'head-moved': [
    words.headMoved('queue', head),
    words.retargeted('release/1.0'),
    words.memberRefused(title, { what: 'head-moved', head }),
    words.memberRefused(title, { what: 'head-gone' }),
    words.memberRefused(title, { what: 'changed', branch }),
  ],
  'not-a-batch': [words.notABatch('Its second commit is not the squash of a queued pull.'), ...batchFaults.map(words.batchRefused)],
  'force-refused': forceFaults.flatMap(fault => [
    words.forceRefused('push', 'refs/heads/release/1.0', 'force', fault),
    words.forceRefused('push', 'refs/heads/release/1.0', 'delete', fault),
  ]),
  'tree-differs': [words.memberRefused(title, { what: 'tree-differs', commit: tip, head, parent: base })],
  'nothing-to-land': [words.nothingToLand('merge', branch, tip), words.memberRefused(title, { what: 'empty', commit: tip, parent: base })],
  'requeue-limit': [words.requeueLimit()],
  'spaces-unsupported': [words.spacesUnsupported('pds.example')],
  'upstream-failed': [
    writing.serverFailed('push', 'pds.example', 'silent', true),
    writing.serverFailed('merge', 'pds.example', 'unclear', false),
    writing.repositoryUnreadable('merge', repo, { message: 'A pack is broken.' }),
    words.notMergeable('queue', { of: 'target', code: 'bad-ref', message: '"main" is listed twice.', passing: false }, { branch, repo }),
    words.notMergeable('queue', { of: 'head', code: 'failed', message: 'git could not index a pack.', passing: true }, { branch, repo }),
    words.notMergeable('queue', { of: 'head', code: 'bad-pack', message: 'A pack is corrupt.', passing: false }, { branch, repo }),
    words.upstreamFailed('queue', 'pds.example', 'silent', true),
    words.upstreamFailed('leave', 'pds.example', 'refused', true),
    words.upstreamFailed('queue', 'pds.example', 'garbage', true),
    words.upstreamFailed('queue', 'pds.example', 'silent', false),
    words.upstreamFailed('queue', 'pds.example', 'unreachable', true),
    words.upstreamFailed('leave', 'pds.example', 'unclear', false),
    words.notKnown('land', 'the checks at the tip'),
    words.memberRefused(title, { what: 'unread', message: 'The head could not be fetched.' }),
  ],
  'too-large': [
    words.notMergeable('queue', { of: 'merge', code: 'too-large', message: 'It holds too much.', passing: false }, { branch, repo }),
    words.tooLarge('the pack', '61 MB', '50 MB'),
  ],
  'rate-limited': [writing.serverLimits('push', 'pds.example', 4 * MINUTE), words.rateLimited(4 * MINUTE)],
  'invalid-request': [
    writing.noMessage('commit'),
    writing.gitRefused('commit', { code: 'bad-path', message: 'No commit can hold the path .git/config.' }),
  ],
}

export const audits: Samples<string, words.Phrase> = {
  written: [
    words.writtenAs('owner'),
    words.writtenAs('collaborator'),
    words.writtenAs('lander'),
    words.writtenAs('batch', 1),
    words.writtenAs('batch', 2),
    words.writtenAs('spent'),
    words.takenFromIndex(['the checks', 'the states of pulls']) ?? [],
  ],
  refused: [words.queueOnly(branch, 'push'), ...(refusals['not-delegated'] ?? []), ...refusals['not-a-batch'].slice(0, 1)].map(
    words.refusedAs,
  ),
}
