/** What the parts of the runner say to one another. Each interface is made in the folder that its comment names; `pass/` puts them together. */
import type { AtUri, Did, RecordKey } from '../atproto/ids.ts'
import type { Mirror } from '../git/mirror.ts'
import type { RefsRecord } from '../git/refs-record.ts'
import type { GitRefusal } from '../git/refusal.ts'
import type { LanderRecord, RefsRecord as RefsValue, Stored } from '../queue/facts.ts'
import type { PullView, RepositoryView } from '../queue/view.ts'
import type { Workflow } from '../workflows/workflow.ts'
import type { Flight, Head, LeftOut, Line, Member, NotLanded, RunNow } from './planner/types.ts'

/** A repository as it was read for a pass (`reads/`). */
export interface Ground {
  /** The address that governs (HON-4), its owner and name. */
  repo: AtUri
  owner: Did
  name: RecordKey
  /** The index's entries with the fresh reads over them, folded (NOT-1, NOT-7). */
  view: RepositoryView
  /** The refs record as its owner's account has it now. */
  refs: RefsRecord
  stored: Stored<RefsValue>
  /** Git states of the repositories that hold heads, as far as they were read: the record, or what is wrong. By repository. */
  sources: ReadonlyMap<string, Source>
  /** Accounts whose records could not be read for this pass: of those the index stands. */
  unread: readonly Did[]
  /** When reading ended, in milliseconds since 1970. */
  readAt: number
}

export type Source =
  | { state: 'read'; stored: Stored<RefsValue>; refs: RefsRecord }
  | { state: 'gone' }
  | { state: 'account-gone' }
  | { state: 'unreadable'; server: string; said: string }
  | { state: 'broken'; detail: string }

/** Reads for a pass (`reads/`). Everything rejects with an UpstreamError where a source that must answer does not: the pass has failed then. */
export interface Reads {
  ground(repo: AtUri): Promise<Ground>
  /** Where the heads of queued pulls are now, by pull, read at their sources; those read lately whose account did not change since are remembered (NOT-6). */
  heads(ground: Ground, pulls: readonly PullView[]): Promise<ReadonlyMap<string, Head>>
  /** The runs of these pre-flights that count for each pull at this head (PRE-2), by pull. `own` are this runner's runs in memory. */
  flights(
    ground: Ground,
    asked: { tip: string; workflows: readonly string[]; pulls: readonly { pull: string; head: string }[]; own: Runs },
  ): Promise<ReadonlyMap<string, readonly Flight[]>>
  /** LND-12: repository, refs, and these pulls' records, states, queue records and heads, each read again at its source now. */
  again(ground: Ground, pulls: readonly string[]): Promise<{ ground: Ground; heads: ReadonlyMap<string, Head> }>
  /** Rerun records about the repository that count, oldest first (RUN-6). */
  reruns(ground: Ground): Promise<readonly Rerun[]>
}

export interface Rerun {
  uri: string
  key: string
  by: Did
  pull?: string | undefined
  branch?: string | undefined
  commit?: string | undefined
  workflow?: string | undefined
}

/** What rings for a repository (`reads/doors`). */
export interface Doors {
  /** Starts to listen: Jetstream, `--notice`, `--sweep` (NOT-2, NOT-3, NOT-6). `ring` says what for, for the log. */
  start(ring: (repo: AtUri, why: string) => void): void
  /** Whose accounts matter for a repository, as its last pass read. */
  watch(repo: AtUri, accounts: readonly Did[]): void
  /** How long between two looks at an account now, in milliseconds: longer than asked for where the budget of a host is short (NOT-6). */
  interval(): number
  stop(): Promise<void>
}

/** Stacks in the mirror (`build/`). Nothing throws for what a head, a server or git does. */
export interface Builder {
  /** The repository's mirror, brought to the refs record of the ground, quarantine and all (STO-11). */
  bring(ground: Ground): Promise<{ ok: true; mirror: Mirror } | GitRefusal>
  /**
   * BLD-2 to BLD-8, BLD-10: heads fetched, each merged onto the commit before it, squashed; at most `most` of the candidates in, in their order. The objects are in
   * the mirror afterwards. CHK-10: never the id of a stack that this builder made before.
   */
  build(
    ground: Ground,
    order: { base: string; candidates: readonly { pull: string; entry: string; key: string }[]; most: number },
  ): Promise<
    { ok: true; stack: { tip: string; tree: string; members: readonly Member[] } | null; left: ReadonlyMap<string, LeftOut> } | GitRefusal
  >
  /** Pulls' heads merged with a commit of the branch, for pull runs and pre-flights: in the order asked (PRE-7, PRE-9). */
  merged(
    ground: Ground,
    asked: readonly { pull: string; head: string; tip: string }[],
  ): Promise<readonly ({ ok: true; tree: string } | { ok: false; why: 'conflict'; files: readonly string[] } | GitRefusal)[]>
  /** Which workflows run at `tip` on top of `base` on a pull into the branch, or on a push to it (CHK-1, CHK-6, PRE-1). `tip` may be a tree. */
  workflows(ground: Ground, asked: { trigger: 'pull' | 'push'; branch: string; base: string; tip: string }): Promise<Chosen | GitRefusal>
}

export interface Chosen {
  selected: readonly Workflow[]
  skipped: readonly Workflow[]
  /** Files that cannot be used: each is an `error` run, and a verdict (CHK-6). */
  faulty: readonly { file: string; summary: string }[]
}

/** Highest first: `next` the batch that lands next and pushes to the default branch; then a batch ahead; other pushes; pre-flights of queued pulls; pulls (AHD-5, RUN-3, PRE-7). */
export const jobClasses = ['next', 'ahead', 'push', 'preflight', 'pull'] as const
export type JobClass = (typeof jobClasses)[number]

/** One run, as an executor is to make it (`executor/`). */
export interface Job {
  /** Of the run, for names of containers and folders: letters, digits and dashes. */
  id: string
  workflow: Workflow
  /** The tree to run in: a git directory and a commit or tree in it. Nothing is left out or rewritten in it (STO-12). */
  source: { gitDir: string; commit: string }
  /** For the script: `CI`, `KNOTLESS_…`. */
  env: Readonly<Record<string, string>>
  /** For pushes only; masked in the log. */
  secrets: Readonly<Record<string, string>>
  /** In milliseconds, from when the run began; past it the verdict is `timeout` (CHK-7). */
  timeoutMs: number
  /** CPU weight; a run that may be thrown away yields (AHD-5). */
  weight: 'high' | 'low'
  /** CHK-2. `key` names the branch's cache. `share`: reads and writes it; `layer`: reads it, what it writes is thrown away; `empty`: its own, thrown away; `promote`: a push to the default branch; `take`: what is shared becomes what is promoted (RUN-4). */
  cache: { key: string; use: 'share' | 'layer' | 'empty' | 'promote' | 'take' }
  /** Output as it comes, secrets masked. */
  onOutput: (bytes: Uint8Array) => void
  /** Aborted: the whole process tree is ended. */
  signal: AbortSignal
}

export type JobEnd =
  /** `retried`: commands of the steps that passed on a retry (REA-3). */
  | { end: 'success' | 'failure'; summary: string; report?: Uint8Array | undefined; retried?: readonly string[] | undefined }
  /** CHK-7. `verdict` absent: a verdict all the same, such as an image that does not exist. */
  | { end: 'error'; verdict?: 'timeout' | 'executor-lost' | 'disk' | 'other' | undefined; summary: string; report?: Uint8Array | undefined }
  | { end: 'cancelled' }

export interface Executor {
  readonly kind: 'docker' | 'host'
  /** False where runs are not isolated from this machine (WHO-5). */
  readonly isolated: boolean
  /** Makes one run. Never rejects. */
  run(job: Job): Promise<JobEnd>
  /** Ends and removes what a crash left of this executor's runs. Rejects when the engine does not answer. */
  sweep(): Promise<void>
  close(): Promise<void>
}

/** Slots for runs (`executor/slots`): `--jobs` at once, by class, then by the order of asking; a run that has begun is never pushed out. */
export interface Slots {
  /** `work` is called when a slot is free. Withdrawn by the signal while it waits. */
  ask(asked: { class: JobClass; signal: AbortSignal; work: () => Promise<void> }): Asked
  readonly free: number
  readonly waiting: number
}

export interface Asked {
  /** Moves what still waits to another class. */
  move(to: JobClass): void
  /** Settled when its work ended or it was withdrawn. */
  readonly ended: Promise<void>
}

/** What a group of runs checks. */
export type Subject =
  /** A batch (CHK-3). */
  | { of: 'batch'; batch: number; branch: string; generation: number; base: string; tip: string; tree: string; members: readonly Member[] }
  /** A pull's head merged with its branch's tip; `first`: as a pre-flight of a queued pull (PRE-7, PRE-10). */
  | { of: 'pull'; pull: string; head: string; branch: string; generation: number; tip: string; tree: string; queued: boolean }
  /** A branch at a commit. `lands`: the landing of a batch, whose results it may take over (RUN-4). */
  | {
      of: 'push'
      branch: string
      generation: number
      before?: string | undefined
      commit: string
      tree: string
      isDefault: boolean
      lands: boolean
    }

export interface Group {
  /** Made by `file`. */
  id: string
  subject: Subject
}

/** Runs and their checks as records (`runs/`). Ends of runs ring the repository's door. */
export interface Runs {
  /**
   * REC-5: files a check for each workflow of the subject, passes that can be taken over (RUN-4, RUN-5) and what is skipped included; nothing runs before all are on
   * file. With `only`, those workflows alone. `asked`: the rerun record that asks for it: nothing is taken over (RUN-6).
   */
  file(
    ground: Ground,
    asked: {
      subject: Subject
      chosen: Chosen
      trusted: boolean
      gitDir: string
      only?: readonly string[] | undefined
      asked?: string | undefined
    },
  ): Promise<{ ok: true; group: Group } | { ok: false; unfiled?: string | undefined; said: string }>
  /** Lets the runs of a group begin. */
  begin(group: string, as: JobClass): void
  promote(group: string, to: JobClass): void
  /** Ends what has not ended; each check says why (MOV-4). The first cause stays. */
  cancel(group: string, cause: string): Promise<void>
  /** As the runs are now. */
  of(group: string): readonly RunNow[]
  /** The group about a pull at a head and tip, if this runner made one since it started (PRE-8). */
  flightOf(pull: string, head: string, tip: string): Group | undefined
  /** MOV-6: checks of this account that an earlier process left queued or running become `error`, verdict `restart`. */
  recover(repo: AtUri): Promise<void>
  /** CHK-12: prunes old batch checks; `keep` are tips of batches that stay. */
  prune(ground: Ground, keep: ReadonlySet<string>): Promise<void>
  /** MOV-5: runs not begun are dropped and their checks deleted. */
  stop(): Promise<void>
  /** Settled when no run is going and every upload was tried. */
  idle(): Promise<void>
}

/** The lander's own record, by compare-and-swap (`landing/`): lease, settings, intent (WHO-8, LND-8). */
export interface LanderBook {
  /** Takes or renews the lease. `held`: another process of this account has it. */
  claim(ground: Ground): Promise<{ ok: true; record: Stored<LanderRecord> } | { ok: false; until: number } | { ok: false; said: string }>
  /** Says that it stopped, and gives the lease back. */
  release(repo: AtUri): Promise<void>
}

/** Landing (`landing/`). */
export interface Landing {
  /** LND-1 to LND-12. The batch has passed. Nothing throws for what servers do. */
  land(
    ground: Ground,
    batch: { branch: string; base: string; generation: number; tip: string; tree: string; members: readonly Member[]; ranNothing: boolean },
  ): Promise<{ ok: true; moved: Ground } | ({ ok: false } & NotLanded)>
  /** LND-8: carries out, or gives up, an intent that a lander's record holds. Keys of the queueings that have landed by it. */
  repair(ground: Ground): Promise<{ ok: true; landed: readonly string[] } | { ok: false; said: string }>
}

/** Ejections (`landing/`): the record, and whether it is written. */
export interface Ejector {
  eject(
    ground: Ground,
    ejection: import('./planner/types.ts').Action & { do: 'eject' },
  ): Promise<{ ok: true; record: string } | { ok: false; said: string }>
}

/** What is kept of a branch between passes. */
export interface KeptLine {
  line: Line
  /** The group of runs of each batch, by its id. */
  groups: ReadonlyMap<number, string>
}

/** One line an event, for people or as JSON; fields are repository, branch, tip, pull and what the event brings. Never a token or a secret. */
export interface Log {
  info(event: string, fields?: Readonly<Record<string, unknown>>): void
  warn(event: string, fields?: Readonly<Record<string, unknown>>): void
  error(event: string, fields?: Readonly<Record<string, unknown>>): void
}
