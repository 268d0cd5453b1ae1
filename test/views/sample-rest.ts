import { changeLabels, changeQuestion } from '../../src/queue/words/changing.ts'
import { delegationSays } from '../../src/queue/words/delegation.ts'
import { healthWords } from '../../src/queue/words/health.ts'
import { meaningsOfLabels } from '../../src/queue/words/help.ts'
import { healthLabels } from '../../src/queue/words/labels.ts'
import { leavePageWords, stayWords } from '../../src/queue/words/leave.ts'
import { say } from '../../src/queue/words/phrase.ts'
import { recordCounts, recordKind, recordPlace } from '../../src/queue/words/record-page.ts'
import * as refusals from '../../src/queue/words/refusals.ts'
import { standingWords } from '../../src/queue/words/standing.ts'
import type { HomePage, QueueLane, RepositoryPage, StandingWords } from '../../src/views/models.ts'
import type { PageModels } from '../../src/views/render.ts'
import { alice, bob, carol, commits, frame, gardener, hostile, minutesAgo, nameless, now, orchard, pull, runner } from './sample.ts'
import { batchPages } from './sample-batch.ts'
import { checkPages } from './sample-check.ts'
import { boxes, boxModel, changing, hostilePull, pullPage } from './sample-pull.ts'
import { busyQueue, emptyQueue, hostileQueue } from './sample-queue.ts'
import { repoSettingsPages } from './sample-repo-settings.ts'
import { settingsPages } from './sample-settings.ts'
import { statsPages } from './sample-stats.ts'

function lane(branch: string, more: Partial<QueueLane> = {}): QueueLane {
  return {
    branch,
    length: 12,
    batches: 1,
    health: {
      ...healthWords({ kind: 'checking', waiting: 9, size: 3, since: minutesAgo(4), lastLanding: minutesAgo(5) }),
      tone: 'success',
    },
    lastLanding: minutesAgo(5),
    isDefault: branch === 'main',
    queueOnly: branch === 'main',
    ...more,
  }
}

const stranded = lane('main', {
  length: 5,
  health: {
    ...healthWords({ kind: 'no-lander', since: minutesAgo(142), now, queued: 5, owner: bob.did, isOwner: false }),
    tone: healthLabels['no-lander'].tone,
  },
})
const byHand = lane('main', {
  length: 0,
  batches: 0,
  lastLanding: undefined,
  health: { ...healthWords({ kind: 'no-runners', owner: gardener.did, name: 'greenhouse', isOwner: false }), tone: 'neutral' },
})

export function homePage(): HomePage {
  const description = 'Plans an orchard: which tree goes where, when it was grafted, what it bore.'
  const line = (owner: typeof alice, name: string, queues: QueueLane[], mine = false) => ({
    uri: `at://${owner.did}/dev.knotless.repo/${name}`,
    owner,
    name,
    description,
    mine,
    queues,
  })
  return {
    frame: frame({ title: 'Repositories', description: 'Merge queues of repositories on the AT Protocol.', path: '/' }),
    q: '',
    mine: false,
    ill: false,
    counts: { all: 3, mine: 1, ill: 1 },
    repositories: [
      line(alice, 'orchard', [lane('main'), lane('release/1.0', { length: 0, batches: 0 })], true),
      line(bob, 'hedgerow', [stranded]),
      line(gardener, 'a-very-long-repository-name-for-a-very-small-greenhouse', [byHand]),
    ],
    paging: { from: 1, to: 3, of: 90, later: '/?after=3' },
  }
}

function standing(kind: string, more: Partial<StandingWords> = {}): StandingWords {
  return { kind, text: kind, branch: 'main', ...more }
}

export function repositoryPage(): RepositoryPage {
  const queued = { position: 8, length: 12, since: minutesAgo(9) }
  return {
    frame: frame({ title: 'alice.test/orchard', path: '/alice.test/orchard' }),
    repo: orchard,
    cloneUrl: 'https://queue.example/alice.test/orchard.git',
    description: 'Plans an orchard.',
    queues: [lane('main'), stranded],
    pulls: [
      { pull: pull('🍐 Draw espaliers along a wire', { author: alice }), standing: standing('in-batch', { since: minutesAgo(4) }) },
      { pull: pull('Label trees by variety', { author: alice }), standing: standing('queued', queued) },
      { pull: pull(hostile.arabic), standing: standing('queued', { ...queued, preflights: [{ name: 'check' }] }) },
      { pull: pull('Migrate the tree store', { author: carol }), standing: standing('ejected', { reason: 'test failed' }) },
      { pull: pull('Dark mode for the map 🌒', { author: gardener, draft: true }), standing: standing('draft') },
      { pull: pull('Photos of trees', { author: nameless }), standing: standing('open') },
      {
        pull: pull('Rootstocks: a table of who grows how tall'),
        standing: standing('open'),
        label: { word: 'Conflicts', icon: 'alert', tone: 'danger' },
      },
      { pull: pull('An unknown kind of standing'), standing: standing('surprise') },
    ],
    filter: { state: 'open', mine: false },
    paging: { from: 1, to: 7, of: 7 },
    collaborators: [bob, carol, gardener, nameless],
    runners: [
      { account: runner, lastSeen: minutesAgo(0.3), lands: true },
      { account: nameless, lands: false },
    ],
    gateway: { did: 'did:web:queue.example', here: true, delegated: false },
    badge: {
      href: '/alice.test/orchard/badge/main',
      says: 'main: 12 queued, healthy',
      markdown:
        '[![Merge queue of main](https://queue.example/alice.test/orchard/badge/main)](https://queue.example/alice.test/orchard/queue/main)',
    },
    movedTo: { owner: bob, name: 'orchard' },
    mirror: { says: say`Its record names ${{ code: 'refs/heads/main' }} at a commit that no pack holds.`, since: minutesAgo(30) },
    sleeping: [
      {
        uri: `at://${bob.did}/dev.knotless.queue/3zzzzzzzzzz22`,
        writer: bob,
        what: 'queued',
        at: now + 31_536_000_000,
        pull: pull('Wakes in a year'),
      },
    ],
  }
}

const leaving = { title: '🍐 Draw espaliers along a wire', pull: pull('x', { author: alice }) }

/** Every page, each under a name of its own. */
export function pages(): { [N in keyof PageModels]: Record<string, PageModels[N]> } {
  const home = homePage()
  const repository = repositoryPage()
  const thin = frame({ title: 'Log in', viewer: undefined, path: '/login?next=%2Falice.test%2Forchard' })
  const parts = { key: 'in-batch', size: 3, others: 4, ahead: true } as const
  return {
    ...repoSettingsPages(),
    stats: statsPages(),
    home: {
      home,
      'home-none': { ...home, q: hostile.attribute, repositories: [], counts: { all: 0, mine: 0 }, paging: { from: 0, to: 0, of: 0 } },
      'home-hostile': {
        ...home,
        q: hostile.script,
        repositories: home.repositories.map((each, at) => ({
          ...each,
          description: Object.values(hostile)[at] ?? hostile.long,
          name: hostile.attribute,
        })),
      },
    },
    repository: {
      repository,
      'repository-empty': {
        ...repository,
        frame: frame({ viewer: undefined }),
        description: undefined,
        queues: [],
        pulls: [],
        collaborators: [],
        runners: [],
        movedTo: undefined,
        mirror: undefined,
        sleeping: undefined,
        paging: { from: 0, to: 0, of: 0 },
        gateway: { did: 'did:web:gateway.example', here: false, delegated: true },
        filter: { state: 'closed', mine: false },
      },
      'repository-hostile': {
        ...repository,
        description: hostile.long,
        pulls: Object.values(hostile).map((title, at) => ({
          pull: { ...pull(title, { author: gardener, branch: hostile.name }), uri: `at://${gardener.did}/dev.knotless.pull/hostile-${at}` },
          standing: standing('ejected', { reason: hostile.long }),
        })),
        queues: [lane(hostile.name), lane(hostile.attribute)],
      },
    },
    queue: {
      queue: busyQueue(),
      'queue-empty': emptyQueue(),
      'queue-hostile': hostileQueue(),
      'queue-filtered': {
        ...busyQueue(),
        queue: { ...busyQueue().queue, queued: [], batches: [] },
        filter: { q: 'pear', author: '', mine: false },
      },
    },
    batch: batchPages(),
    check: checkPages(),
    pull: {
      ...Object.fromEntries(boxes.map((each, at) => [`pull-${at}-${each.key}`, pullPage(boxModel(each))])),
      'pull-refused': pullPage({
        ...boxModel({ key: 'ready', branch: 'main', tip: commits.tip, head: commits.head, checks: 'none', position: 1, length: 1 }),
        refused: refusals.upstreamFailed('queue', 'pds.example', 'silent', true),
      }),
      'pull-again': pullPage({ ...boxModel({ key: 'ejected', reason: 'made a draft', says: [] }), notice: refusals.alreadyQueued(8, 12) }),
      'pull-hostile': hostilePull(),
      'pull-unread': pullPage(boxModel({ key: 'working', branch: 'main' }), {
        changes: { ok: false, says: 'Its branch could not be read yet.' },
        changing,
        checks: [],
      }),
    },
    'confirm-leave': {
      'confirm-leave': {
        frame: frame({ title: 'Leave the queue?' }),
        repo: orchard,
        pull: leaving.pull,
        says: leavePageWords({ title: leaving.title, pull: leaving.pull.uri }, parts),
        stays: stayWords({ from: now + 8 * 60_000, to: now + 10 * 60_000 }),
      },
      'confirm-leave-refused': {
        frame: frame({ title: 'Leave the queue?' }),
        repo: orchard,
        pull: leaving.pull,
        says: '',
        refused: refusals.notQueued({ what: 'ejected', at: minutesAgo(2) }),
      },
    },
    record: {
      record: {
        frame: frame({ title: 'A change of a queue by bob.test', path: '/at/x/y/z', alternateJson: '/at/x/y/z?as=json' }),
        kind: recordKind('dev.knotless.queue'),
        says: recordPlace(bob.did, 'pds.example'),
        counts: recordCounts(true),
        account: bob,
        uri: `at://${bob.did}/dev.knotless.queue/3mb2kvjr3m22x`,
        cid: 'bafyreib2rxk3rybloqtqwbo',
        seenAt: minutesAgo(4),
        keyTime: minutesAgo(5),
        source: { host: 'pds.example', href: 'https://pds.example/xrpc/com.atproto.repo.getRecord?repo=x' },
        about: [{ word: 'Pull', title: hostile.script, href: '/alice.test/orchard/pulls/x/y' }],
        json: JSON.stringify({ state: hostile.script, says: hostile.attribute }, undefined, 2),
        cut: true,
      },
      'record-stranger': {
        frame: frame({ title: 'A change of state', path: '/at/x/y/z' }),
        kind: recordKind('dev.knotless.state'),
        says: recordPlace(nameless.did, undefined),
        counts: recordCounts(false),
        account: nameless,
        uri: hostile.long,
        cid: 'x',
        seenAt: 'never',
        about: [],
        json: hostile.long,
        cut: false,
      },
    },
    'confirm-change': {
      'confirm-close': {
        frame: frame({ title: 'Close this pull?' }),
        repo: orchard,
        pull: leaving.pull,
        change: { act: 'close', path: 'close', label: changeLabels.close, question: changeQuestion('close', parts) },
      },
      'confirm-draft-refused': {
        frame: frame({ title: 'Make this pull a draft?' }),
        repo: orchard,
        pull: leaving.pull,
        change: { act: 'draft', path: 'draft', label: changeLabels.draft },
        refused: refusals.pullNotOpen('draft', 'merged', minutesAgo(2)),
      },
    },
    login: {
      login: { frame: thin, next: '/alice.test/orchard/queue/main', nextName: 'alice.test/orchard, the queue for main' },
      'login-refused': {
        frame: thin,
        next: '/',
        handle: hostile.attribute,
        refused: { code: 'not-found', message: 'Nobody found.', advice: say`There is no account called ${hostile.attribute}.` },
      },
    },
    'login-continue': {
      'login-continue': {
        frame: thin,
        account: bob,
        host: 'pds.example',
        href: 'https://pds.example/oauth/authorize?request_uri=x&client_id=y',
        next: '/',
      },
      'delegation-continue': {
        frame: thin,
        account: alice,
        host: 'pds.example',
        href: '/settings/delegation/start',
        next: '/settings',
        asks: { says: delegationSays.asks('pds.example'), back: { href: '/settings#delegation', name: 'Back to settings' } },
      },
    },
    settings: settingsPages(),
    'not-found': {
      'not-found': { frame: frame({ title: 'Not found', path: '/nobody.test/nothing' }) },
      'not-found-inside': { frame: frame({ path: '/alice.test/orchard/frob' }), repo: orchard },
      'not-found-near': {
        frame: frame({ path: '/alice.test/pear' }),
        says: 'There is no repository alice.test/pear here.',
        near: [
          { owner: alice, name: 'orchard' },
          { owner: alice, name: hostile.attribute },
        ],
      },
      'not-found-named': {
        frame: frame({ path: `/${encodeURIComponent(hostile.script)}` }),
        says: refusals.repoNotFound(hostile.script).message,
        advice: standingWords({ kind: 'open' }),
      },
    },
    help: { help: { frame: frame({ title: 'Help', path: '/help' }), meanings: meaningsOfLabels() } },
    'my-pulls': {
      'my-pulls': {
        frame: frame({ title: 'My pulls', path: '/pulls' }),
        state: 'open',
        groups: [
          { title: 'In the queue', pulls: repository.pulls.slice(0, 3).map(each => ({ repo: orchard, ...each })) },
          {
            title: 'Turned away',
            pulls: repository.pulls.slice(3, 4).map(each => ({ repo: { owner: gardener, name: hostile.name }, ...each })),
          },
        ],
        paging: { from: 1, to: 4, later: '/pulls?cursor=3mb2' },
      },
      'my-pulls-none': { frame: frame({ title: 'My pulls', path: '/pulls' }), state: 'closed', groups: [], paging: { from: 0, to: 0 } },
    },
    error: { error: { frame: frame({ title: 'Something broke' }), id: 'e-7f3a-19c2' } },
    refused: {
      refused: {
        frame: frame({ title: 'Not done' }),
        repo: orchard,
        refused: refusals.rateLimited(4 * 60_000),
        back: { href: '/alice.test/orchard', name: 'Back to alice.test/orchard' },
      },
    },
  }
}
