/** What the parts of the gateway say to one another: the doors ask, the rules judge, the writer writes, the log keeps. */
import type { AtUri, Did } from '../../atproto/ids.ts'
import type { AccountSession } from '../../atproto/session.ts'
import type { RepositoryView } from '../../queue/view.ts'
import type { Refusal } from '../../queue/words/refusals.ts'

/** How a write was asked for: `git push`, `mergePull` or the Merge button, `createCommit`. */
export type Door = 'push' | 'merge' | 'commit'

/** A ref to move. `name` is the full name; null: it is not there before, or not any more after. */
export interface RefMove {
  name: string
  old: string | null
  new: string | null
}

/** One commit of a landing, as git has it, and what the gateway itself gets (GWY-4). */
export interface ChainCommit {
  id: string
  parents: readonly string[]
  tree: string
  /** The last line of its message that is not empty, at most 2,048 characters of it. */
  lastLine: string
  /** The message is within bounds and holds no control characters (GWY-4). */
  clean: boolean
  /** The repository that the pull of the last line is onto, where that was read and is another one. */
  elsewhere?: string | undefined
  /**
   * The pull of the last line merged at its present head onto this commit's first parent by the gateway. `unread`: its head, or what git makes of
   * it, cannot be had; absent where the last line names no pull of the repository.
   */
  merged?:
    | { kind: 'clean'; tree: string }
    | { kind: 'conflict'; files: readonly string[] }
    | { kind: 'unread'; message: string }
    | undefined
}

/** The lander's own checks at a landing's tip and base (GWY-11): workflows that the tip's files select and that have not passed. */
export interface LandingChecks {
  /** Names of selected workflows without a pass, each with what stands there instead. */
  missing: readonly { workflow: string; status: string }[]
}

/** What git and the lander's account say about one move; gathered as far as the rules need it. */
export interface MoveFacts {
  /** The new commit descends from the old one. */
  forward: boolean
  /** The first-parent chain from the old commit to the new one, oldest first; `too-long` over the bound, `none` when it never meets the old commit. */
  chain?: readonly ChainCommit[] | 'too-long' | 'none' | undefined
  /** The tree of the old commit, where the chain is given: no empty commit lands (BLD-8). */
  baseTree?: string | undefined
  checks?: LandingChecks | undefined
}

/** Whether an owner lets this server write for them. Times in milliseconds since 1970. */
export type Delegation =
  | { state: 'never' }
  | { state: 'given'; since: number; until?: number | undefined }
  | { state: 'withdrawn'; at: number }
  | { state: 'lost'; at: number; why: 'revoked' | 'expired' | 'moved' }

/** All that the rules are told: who asks for what, and how things are now, read at their sources (GWY-13). */
export interface GatewayQuestion {
  door: Door
  caller: Did
  /** This server. */
  server: Did
  /** Where owners give and withdraw the delegation, as an absolute address; said where one is missing (GWY-1). */
  settingsUrl?: string | undefined
  delegation: Delegation
  /** Folded from fresh reads. */
  view: RepositoryView
  /** The refs of the record that was read, by full name. */
  refs: ReadonlyMap<string, string>
  moves: readonly RefMove[]
  /** By the move's ref name. */
  facts: ReadonlyMap<string, MoveFacts>
  /** What could not be read at its source and was taken from the index, in words (GWY-13). */
  fromIndex: readonly string[]
}

/** As whom a move is let through. `lander`: a collaborator that lands, not verified as a batch (PRO-5); `batch`: verified (GWY-4). */
export type Standing = 'owner' | 'collaborator' | 'lander' | 'batch'

export type MoveVerdict =
  /** `pulls` are those of a batch, in order. */
  | { ok: true; as: Standing; pulls: readonly { pull: string; commit: string }[] }
  /** `commit` is the first that is wrong, of a chain that is refused; `pull` the one that it is to blame for, where there is one. */
  | { ok: false; refusal: Refusal; commit?: string | undefined; pull?: string | undefined }

/** A verdict for each move, in their order. */
export type GatewayVerdict = readonly MoveVerdict[]

/** The delegations that owners gave this server (GWY-1, GWY-7). */
export interface Delegations {
  /** What this server asks owners for, and nothing else. */
  readonly scope: string
  /** As it is known here, at once. */
  of(owner: string): Delegation
  /** The right to write for an owner, renewed where that is due. `unreachable`: a delegation stands, and the owner's server does not answer. */
  session(owner: Did): Promise<{ ok: true; session: AccountSession } | { ok: false; why: 'not-delegated' | 'unreachable' }>
  /** Told by whoever writes that the owner's server takes the grant no longer (SessionGone, scope missing). */
  gone(owner: Did, why: 'revoked' | 'expired' | 'moved'): Promise<void>
  /** Takes it back: from here on nothing is written. False when the owner's server did not hear of it. */
  withdraw(owner: Did): Promise<boolean>
  /** Tells of every change of an owner's delegation, until the returned function is called. */
  onChanged(listener: (owner: string) => void): () => void
}

/** A line of the audit log (GWY-6), before it has a number. */
export interface AuditEntry {
  /** The owner whose account is written to, and the repository. */
  owner: Did
  repo: AtUri
  caller: Did
  door: Door
  ref: string
  from: string | null
  to: string | null
  /** One sentence of plain text. */
  reason: string
  /** The refusal's code. */
  code?: string | undefined
  /** As whom, what was taken from the index, and the like. */
  note?: string | undefined
}

/** The audit log: appended to, never changed (GWY-6). */
export interface Audit {
  /** Noted before a write is sent, so that one whose outcome a crash took away is found: gives the number of each. */
  begin(entries: readonly AuditEntry[]): readonly number[]
  /** What became of what was begun. `unknown`: it may have been written; settled later by reading. */
  settle(ids: readonly number[], outcome: 'written' | 'refused' | 'unknown', more?: { code?: string; reason?: string }): void
  refused(entries: readonly AuditEntry[]): void
  /** Begun and not settled, oldest first, at most `limit`: what a crash left. */
  open(limit: number): readonly (AuditEntry & { id: number; at: number })[]
  /** Whether the very same move was written later, or may have been, so that this line's was not made: a ref moves from where it is. */
  madeLater(line: AuditEntry & { id: number }): boolean
}

/** What became of one ref of a push. `pull`: the one that is to blame, if one is; `beside`: nothing is wrong with this ref, but with another one. */
export type RefOutcome =
  | { name: string; ok: true }
  | { name: string; ok: false; refusal: Refusal; pull?: string | undefined; beside?: boolean | undefined }

/** A repository that the gateway has begun to read. */
export interface Look {
  readonly repo: AtUri
}

/** The gateway, as its doors see it. Nothing in it throws for what a caller, an owner's server or git does. */
export interface Gateway {
  /** Begins to read a repository for a push whose objects are on their way, so that the push need not wait for that. Good for a second. */
  look(repo: AtUri): Look
  /**
   * Judges moves and writes those that may be made: with `atomic` all or none. `env` is the environment in which git finds the new objects, the
   * quarantine of a push. The outcomes are in the order of the moves.
   */
  push(asked: {
    repo: AtUri
    caller: Did
    door: Door
    moves: readonly RefMove[]
    atomic: boolean
    env?: Readonly<Record<string, string>> | undefined
    /** Commits that are known to lie there. */
    commits?: ReadonlySet<string> | undefined
    look?: Look | undefined
    signal?: AbortSignal | undefined
  }): Promise<{ ok: true; refs: readonly RefOutcome[] } | { ok: false; refusal: Refusal }>
  /** Lands one pull as a batch of one would (LND-14). `uri` is the merged state's. */
  mergePull(asked: {
    pull: AtUri
    caller: Did
    head?: string | undefined
  }): Promise<{ ok: true; commit: string; uri: AtUri } | { ok: false; refusal: Refusal }>
  /** Makes a commit on a branch at `base`. An absent `content` deletes the file. */
  createCommit(asked: {
    repo: AtUri
    caller: Did
    branch: string
    base: string
    message: string
    changes: readonly { path: string; content?: string | undefined; mode?: '100644' | '100755' | undefined }[]
  }): Promise<{ ok: true; commit: string } | { ok: false; refusal: Refusal }>
}
