/** What tests of a runner's reads stand on: a local network, the real server over it, and a runner's own eyes. */
import assert from 'node:assert/strict'
import { createGuardedFetch } from '../../../src/atproto/guarded-fetch.ts'
import { createIdentity } from '../../../src/atproto/identity.ts'
import type { AtUri } from '../../../src/atproto/ids.ts'
import { createReader } from '../../../src/atproto/reader.ts'
import type { DevAccount } from '../../../src/devnet/account.ts'
import { tidAt } from '../../../src/queue/tid.ts'
import { createAppview } from '../../../src/runner/appview.ts'
import type { Appview, RunnerSettings } from '../../../src/runner/context.ts'
import { createReads, type RunnerReads } from '../../../src/runner/reads/reads.ts'
import type { ReadsContext } from '../../../src/runner/reads/stores.ts'
import type { Ground, Runs } from '../../../src/runner/types.ts'
import { type GatewayWorld, type OpenedPull, type Planted, startGatewayWorld } from '../../server/gateway-world.ts'
import { until } from '../../support/until.ts'

export interface Line {
  level: 'info' | 'warn' | 'error'
  event: string
  fields: Readonly<Record<string, unknown>>
}

export interface ReadsWorld extends GatewayWorld {
  /** A runner of rigby's that has read nothing yet. */
  runner(options?: RunnerOptions): Eyes
  /** Writes a queue record; gives its key. */
  queue(
    account: DevAccount,
    repo: AtUri,
    subject: string,
    fields?: Record<string, unknown>,
    key?: string,
  ): Promise<{ uri: string; key: string }>
  state(
    account: DevAccount,
    repo: AtUri,
    subject: string,
    fields: Record<string, unknown>,
    key?: string,
  ): Promise<{ uri: string; key: string }>
  /** A repository whose named runner is rigby, and pulls onto it. */
  orchard(name: string, record?: Record<string, unknown>): Promise<Planted>
  /** Settles when the server's index has a record. */
  indexed(uri: string): Promise<void>
}

export interface RunnerOptions {
  /** Of the server; one that nobody answers at. */
  appview?: Appview
  account?: DevAccount
  /** Added to the clock, in milliseconds. */
  ahead?: () => number
  settings?: Partial<RunnerSettings>
}

export interface Eyes {
  ctx: ReadsContext
  reads: RunnerReads
  lines: Line[]
}

export async function startReadsWorld(): Promise<ReadsWorld> {
  const world = await startGatewayWorld({ delegate: false })
  const { network, people, server } = world
  const fetch = createGuardedFetch({ allowLoopback: true })

  return {
    ...world,
    runner: options => eyesOf(world, fetch, options),
    queue: (account, repo, subject, fields = {}, rkey = key()) =>
      write(account, 'dev.knotless.queue', { repo, subject, state: 'queued', ...fields }, rkey),
    state: (account, repo, subject, fields, rkey = key()) => write(account, 'dev.knotless.state', { repo, subject, ...fields }, rkey),
    orchard: (name, record = {}) => world.plant(name, { record: { runners: [{ did: people.rigby.did }], ...record } }),
    async indexed(uri) {
      await network.settled()
      await until(() => server.context.database.sqlite.prepare('select 1 from record where uri = ?').get(uri) !== undefined, { what: uri })
    },
    async end() {
      fetch.close()
      await world.end()
    },
  }
}

async function write(account: DevAccount, collection: string, fields: Record<string, unknown>, rkey: string) {
  const { uri } = await account.create(collection, { ...fields, createdAt: new Date().toISOString() }, rkey)
  return { uri, key: rkey }
}

function eyesOf(world: GatewayWorld, fetch: ReturnType<typeof createGuardedFetch>, options: RunnerOptions = {}): Eyes {
  const { network, people, server } = world
  const account = options.account ?? people.rigby
  const now = () => Date.now() + (options.ahead?.() ?? 0)
  const identity = createIdentity({ plcUrl: network.plcUrl, fetch, handleResolver: network.pdsUrl, now })
  const lines: Line[] = []
  const note =
    (level: Line['level']) =>
    (event: string, fields: Readonly<Record<string, unknown>> = {}) =>
      void lines.push({ level, event, fields })
  const log = { info: note('info'), warn: note('warn'), error: note('error') }
  const ctx: ReadsContext = {
    did: account.did,
    identity,
    reader: createReader({ identity, fetch, now }),
    appview: options.appview ?? createAppview({ url: server.url, writer: account.writer, fetch: globalThis.fetch, now, log }),
    now,
    log,
    settings: { ...settings, ...options.settings },
  }
  return { ctx, reads: createReads(ctx), lines }
}

const settings: RunnerSettings = {
  repos: [],
  queue: true,
  batch: 8,
  depth: 2,
  waitMs: 0,
  noticeMs: 30_000,
  sweepMs: 300_000,
  jobs: 2,
  timeoutMs: 60_000,
  executor: 'docker',
  allowNetwork: false,
  once: false,
  dryRun: false,
}

/** A server that is away. */
export function awayAppview(writer: DevAccount['writer']): Appview {
  return createAppview({ url: 'http://127.0.0.1:9', writer, fetch: globalThis.fetch, now: Date.now })
}

/** The pulls of a branch's queue, in its order. */
export function queueOf(ground: Ground, branch = 'main'): string[] {
  return (ground.view.branches.get(branch)?.queue ?? []).map(pull => pull.pull.uri)
}

export function viewOf(ground: Ground, pull: OpenedPull) {
  const view = ground.view.pulls.get(pull.uri)
  assert.ok(view !== undefined, 'the pull is known')
  return view
}

let last = 0
let writer = 0

/** Keys of now, each after the one before. */
export function key(): string {
  last = Math.max(Date.now(), last + 1)
  return tidAt(last)
}

/** A key of that time, never the same twice. */
export function keyAt(ms: number): string {
  writer = (writer + 1) % 1024
  return tidAt(ms, writer)
}

/** This runner has made no runs. */
export const noRuns: Pick<Runs, 'flightOf' | 'of'> = { flightOf: () => undefined, of: () => [] }
