import { healthWords } from '../../src/queue/words/health.ts'
import { healthLabels } from '../../src/queue/words/labels.ts'
import { liveWords } from '../../src/queue/words/pages.ts'
import { say, who } from '../../src/queue/words/phrase.ts'
import { standingWords, whyWords } from '../../src/queue/words/standing.ts'
import type { CheckLine, EntryLine, PullLine, QueuePage } from '../../src/views/models.ts'
import { alice, bob, carol, commits, frame, gardener, hostile, minutesAgo, nameless, now, orchard, pull, runner } from './sample.ts'

export function entry(of: PullLine, position: number, length: number, more: Partial<EntryLine> = {}): EntryLine {
  const preflights = position === 4 ? ['check'] : []
  return {
    pull: of,
    position,
    key: of.uri.slice(-13),
    queuedBy: of.author,
    queuedAt: minutesAgo(9),
    standing: {
      kind: 'queued',
      text: standingWords({ kind: 'queued', position, length, preflights }),
      branch: 'main',
      position,
      length,
      since: minutesAgo(9),
      why:
        preflights.length > 0
          ? whyWords({ key: 'flight-head', names: ['check'], behind: true, since: minutesAgo(2) })
          : whyWords({ key: 'next', depth: 2 }),
      preflights: preflights.map(name => ({ name })),
      expected: { from: now + 30 * 60_000, to: now + 38 * 60_000, basis: 'from the last 20 batches that passed' },
    },
    preflights: [{ name: 'check', status: position === 4 ? 'running' : 'success' }],
    ...more,
  }
}

function check(workflow: string, status: string, more: Partial<CheckLine> = {}): CheckLine {
  return {
    uri: `at://${runner.did}/dev.knotless.check/queue:${workflow}`,
    runner,
    workflow,
    status,
    commit: commits.batch,
    baseCommit: commits.tip,
    createdAt: minutesAgo(4),
    startedAt: minutesAgo(4),
    ...(status === 'running' ? {} : { finishedAt: minutesAgo(2.8) }),
    ...more,
  }
}

const titles = [
  hostile.arabic,
  'CSV import: accept semicolons as separators',
  'Label trees by variety as well as by number, so that two pickers in the same row can tell the Braeburn from the Jonagold without walking back to the shed',
  'Add <marquee> to the welcome page & see what breaks',
  'Bump vitest from 4.1.0 to 5.0.2',
  'Rename OrchardLayoutSpacingCalculatorConfigurationProviderFactory to Spacing',
]

/** A busy queue: one batch being checked, one ahead, six that wait. */
export function busyQueue(): QueuePage {
  const inBatch = [
    pull('Harvest dates: respect the grower’s time zone'),
    pull('Replace the CSV importer', { author: carol }),
    pull('🍐 Draw espaliers', { author: alice }),
  ]
  const ahead = [pull('Cache the frost forecast for an hour', { author: gardener })]
  const length = inBatch.length + ahead.length + titles.length
  const waiting = titles.map((title, at) => pull(title, { author: [bob, carol, alice, gardener, nameless, carol][at] ?? bob }))
  return {
    frame: frame({ live: '/alice.test/orchard/queue/main/events', alternateJson: '/xrpc/dev.knotless.getQueue?repo=x' }),
    repo: orchard,
    queue: {
      branch: 'main',
      tip: commits.tip,
      length,
      queued: waiting.map((each, at) =>
        entry(
          each,
          at + 5,
          length,
          at === 3 ? { cue: { kind: 'moved', from: 10 }, queuedBy: alice } : at === 5 ? { cue: { kind: 'new' } } : {},
        ),
      ),
      batches: [
        {
          state: 'checking',
          base: commits.tip,
          tip: commits.batch,
          since: minutesAgo(4),
          members: inBatch.map(each => ({
            pull: each.uri,
            title: each.title,
            author: each.author,
            head: commits.head,
            commit: commits.batch,
          })),
          checks: [
            check('check', 'success'),
            check('docs', 'failure'),
            check('test', 'running', { usual: { from: 500, typical: 540, to: 600 } }),
            check('e2e', 'queued'),
            check('lint', 'skipped'),
          ],
          expected: { from: now + 8 * 60_000, to: now + 10 * 60_000 },
          says: '2 of 4 workflows have passed; test is running.',
        },
        {
          state: 'ahead',
          base: commits.batch,
          tip: 'd7a8844000000000000000000000000000000000',
          since: minutesAgo(1),
          members: ahead.map(each => ({
            pull: each.uri,
            title: each.title,
            author: each.author,
            head: commits.head,
            commit: commits.batch,
          })),
          checks: [],
          expected: { none: 'No estimate: no batch has passed here yet.' },
          says: 'It stands on a batch that is still being checked, and lands only if that one does.',
        },
      ],
      ejected: [
        {
          pull: pull('Migrate the tree store to SQLite', { author: carol }),
          by: runner,
          at: minutesAgo(52),
          reason: 'test failed',
          says: say`It failed alone, at ${{ code: '4aa91ce' }} on main.`,
          kind: 'checks',
          commit: commits.head,
          checks: [{ workflow: 'test', status: 'failure', check: 'at://x' }],
          decision: {
            uri: `at://${runner.did}/dev.knotless.decision/a`,
            verdict: 'reject',
            says: '“2 is not 3” failed, which no known flake explains.',
            evidence: [{ uri: `at://${runner.did}/dev.knotless.check/a` }],
          },
        },
      ],
      landed: [0, 1].map(at => ({
        tip: `${at}c1d2e9${commits.tip.slice(7)}`,
        at: minutesAgo(5 + at * 47),
        by: runner,
        members: inBatch.slice(at).map(each => ({ pull: each.uri, title: each.title, author: each.author, commit: commits.batch })),
      })),
      health: {
        ...healthWords({ kind: 'busy', waiting: 6, size: 3, since: minutesAgo(4), ahead: 1, lastLanding: minutesAgo(5) }),
        tone: healthLabels.busy.tone,
      },
      lander: { account: runner, named: true, lastSeen: minutesAgo(0.3), batch: 8, depth: 2, wait: 0, executor: 'docker' },
      stats: [
        { days: 1, landed: 13, medianMinutes: 26, p95Minutes: 51, batchesPassed: 5, batchesEnded: 7 },
        { days: 7, landed: 96, medianMinutes: 24, p95Minutes: 57, batchesPassed: 41, batchesEnded: 48 },
      ],
      unchecked: false,
      queueOnly: true,
      version: 1841,
    },
    activity: [
      {
        at: minutesAgo(1),
        says: say`${who(carol.did)} queued`,
        about: { title: titles[5] ?? '', pull: waiting[5]?.uri ?? '' },
        record: waiting[5]?.uri ?? '',
      },
      {
        at: minutesAgo(4),
        tone: 'accent',
        says: say`${who(runner.did)} built a batch of 3`,
        record: `at://${runner.did}/dev.knotless.check/a`,
        batch: commits.batch,
      },
    ],
    yours: liveWords({ key: 'yours', pulls: [{ title: { title: 'Mine', pull: waiting[2]?.uri ?? '' }, position: 7, length }], more: 0 }),
    estimates: ['Landing times come from the last 20 batches that passed.'],
    tipAt: minutesAgo(5),
    branches: [
      { branch: 'main', length },
      { branch: 'release/1.0', length: 0 },
    ],
    filter: { q: '', author: '', mine: false },
    authors: [alice, bob, carol, gardener, nameless],
    waiting: { all: 6, matching: 6 },
    paging: { from: 1, to: 6, of: 6 },
    news: liveWords({ key: 'news', at: minutesAgo(1), now, sentence: say`${who(carol.did)} queued a pull.`, waiting: 6 }),
    may: { queue: true, leave: true },
  }
}

/** Nothing queued, nothing landed, nobody seen; a stranger looks, with scripts off. */
export function emptyQueue(): QueuePage {
  const busy = busyQueue()
  const { viewer: _, ...stranger } = busy.frame
  return {
    ...busy,
    frame: { ...stranger, every: 30 },
    queue: {
      branch: 'release/1.0',
      tip: commits.tip,
      length: 0,
      queued: [],
      batches: [],
      ejected: [],
      landed: [],
      health: {
        ...healthWords({ kind: 'never-lander', lander: runner.did, owner: alice.did, isOwner: false, queued: 0 }),
        tone: healthLabels['never-lander'].tone,
      },
      unchecked: true,
      queueOnly: false,
      version: 1,
    },
    branches: [{ branch: 'release/1.0', length: 0 }],
    authors: [],
    waiting: { all: 0, matching: 0 },
    paging: { from: 0, to: 0, of: 0 },
    activity: [],
    yours: undefined,
    estimates: [],
    news: undefined,
    may: { queue: false, leave: false },
  }
}

/** Everything that people name is hostile. */
export function hostileQueue(): QueuePage {
  const busy = busyQueue()
  const bad = Object.values(hostile).map(title =>
    pull(title, { author: { did: nameless.did, handle: undefined }, branch: hostile.attribute }),
  )
  const length = bad.length
  return {
    ...busy,
    frame: frame({
      ...busy.frame,
      title: Object.values(hostile).join(' '),
      description: Object.values(hostile).join(' '),
      path: `/a/b/queue/main?q=${encodeURIComponent(hostile.attribute)}`,
    }),
    repo: { ...orchard, owner: gardener, name: 'a-very-long-repository-name-for-a-very-small-greenhouse', defaultBranch: hostile.script },
    queue: {
      ...busy.queue,
      branch: hostile.attribute,
      length,
      queued: bad.map((each, at) =>
        entry(each, at + 1, length, {
          standing: {
            ...entry(each, at + 1, length).standing,
            why: hostile.script,
            preflights: [{ name: hostile.name }],
            backdated: { keyTime: minutesAgo(90), seenAt: minutesAgo(3) },
            queuedAtHead: commits.tip,
          },
        }),
      ),
      batches: busy.queue.batches.map(batch => ({
        ...batch,
        says: hostile.script,
        members: bad.map(each => ({ pull: each.uri, title: each.title, author: each.author, commit: commits.tip })),
        checks: [check(hostile.attribute, 'surprise'), check(hostile.name, 'error', { verdict: hostile.script })],
      })),
      ejected: bad.map(each => ({
        pull: each,
        by: nameless,
        at: 'not a time',
        reason: hostile.long,
        says: hostile.attribute,
        kind: 'x',
        checks: [{ workflow: hostile.script, status: 'failure', check: 'x' }],
        decision: { uri: hostile.attribute, verdict: hostile.script, says: hostile.attribute, evidence: [{ uri: hostile.script }] },
        position: 3,
        length: 7,
      })),
      landed: [
        {
          tip: commits.batch,
          at: minutesAgo(2),
          by: nameless,
          members: bad.map(each => ({ pull: each.uri, title: each.title, commit: commits.tip })),
        },
      ],
      health: { kind: hostile.script, tone: hostile.attribute, bold: hostile.script, says: hostile.attribute, advice: hostile.long },
    },
    branches: [hostile.attribute, hostile.name].map(branch => ({ branch, length: 1 })),
    filter: { q: hostile.attribute, author: hostile.attribute, mine: true },
    authors: [{ did: hostile.attribute, handle: hostile.script }],
    waiting: { all: length, matching: length },
    paging: { from: 1, to: 50, of: 1000, earlier: '/x', later: '/y' },
    activity: bad.map(each => ({
      at: 'x',
      tone: hostile.attribute,
      says: hostile.script,
      about: { title: each.title, pull: each.uri },
      record: hostile.attribute,
      batch: hostile.attribute,
    })),
    yours: hostile.script,
    estimates: [hostile.attribute],
    news: hostile.script,
  }
}
