/** Histories for tests: records of a made-up repository, written one after another by named accounts, a minute apart. */
import type {
  CheckRecord,
  DecisionRecord,
  GitFault,
  LanderRecord,
  MergeFault,
  MergeResult,
  PullRecord,
  QueueRecord,
  RefsRecord,
  RepoRecord,
  RepositoryFacts,
  StateRecord,
  Stored,
  TipFacts,
} from '../../src/queue/facts.ts'
import { foldRepository } from '../../src/queue/fold.ts'
import { tidAt } from '../../src/queue/tid.ts'
import type { PullView, RepositoryView } from '../../src/queue/view.ts'
import { type AtUri, alice, type Did, HEAD, iso, MINUTE, repoAt, repository, START, stored, TIP, type Time } from './made-up.ts'

export * from './made-up.ts'

/** What may be said of a record beside its fields. */
export interface Written {
  /** When it is written, in milliseconds; a minute after the record before it unless given. */
  at?: number
  /** Its key; that of its time unless given. */
  key?: string
  /** What it says of its making; its time unless given. */
  createdAt?: number
  /** When the reader first saw it; its time unless given. */
  seenAt?: number
  backfilled?: boolean
  /** The repository that it names; the history's own unless given. */
  repo?: AtUri
}

export interface Former {
  did: Did
  role: 'collaborator' | 'runner'
  until: string
  void?: boolean
}

type Extra<T> = Partial<Omit<T, 'repo' | 'createdAt'>>
type Queue = Stored<QueueRecord>
type State = Stored<StateRecord>

/** A repository of alice's, with bob and carol as collaborators and rigby as runner, whose main is at TIP. */
export class History {
  repo: ReturnType<typeof repository>
  now = START
  transferredFrom: Stored<RepoRecord> | undefined
  transferredTo: Stored<RepoRecord> | undefined
  readonly refs = new Map<string, Stored<RefsRecord>>()
  readonly pulls: Stored<PullRecord>[] = []
  readonly states: State[] = []
  readonly queue: Queue[] = []
  readonly checks: Stored<CheckRecord>[] = []
  readonly landers: Stored<LanderRecord>[] = []
  readonly decisions: Stored<DecisionRecord>[] = []
  readonly gone = new Set<string>()
  readonly merges = new Map<string, MergeResult>()
  readonly mergeFaults = new Map<string, MergeFault>()
  readonly gitFaults = new Map<string, GitFault>()
  readonly tips = new Map<string, TipFacts>()

  constructor(record: Partial<RepoRecord> = {}, owner: Did = alice, name = 'orchard') {
    this.repo = repository(owner, name, record)
    this.refsOf(owner, name, { main: TIP, topic: HEAD })
  }

  get uri(): AtUri {
    return repoAt(this.repo.did, this.repo.rkey)
  }

  /** Changes the repository's record. */
  edit(change: Partial<RepoRecord>): this {
    this.repo = { ...this.repo, cid: `${this.repo.cid}+`, value: { ...this.repo.value, ...change } }
    return this
  }

  /** Takes an account out of collaborators and runners, into `former` (HON-5), with `until` past every key there is unless given. */
  takeOut(account: Did, more: { void?: boolean; until?: string; role?: Former['role'] } = {}): this {
    const { collaborators, runners, former = [] } = this.repo.value
    const role = more.role ?? (collaborators.some(entry => entry.did === account) ? 'collaborator' : 'runner')
    const isOther = (entry: { did: string }) => entry.did !== account
    const entry = { did: account, role, until: more.until ?? this.lastKey(), ...(more.void ? { void: true } : {}) }
    return this.edit({
      collaborators: role === 'collaborator' ? collaborators.filter(isOther) : collaborators,
      runners: role === 'runner' ? runners.filter(isOther) : runners,
      former: [...former, entry],
    })
  }

  /** Moves the repository to a new owner, both records saying so; the history goes on at the new address. */
  transfer(to: Did, record: Partial<RepoRecord> = {}): this {
    const at = this.tick()
    const { collaborators, runners, former = [], protections = [] } = this.repo.value
    const old = this.edit({ transferredTo: { repo: repoAt(to, this.repo.rkey), at: tidAt(at) } }).repo
    const carried = { collaborators, runners, former, protections, transferredFrom: this.uri, createdAt: iso(at), ...record }
    this.repo = repository(to, old.rkey, carried)
    this.transferredFrom = old
    return this.refsOf(to, old.rkey, { main: TIP, topic: HEAD })
  }

  /** Sets where branches are, as a refs record of their owner says. */
  refsOf(owner: Did, name: string, branches: Record<string, string>): this {
    const repo = repoAt(owner, name)
    const value: RefsRecord = {
      $type: 'dev.knotless.refs',
      repo,
      refs: Object.entries(branches).map(([branch, at]) => ({ name: `refs/heads/${branch}`, commit: at, generation: 1 })),
      packs: [],
      updatedAt: iso(this.now),
    }
    const place = { uri: `at://${owner}/dev.knotless.refs/${name}`, did: owner, rkey: name } as const
    this.refs.set(repo, stored(place, value, { seenAt: this.now, backfilled: false }))
    return this
  }

  /** A pull of `author`; from the branch `topic` of the repository itself onto main unless said otherwise. */
  pull(author: Did, extra: Extra<PullRecord> & Written = {}): AtUri {
    const record = this.write<PullRecord>('pull', author, extra, base => ({
      $type: 'dev.knotless.pull',
      ...base,
      branch: 'main',
      head: { repo: this.uri, branch: 'topic' },
      title: 'Ripen',
      ...fields(extra),
    }))
    this.pulls.push(record)
    return record.uri
  }

  /** Changes a pull's record, as its author. */
  editPull(pull: AtUri, change: Extra<PullRecord>): this {
    const index = this.pulls.findIndex(record => record.uri === pull)
    const record = this.pulls[index]
    if (record === undefined) throw new Error(`no pull ${pull}`)
    this.pulls[index] = { ...record, cid: `${record.cid}+`, seenAt: this.tick(), value: { ...record.value, ...change } }
    return this
  }

  queued(by: Did, pull: AtUri, extra: Extra<QueueRecord> & Written = {}): Queue {
    return this.change(by, pull, 'queued', extra)
  }

  left(by: Did, pull: AtUri, extra: Extra<QueueRecord> & Written = {}): Queue {
    return this.change(by, pull, 'left', extra)
  }

  ejected(by: Did, pull: AtUri, extra: Extra<QueueRecord> & Written = {}): Queue {
    return this.change(by, pull, 'ejected', { kind: 'checks', reason: 'The checks failed. Look at their logs.', commit: HEAD, ...extra })
  }

  change(by: Did, pull: AtUri, state: QueueRecord['state'], extra: Extra<QueueRecord> & Written = {}): Queue {
    const record = this.write<QueueRecord>('queue', by, extra, base => ({
      $type: 'dev.knotless.queue',
      ...base,
      subject: pull,
      state,
      ...fields(extra),
    }))
    this.queue.push(record)
    return record
  }

  opened(by: Did, pull: AtUri, extra: Extra<StateRecord> & Written = {}): State {
    return this.state(by, pull, 'open', extra)
  }

  closed(by: Did, pull: AtUri, extra: Extra<StateRecord> & Written = {}): State {
    return this.state(by, pull, 'closed', extra)
  }

  merged(by: Did, pull: AtUri, extra: Extra<StateRecord> & Written = {}): State {
    return this.state(by, pull, 'merged', extra)
  }

  state(by: Did, pull: AtUri, state: StateRecord['state'], extra: Extra<StateRecord> & Written = {}): State {
    const record = this.write<StateRecord>('state', by, extra, base => ({
      $type: 'dev.knotless.state',
      ...base,
      subject: pull,
      state,
      ...fields(extra),
    }))
    this.states.push(record)
    return record
  }

  /** A check of a runner's; of main at TIP, successful, unless said otherwise. */
  check(by: Did, extra: Extra<CheckRecord> & Written = {}): Stored<CheckRecord> {
    const record = this.write<CheckRecord>('check', by, extra, base => ({
      $type: 'dev.knotless.check',
      ...base,
      workflow: 'test',
      status: 'success',
      ref: 'refs/heads/main',
      generation: 1,
      commit: HEAD,
      baseCommit: TIP,
      ...fields(extra),
    }))
    this.checks.push(record)
    return record
  }

  /** A lander record, running unless said otherwise. */
  lander(by: Did, extra: Extra<LanderRecord> & Written = {}): Stored<LanderRecord> {
    const record = this.write<LanderRecord>('lander', by, { key: 'lander', ...extra }, base => ({
      $type: 'dev.knotless.lander',
      ...base,
      batch: 8,
      depth: 2,
      startedAt: base.createdAt,
      ...fields(extra),
    }))
    this.landers.push(record)
    return record
  }

  /** What a steward in this account decided about an ejection; that a flake put it back, unless said otherwise. */
  decided(by: Did, ejection: { uri: string }, pull: AtUri, extra: Extra<DecisionRecord> & Written = {}): Stored<DecisionRecord> {
    const record = this.write<DecisionRecord>('decision', by, extra, base => ({
      $type: 'dev.knotless.decision',
      ...base,
      subject: pull,
      ejection: ejection.uri as AtUri,
      head: HEAD,
      verdict: 'requeue',
      kind: 'flake',
      evidence: [],
      attempt: 1,
      ...fields(extra),
    }))
    this.decisions.push(record)
    return record
  }

  /** What stands at a branch's tip, which must be the present one to count. */
  tip(facts: Partial<TipFacts> & { contains?: ReadonlyMap<string, boolean> } = {}): this {
    const branch = facts.branch ?? 'main'
    this.tips.set(branch, { branch, tip: TIP, workflows: ['.knotless/workflows/test.yml'], contains: new Map(), ...facts })
    return this
  }

  /** Takes a record away, as its writer deleting it (REC-4). */
  remove(record: { uri: string }): this {
    for (const list of [this.queue, this.states, this.pulls, this.checks]) {
      const index = list.findIndex(other => other.uri === record.uri)
      if (index >= 0) list.splice(index, 1)
    }
    return this
  }

  facts(): RepositoryFacts {
    const { repo, transferredFrom, transferredTo, refs, pulls, states, queue, checks, landers, gone, merges, tips } = this
    const { mergeFaults, gitFaults, decisions } = this
    return {
      repo,
      transferredFrom,
      transferredTo,
      refs,
      pulls,
      states,
      queue,
      checks,
      landers,
      gone,
      merges,
      tips,
      mergeFaults,
      gitFaults,
      decisions,
    }
  }

  /** The view a minute after the last record unless `now` is given. */
  view(now = this.now + MINUTE): RepositoryView {
    return foldRepository(this.facts(), now)
  }

  /** The view after a transfer, asked for at the address before it. */
  viewFromOldAddress(now = this.now + MINUTE): RepositoryView {
    if (this.transferredFrom === undefined) throw new Error('nothing was transferred')
    return foldRepository({ ...this.facts(), repo: this.transferredFrom, transferredFrom: undefined, transferredTo: this.repo }, now)
  }

  /** One pull of the view. */
  see(pull: AtUri, now?: number): PullView {
    const found = this.view(now).pulls.get(pull)
    if (found === undefined) throw new Error(`the view has no pull ${pull}`)
    return found
  }

  /** Addresses of the pulls queued for a branch, in order. */
  line(branch = 'main', now?: number): string[] {
    return queueOf(this.view(now), branch)
  }

  /** The next time, a minute on. */
  tick(): number {
    this.now += MINUTE
    return this.now
  }

  lastKey(): string {
    const keys = [...this.queue, ...this.states].map(record => record.rkey)
    return [...keys, tidAt(this.now)].sort().at(-1) ?? ''
  }

  private write<T>(kind: string, by: Did, extra: Written, make: (base: { repo: AtUri; createdAt: Time }) => T) {
    const at = extra.at ?? this.tick()
    const rkey = extra.key ?? tidAt(at)
    const uri: AtUri = `at://${by}/dev.knotless.${kind}/${rkey}`
    const value = make({ repo: extra.repo ?? this.uri, createdAt: iso(extra.createdAt ?? at) })
    return { ...stored({ uri, did: by, rkey }, value, { seenAt: extra.seenAt ?? at, backfilled: extra.backfilled ?? false }), uri }
  }
}

/** Addresses of the pulls queued for a branch, in order. */
export function queueOf(view: RepositoryView, branch = 'main'): string[] {
  return view.branches.get(branch)?.queue.map(pull => pull.pull.uri) ?? []
}

/** What is said of a record itself, without what is said of its writing. */
function fields<T extends Written>(extra: T): Omit<T, keyof Written> {
  const { at: _at, key: _key, createdAt: _made, seenAt: _seen, backfilled: _backfilled, repo: _repo, ...rest } = extra
  return rest
}
