/** Writes the gallery's records, each into the account of whoever may write it, and each with a key of the time that it tells of. */
import { createHash } from 'node:crypto'
import { pushRefs } from '../../git/push.ts'
import { tidAt } from '../../queue/tid.ts'
import { type EjectionParts, ejectionWords } from '../../queue/words/ejection.ts'
import { type Names, plain } from '../../queue/words/phrase.ts'
import type { DevAccount, RecordValue, Written } from '../account.ts'
import { refsAccount } from '../refs-account.ts'
import type { GalleryHistory } from './history.ts'
import type { Repo } from './scene.ts'

const MINUTE = 60_000

/** A pull as records about it need it. */
export interface Pulled {
  uri: string
  head: string
  repo: Repo
}

/** How a repository is made. */
export interface RepoPlan {
  owner: DevAccount
  name: string
  collaborators?: readonly DevAccount[]
  runners?: readonly DevAccount[]
  /** Branches that take pulls only through the queue. */
  queueOnly?: readonly string[]
  /** More branches, by name and commit; main and the heads are there in any case. */
  branches?: Readonly<Record<string, string>>
}

/** Writes records. Times are minutes before now. */
export interface Pen {
  repo(plan: RepoPlan): Promise<Repo>
  /** A pull, opened `ago` minutes before now. */
  pull(
    repo: Repo,
    by: DevAccount,
    title: string,
    head: string,
    more?: { onto?: string; ago?: number; draft?: boolean; from?: string },
  ): Promise<Pulled>
  queue(by: DevAccount, pull: Pulled, state: 'queued' | 'left', ago: number, more?: RecordValue): Promise<Written>
  state(by: DevAccount, pull: Pulled, state: 'open' | 'closed' | 'merged', ago: number, more?: RecordValue): Promise<Written>
  /** As the runner words it. `kind` and the rest are the record's own. */
  ejected(by: DevAccount, pull: Pulled, why: EjectionParts | undefined, ago: number, more?: RecordValue): Promise<Written>
  /** A pull's own run, on its head merged with `base`; it began `ago` minutes before now and took one minute. */
  check(by: DevAccount, pull: Pulled, workflow: string, status: string, ago: number, more: RecordValue): Promise<Written>
  /** The runs of a batch, whose commits are made up unless given, filed `ago` minutes before now, by workflow and status; they took `took` minutes, else one. Gives its tip, and its runs by workflow. */
  batch(
    by: DevAccount,
    pulls: readonly Pulled[],
    runs: Readonly<Record<string, string | RecordValue>>,
    at: { base: string; ago: number; branch?: string; tip?: string; took?: number; commits?: readonly string[] },
  ): Promise<{ tip: string; checks: Record<string, Written> }>
  /** A lander's own record about a repository. */
  lander(by: DevAccount, repo: Repo, more?: RecordValue): Promise<void>
  /** Makes a repository's refs record one that nobody can take: it names a branch twice. */
  spoil(repo: Repo): Promise<void>
  /** So many minutes before now, as records say it, and as the key of a record. */
  ago(minutes: number): string
  key(minutes: number): string
}

/** A commit id of nothing that is anywhere. */
export function madeUp(name: string): string {
  return createHash('sha1').update(name).digest('hex')
}

/** `now` is when all of it is made, in milliseconds since 1970. */
export function createPen(ctx: { history: GalleryHistory; now: number; names: Names }): Pen {
  const { history, now } = ctx
  let last = 0
  const ago = (minutes: number) => new Date(now - minutes * MINUTE).toISOString()
  /** Keys of one minute come in the order in which they were asked for. */
  const key = (minutes: number) => tidAt(now - minutes * MINUTE + ++last / 1000, 7)
  const times = (status: string, minutes: number, took = 1) => ({
    createdAt: ago(minutes),
    ...(status === 'queued' ? {} : { startedAt: ago(minutes) }),
    ...(status === 'queued' || status === 'running' ? {} : { finishedAt: ago(Math.max(0, minutes - took)) }),
  })
  const run = (repo: Repo, branch: string) => ({
    repo: repo.uri,
    ref: `refs/heads/${branch}`,
    generation: 1,
    trusted: true,
    isolated: true,
  })
  const change =
    (collection: string) =>
    (by: DevAccount, pull: Pulled, state: string, minutes: number, more: RecordValue = {}) =>
      by.create(collection, { repo: pull.repo.uri, subject: pull.uri, state, createdAt: ago(minutes), ...more }, key(minutes))
  const queue = change('dev.knotless.queue')

  return {
    ago,
    key,
    queue,
    state: change('dev.knotless.state'),
    async repo({ owner, name, collaborators = [], runners = [], queueOnly = [], branches = {} }) {
      const refs = refsAccount(owner, name)
      await owner.put('dev.knotless.repo', name, {
        description: 'A repository of the gallery.',
        defaultBranch: 'main',
        collaborators: collaborators.map(({ did }) => ({ did })),
        runners: runners.map(({ did }) => ({ did })),
        protections: queueOnly.map(branch => ({ branch, queue: true })),
        createdAt: ago(20_000),
      })
      const all = { ...Object.fromEntries(history.branches), ...branches }
      const updates = Object.entries(all).map(([branch, commit]) => ({ name: `refs/heads/${branch}`, commit }))
      const done = await pushRefs({ gitDir: history.gitDir, updates, account: refs, repo: refs.repo, now: () => new Date(now) })
      if (!done.ok) throw new Error(`pushing ${name}: ${done.message}`)
      return { uri: refs.repo, name, owner }
    },
    async pull(repo, by, title, head, { onto = 'main', ago: minutes = 2_000, draft, from } = {}) {
      const record = { repo: repo.uri, branch: onto, head: { repo: from ?? repo.uri, branch: head }, title, createdAt: ago(minutes) }
      const { uri } = await by.create('dev.knotless.pull', { ...record, ...(draft === undefined ? {} : { draft }) }, key(minutes))
      return { uri, head: history.branches.get(head) ?? madeUp(head), repo }
    },
    ejected(by, pull, why, minutes, more = {}) {
      const { reason, says } = why === undefined ? { reason: [], says: [] } : ejectionWords(why)
      const [headline = '', sentence = ''] = [reason, says].map(phrase => plain(phrase, now, ctx.names).trim())
      const worded = why === undefined ? {} : { reason: `${headline}. ${sentence}`.trim() }
      const record = {
        repo: pull.repo.uri,
        subject: pull.uri,
        state: 'ejected',
        commit: pull.head,
        createdAt: ago(minutes),
        ...worded,
        ...more,
      }
      return by.create('dev.knotless.queue', record, key(minutes))
    },
    check(by, pull, workflow, status, minutes, more) {
      const record = { ...run(pull.repo, 'main'), workflow, status, pull: pull.uri, commit: pull.head, ...times(status, minutes), ...more }
      return by.create('dev.knotless.check', record, key(minutes))
    },
    async batch(by, pulls, runs, { base, ago: minutes, branch = 'main', tip, took = 1, commits = [] }) {
      const [first] = pulls
      if (first === undefined) throw new Error('a batch of none')
      const name = pulls.map(pull => pull.head).join()
      const members = pulls.map((pull, at) => ({
        pull: pull.uri,
        head: pull.head,
        commit: commits[at] ?? madeUp(`${first.repo.name} ${branch} ${name} ${at}`),
      }))
      const top = members.at(-1)
      if (top !== undefined && tip !== undefined) top.commit = tip
      const about = { commit: top?.commit ?? '', baseCommit: base, batch: members, of: Object.keys(runs).length }
      const checks: Record<string, Written> = {}
      for (const [workflow, said] of Object.entries(runs)) {
        const more = typeof said === 'string' ? { status: said } : said
        const record = { ...run(first.repo, branch), workflow, ...about, ...times(String(more.status), minutes, took), ...more }
        checks[workflow] = await by.create('dev.knotless.check', record, key(minutes))
      }
      return { tip: about.commit, checks }
    },
    async spoil({ owner, name }) {
      const found = await owner.get('dev.knotless.refs', name)
      if (found === undefined || !Array.isArray(found.value.refs)) throw new Error(`${name} has no refs`)
      await owner.put('dev.knotless.refs', name, { ...found.value, refs: [...found.value.refs, ...found.value.refs.slice(0, 1)] })
    },
    async lander(by, repo, more = {}) {
      const lease = { instance: 'gallery', until: new Date(now + 365 * 24 * 60 * MINUTE).toISOString() }
      const settings = { batch: 8, depth: 2, executor: 'docker', version: '0.1.0', git: '2.39.5' }
      await by.put('dev.knotless.lander', repo.name, {
        repo: repo.uri,
        ...settings,
        startedAt: ago(3_000),
        createdAt: ago(3_000),
        lease,
        ...more,
      })
    },
  }
}
