import type { Identity } from '../atproto/identity.ts'
import type { AtUri, Did } from '../atproto/ids.ts'
import type { Reader } from '../atproto/reader.ts'
import type { AccountSession } from '../atproto/session.ts'
import type { AccountWriter } from '../atproto/writer.ts'
import type { Mirrors } from '../git/mirror.ts'
import type { RepositoryFacts } from '../queue/facts.ts'
import type { Log } from './types.ts'

/** What a runner was started with. Times in milliseconds. */
export interface RunnerSettings {
  repos: readonly AtUri[]
  /** Lands queues (WHO-1). */
  queue: boolean
  /** Whose pulls it runs by themselves; absent: nobody's. */
  pulls?: 'owner' | 'collaborators' | 'all' | undefined
  /** 1 to 50 (BLD-1). */
  batch: number
  depth: 1 | 2
  waitMs: number
  noticeMs: number
  sweepMs: number
  jobs: number
  /** The longest that one run may take; a workflow's own is capped by it. */
  timeoutMs: number
  executor: 'docker' | 'host'
  allowNetwork: boolean
  /** One pass over every repository, then it stops when what it began has ended. */
  once: boolean
  /** Says what a pass would do and why, and writes nothing. */
  dryRun: boolean
}

/** The server beside which the runner works, over XRPC (WHO-6). Rejects with an UpstreamError where it does not answer. */
export interface Appview {
  /** Where the runner reaches it, without a slash at the end. */
  readonly url: string
  /** The DID that its document names: the gateway (WHO-6). */
  did(): Promise<Did>
  /** What its index has about a repository (NOT-1); remembered until its version there changes. Undefined: it does not know the repository. */
  facts(repo: AtUri): Promise<RepositoryFacts | undefined>
  /** Issues of it that its index knows to be open, as AT-URIs: they come with the facts (LND-6). Empty where it does not know the repository. */
  issues(repo: AtUri): Promise<readonly string[]>
  /** Whether the owner lets that server write for them, as it said last; undefined where it does not say (GWY-8). Never rejects for what it does. */
  delegated(repo: AtUri): Promise<boolean | undefined>
  /** GWY-10: a token for one push, to be used as its password. */
  pushToken(): Promise<{ ok: true; token: string } | { ok: false; said: string }>
  /** Says that a pass was made (`dev.knotless.reportPass`). False when the server did not take it. */
  report(pass: {
    repo: AtUri
    passedAt: number
    nextBy: number
    waitsFor: readonly string[]
    logs?: readonly { check: string; offset: number; text: string }[]
  }): Promise<boolean>
}

/** Everything that the parts of a runner take. Plain values. */
export interface RunnerContext {
  /** The runner's account. */
  readonly did: Did
  readonly session: AccountSession
  readonly writer: AccountWriter
  readonly reader: Reader
  readonly identity: Identity
  readonly appview: Appview
  /** Bare mirrors of repositories and forks, kept between runs. */
  readonly mirrors: Mirrors
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** The next key of a record: greater than every one before it, and than `above` where that is given (REC-7). */
  readonly nextKey: (above?: string) => string
  /** This process, as its lease names it (WHO-8). */
  readonly instance: string
  readonly version: string
  /** As `git --version` says it (GWY-14). */
  readonly git: string
  readonly settings: RunnerSettings
  readonly log: Log
  /** Handles for sentences, as far as they are known (`plain` of `src/queue/words/phrase.ts`). */
  readonly names: (did: string) => string | undefined
}
