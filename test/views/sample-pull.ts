import { type BoxParts, boxTones, boxWords } from '../../src/queue/words/box.ts'
import { changeCosts, changeLabels, changeQuestion } from '../../src/queue/words/changing.ts'
import { leaveWords } from '../../src/queue/words/leave.ts'
import { say } from '../../src/queue/words/phrase.ts'
import * as refusals from '../../src/queue/words/refusals.ts'
import { standingWords, whyWords } from '../../src/queue/words/standing.ts'
import { timelineWords } from '../../src/queue/words/timeline.ts'
import type { BoxModel, PullPage } from '../../src/views/models.ts'
import { alice, bob, carol, commits, frame, gardener, hostile, minutesAgo, nameless, now, orchard, pull, runner } from './sample.ts'

const people = [alice.did, bob.did, gardener.did]

/** Every state of the merge box, by the rules' own words. */
export const boxes: readonly BoxParts[] = [
  { key: 'merged', branch: 'main', commit: commits.batch, by: runner.did, size: 3, checked: true, queuedBy: carol.did },
  { key: 'merged-later', branch: 'main', commit: commits.batch, by: runner.did, later: 2, head: 'row-labels' },
  { key: 'merged-not-there', branch: 'main', commit: commits.batch, by: carol.did, owner: alice.did },
  { key: 'closed', by: carol.did },
  { key: 'draft', author: alice.did },
  { key: 'landing', branch: 'main', size: 3, by: runner.did, tip: commits.batch },
  { key: 'in-batch', size: 3, position: 2, branch: 'main', base: commits.tip, passed: 2, of: 4, reused: 0, running: ['test', 'e2e'] },
  { key: 'in-ahead', size: 2, under: 3 },
  { key: 'queued', position: 8, length: 12, preflights: [], why: whyWords({ key: 'next', depth: 2 }) },
  {
    key: 'queued',
    position: 4,
    length: 12,
    preflights: ['check'],
    why: whyWords({ key: 'flight-head', names: ['check'], behind: true, since: minutesAgo(2) }),
  },
  { key: 'queued-stranded', position: 3, length: 5, since: minutesAgo(142), now, owner: alice.did, isOwner: false },
  { key: 'ejected', reason: 'test failed', says: say`It failed alone, at ${{ code: 'f04e2a6' }} on main at ${{ code: 'b90e7d3' }}.` },
  { key: 'conflict', branch: 'main', tip: commits.tip, files: 2 },
  { key: 'checks-failed', names: ['check'], head: commits.head, branch: 'main', tip: commits.tip },
  { key: 'head-gone', head: 'row-labels', owner: alice.did, name: 'orchard' },
  {
    key: 'unreadable',
    of: 'merge',
    code: 'unrelated',
    message: 'The two branches have no history in common.',
    passing: false,
    branch: 'main',
    owner: alice.did,
    name: 'orchard',
  },
  { key: 'gateway-owner', branch: 'main', delegation: { state: 'never' } },
  { key: 'gateway-other', owner: alice.did, delegation: { state: 'never' } },
  { key: 'no-runners', owner: alice.did, name: 'orchard', people, isOwner: false },
  { key: 'not-allowed', people },
  { key: 'signed-out', people },
  { key: 'working', branch: 'main', head: commits.head, tip: commits.tip },
  { key: 'ready', branch: 'main', tip: commits.tip, head: commits.head, checks: 'passed', position: 13, length: 13 },
  { key: 'ready-running', running: 2, of: 4, head: commits.head },
  { key: 'ready-unchecked', branch: 'main' },
]

const standings: Readonly<Record<string, string>> = {
  merged: 'merged',
  'merged-later': 'merged',
  'merged-not-there': 'merged-not-there',
  closed: 'closed',
  draft: 'draft',
  landing: 'landing',
  'in-batch': 'in-batch',
  'in-ahead': 'in-ahead',
  queued: 'queued',
  'queued-stranded': 'queued',
  ejected: 'ejected',
}

const refused = { allowed: false, refusal: refusals.notAllowed('queue', people) }

/** The box in one state, as somebody sees it who may do what that state allows. */
export function boxModel(parts: BoxParts): BoxModel {
  const words = boxWords(parts)
  const kind = standings[parts.key] ?? 'open'
  const queued = kind === 'queued' || kind === 'in-batch' || kind === 'in-ahead' || kind === 'landing'
  const place = 'length' in parts ? { position: parts.position, length: parts.length } : { position: 2, length: 12 }
  return {
    box: {
      ...words,
      tone: boxTones[words.key],
      ...(parts.key === 'closed' || queued || kind === 'merged' ? { since: minutesAgo(9) } : {}),
      ...(parts.key === 'conflict' ? { files: [{ path: 'src/orchard/row-label.ts' }, { path: 'docs/picking.md' }], moreFiles: 3 } : {}),
    },
    standing: {
      kind,
      text: queued ? standingWords({ kind: 'queued', ...place, preflights: [] }) : words.headline,
      branch: 'main',
      ...(queued ? { ...place, since: minutesAgo(9) } : {}),
      ...(parts.key === 'ejected' ? { reason: 'test failed' } : {}),
    },
    can: {
      leave: queued ? { allowed: true } : refused,
      queue:
        parts.key.startsWith('ready') || parts.key === 'ejected'
          ? { allowed: true }
          : {
              allowed: false,
              refusal: parts.key === 'signed-out' ? refusals.signedOut('queue', people) : refusals.notAllowed('queue', people),
            },
      merge: { allowed: false, refusal: refusals.notDelegated('merge', alice.did, false, { delegation: { state: 'never' } }) },
    },
    ...(queued ? { leave: leaveWords({ key: 'queued', position: place.position }) } : {}),
    flying: [1, 2, 3, 4, 5],
    lander: { account: runner, named: true },
    gateway: { delegated: false, ...(parts.key === 'gateway-owner' ? { settingsUrl: '/settings' } : {}) },
    checks: [],
    ...(parts.key === 'ejected' || parts.key === 'checks-failed'
      ? { failed: [{ workflow: 'test', status: 'failure', check: 'at://x' }] }
      : {}),
    queueOnly: true,
    unchecked: parts.key === 'ready-unchecked',
    changesChecks: parts.key === 'ready',
    isOwner: false,
  }
}

const diff = ['export function rowLabel(tree: Tree): string {', '  return `#{tree.number} <b> & "x"`', '}']

export function pullPage(box: BoxModel, more: Partial<PullPage> = {}): PullPage {
  const of = {
    ...pull('Label trees by variety as well as by number', { author: alice }),
    body: 'On a cold morning nobody wants to read **numbers**.\n\n- number first\n- names cut at eight letters 🍎\n\n```\n#112 Brae\n```',
  }
  return {
    frame: frame({
      title: 'Queued, 8th of 12 · Label trees · alice.test/orchard',
      path: '/alice.test/orchard/pulls/alice.test/3mb',
      live: '/events',
    }),
    repo: orchard,
    pull: of,
    box,
    changing: { acts: [] },
    changes: {
      ok: true,
      commits: ['Cut long names at eight letters', 'Keep sorting by number', ''].map(subject => ({
        commit: commits.head,
        subject,
        author: { name: 'Alice' },
        date: '2026-11-30T14:00:00Z',
      })),
      moreCommits: true,
      files: [
        {
          path: 'src/orchard/row-label.ts',
          change: 'modified',
          binary: false,
          additions: 2,
          deletions: 1,
          hunks: [
            {
              header: '@@ -1,3 +1,4 @@ export function rowLabel',
              lines: diff.flatMap((text, at) => [
                { kind: ' ', old: at + 1, new: at + 1, text },
                { kind: '+', new: at + 9, text },
                { kind: '-', old: at + 9, text, noNewline: true },
              ]),
            },
          ],
        },
        {
          path: 'tests/fixtures/orchard-of-500-trees.json',
          change: 'added',
          binary: false,
          additions: 4012,
          deletions: 3988,
          folded: 'large',
        },
        { path: 'img/pear.png', oldPath: 'img/apple.png', change: 'renamed', binary: true, additions: 0, deletions: 0, folded: 'binary' },
        { path: 'run.sh', change: 'mode', binary: false, additions: 0, deletions: 0, hunks: [] },
      ],
      totals: { files: 120, additions: 4035, deletions: 3991, exact: true },
    },
    mayRerun: true,
    checks: [
      {
        uri: 'at://x/y/1',
        runner,
        workflow: 'check',
        status: 'success',
        commit: commits.head,
        baseCommit: commits.tip,
        preflight: true,
        createdAt: minutesAgo(30),
        startedAt: minutesAgo(30),
        finishedAt: minutesAgo(28.8),
      },
      {
        uri: 'at://x/y/2',
        runner,
        workflow: 'docs',
        status: 'error',
        verdict: 'timeout',
        commit: commits.head,
        createdAt: minutesAgo(30),
        isolated: false,
        summary: 'out of time',
      },
    ],
    timeline: [
      { at: minutesAgo(2900), ...timelineWords({ key: 'opened', by: alice.did, head: 'row-labels' }) },
      { at: minutesAgo(270), ...timelineWords({ key: 'queued', by: bob.did, again: false }), seenAt: minutesAgo(9) },
      { says: say`Queued, 8th of 12` },
    ],
    news: say`Last change at ${{ time: minutesAgo(5), form: 'clock' }}: a batch landed.`,
    ...more,
  }
}

/** A pull whose author typed everything they could think of. */
export function hostilePull(): PullPage {
  const state = boxes.find(each => each.key === 'ejected')
  const box = boxModel(state ?? { key: 'closed' })
  const all = Object.values(hostile).join('\n\n')
  const calm = pullPage(box)
  return {
    ...calm,
    repo: { ...orchard, owner: gardener },
    pull: {
      ...pull(hostile.long, {
        author: nameless,
        branch: hostile.attribute,
        head: { repo: 'x', branch: hostile.name, commit: commits.head },
      }),
      body: `# ${all}\n\n[x](javascript:alert(1)) ![y](https://example.com/y.png)\n\n<div style="x" onclick="y" hx-get="/z">z</div>`,
    },
    box: {
      ...box,
      box: { ...box.box, headline: hostile.long, says: hostile.script, files: Object.values(hostile).map(path => ({ path })) },
      failed: [{ workflow: hostile.attribute, status: hostile.script, check: 'x' }],
      refused: { code: hostile.attribute, message: hostile.script, advice: hostile.long },
      leave: { question: hostile.attribute, beside: hostile.attribute },
      can: { ...box.can, leave: { allowed: true } },
    },
    changing: {
      acts: [
        { act: 'close', path: 'close', label: hostile.attribute, question: { headline: hostile.attribute, says: hostile.script } },
        { act: 'ready', path: 'ready', label: hostile.script },
      ],
      costs: hostile.script,
      right: { says: hostile.script, host: hostile.name, href: '/login/start', refused: { code: 'denied', message: hostile.script } },
    },
    changes: {
      ok: true,
      commits: Object.values(hostile).map(subject => ({ commit: commits.head, subject, author: { name: subject }, date: subject })),
      moreCommits: false,
      files: Object.values(hostile).map(path => ({
        path,
        oldPath: path,
        change: 'renamed',
        binary: false,
        additions: 1,
        deletions: 1,
        hunks: [{ header: path, lines: [{ kind: '+', new: 1, text: path }] }],
      })),
      totals: { files: 10, additions: 10, deletions: 10, exact: false },
    },
    mayRerun: true,
    checks: [
      {
        uri: 'x',
        runner: nameless,
        workflow: hostile.name,
        status: hostile.script,
        commit: commits.head,
        createdAt: 'never',
        summary: hostile.attribute,
      },
    ],
    timeline: Object.values(hostile).map(says => ({ at: minutesAgo(1), tone: says, says })),
  }
}

/** What an author may do to a pull that is queued. */
export const changing: PullPage['changing'] = {
  acts: [
    { act: 'draft', path: 'draft', label: changeLabels.draft, question: changeQuestion('draft', { key: 'queued', position: 8 }) },
    { act: 'close', path: 'close', label: changeLabels.close, question: changeQuestion('close', { key: 'queued', position: 8 }) },
  ],
  costs: changeCosts(true, true),
}
