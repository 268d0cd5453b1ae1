/** What tests of landing stand on: the world of the gateway's tests, and the real parts of runners over it. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGuardedFetch, type GuardedFetch } from '../../../src/atproto/guarded-fetch.ts'
import { createIdentity } from '../../../src/atproto/identity.ts'
import { parseTid } from '../../../src/atproto/ids.ts'
import { createReader } from '../../../src/atproto/reader.ts'
import { createTidClock } from '../../../src/atproto/tid.ts'
import { createWriter } from '../../../src/atproto/writer.ts'
import type { DevAccount } from '../../../src/devnet/account.ts'
import { createMirrors } from '../../../src/git/mirror.ts'
import { createAppview } from '../../../src/runner/appview.ts'
import { createBuilder } from '../../../src/runner/build/builder.ts'
import type { RunnerContext, RunnerSettings } from '../../../src/runner/context.ts'
import { type Book, createLanderBook } from '../../../src/runner/landing/book.ts'
import { createEjector } from '../../../src/runner/landing/ejector.ts'
import type { Batch } from '../../../src/runner/landing/judge.ts'
import { createLanding } from '../../../src/runner/landing/landing.ts'
import { createReads } from '../../../src/runner/reads/reads.ts'
import type { Builder, Ejector, Ground, Landing, Reads } from '../../../src/runner/types.ts'
import { type GatewayWorld, type OpenedPull, type Planted, startGatewayWorld } from '../../server/gateway-world.ts'
import { until } from '../../support/until.ts'

export interface Line {
  event: string
  fields: Readonly<Record<string, unknown>>
}

/** The landing parts of a runner, real all of them. */
export interface Hand {
  ctx: RunnerContext
  book: Book
  reads: Reads
  builder: Builder
  landing: Landing
  ejector: Ejector
  lines: Line[]
  ground(repo: Planted): Promise<Ground>
  /** Builds a batch of queued pulls on the branch's tip, or on another commit. */
  batch(repo: Planted, pulls: readonly OpenedPull[], on?: string): Promise<Batch>
  /** Claims, builds and lands. */
  land(repo: Planted, pulls: readonly OpenedPull[]): Promise<{ batch: Batch; done: Awaited<ReturnType<Landing['land']>> }>
  close(): Promise<void>
}

export interface LandingWorld extends GatewayWorld {
  /** Of an account; `key` shares what is kept on disk with another process of it. */
  hand(as?: DevAccount, more?: HandOptions): Hand
  /** A repository that names rigby. */
  orchard(name: string, record?: Record<string, unknown>): Promise<Planted>
  queue(pull: OpenedPull, repo: Planted, as?: DevAccount): Promise<string>
  queued(repo: Planted, branch: string, plan?: Partial<Parameters<Planted['openPull']>[0]>): Promise<OpenedPull>
  issue(repo: Planted, title?: string): Promise<string>
  /** Settles when the server's index has a record. */
  indexed(uri: string): Promise<void>
}

export interface HandOptions {
  settings?: Partial<RunnerSettings>
  instance?: string
  /** Added to the clock, in milliseconds. */
  ahead?: () => number
  /** How long one try of a write waits, in milliseconds. */
  patience?: number
  every?: (ms: number, work: () => void) => () => void
  more?: Partial<RunnerContext>
}

export async function startLandingWorld(options: Parameters<typeof startGatewayWorld>[0] = {}): Promise<LandingWorld> {
  const dir = mkdtempSync(join(tmpdir(), 'knotless-landing-'))
  const world = await startGatewayWorld(options)
  const fetch = createGuardedFetch({ allowLoopback: true })
  const hands: Hand[] = []
  const { rigby, bob, alice } = world.people

  async function indexed(uri: string): Promise<void> {
    await world.network.settled()
    await until(() => world.server.context.database.sqlite.prepare('select 1 from record where uri = ?').get(uri) !== undefined, {
      what: uri,
    })
  }

  async function queue(pull: OpenedPull, repo: Planted, as = bob): Promise<string> {
    const fields = { repo: repo.uri, subject: pull.uri, state: 'queued', head: pull.head, branch: 'main' }
    return (await as.create('dev.knotless.queue', { ...fields, createdAt: new Date().toISOString() })).uri
  }

  return {
    ...world,
    queue,
    indexed,
    orchard: (name, record = {}) => world.plant(name, { record: { runners: [{ did: rigby.did }], ...record } }),
    hand(as = rigby, more = {}) {
      const made = handOf(world, { fetch, dir: join(dir, String(hands.length)) }, as, more)
      hands.push(made)
      return made
    },
    async queued(repo, branch, plan = {}) {
      const pull = await repo.openPull({ branch, files: { [`${branch}.txt`]: `${branch}\n` }, ...plan })
      await queue(pull, repo)
      return pull
    },
    async issue(repo, title = 'Worms') {
      const made = await alice.create('dev.knotless.issue', { repo: repo.uri, title, createdAt: new Date().toISOString() })
      await indexed(made.uri)
      return made.uri
    },
    async end() {
      world.network.faults.clear()
      for (const hand of hands) await hand.close()
      fetch.close()
      await world.end()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

function handOf(world: GatewayWorld, over: { fetch: GuardedFetch; dir: string }, as: DevAccount, more: HandOptions): Hand {
  const { network, server } = world
  const lines: Line[] = []
  const line = (event: string, fields: Line['fields'] = {}) => void lines.push({ event, fields })
  const now = () => Date.now() + (more.ahead?.() ?? 0)
  const identity = createIdentity({ plcUrl: network.plcUrl, fetch: over.fetch, now: Date.now, handleResolver: network.pdsUrl })
  const reader = createReader({ identity, fetch: over.fetch, now: Date.now })
  const writer = createWriter({ session: as.session, now: Date.now, ...(more.patience === undefined ? {} : { timeoutMs: more.patience }) })
  const keys = createTidClock({ now: Date.now, clockId: Math.floor(Math.random() * 1024) })
  const ctx: RunnerContext = {
    did: as.did,
    session: as.session,
    writer,
    reader,
    identity,
    appview: createAppview({ url: server.url, fetch: globalThis.fetch, writer, now: Date.now }),
    mirrors: createMirrors(join(over.dir, 'mirrors')),
    now,
    nextKey: above => keys.next(parseTid(above)),
    instance: more.instance ?? randomUUID(),
    version: '0.1.0',
    git: '2.39.5',
    settings: { ...settings, ...more.settings },
    log: { info: line, warn: line, error: line },
    names: did => (did === as.did ? as.handle : undefined),
    ...more.more,
  }
  const reads = createReads(ctx)
  const builder = createBuilder(ctx)
  const book = createLanderBook(ctx, more.every === undefined ? {} : { every: more.every })
  const landing = createLanding({ ctx, book, reads, builder })

  async function batch(repo: Planted, pulls: readonly OpenedPull[], on?: string): Promise<Batch> {
    // What was queued a moment ago is read again, however lately its queuer's account was looked at.
    const { ground } = await reads.again(
      await reads.ground(repo.uri),
      pulls.map(pull => pull.uri),
    )
    const row = ground.refs.refs.find(ref => ref.name === 'refs/heads/main')
    assert.ok(row)
    const base = on ?? row.commit
    const candidates = pulls.map(({ uri }) => {
      const entry = ground.view.pulls.get(uri)?.entry
      assert.ok(entry, `${uri} is not queued`)
      return { pull: uri, entry: entry.record.uri, key: entry.key }
    })
    const built = await builder.build(ground, { base, candidates, most: 50 })
    assert.ok(
      built.ok && built.stack !== null,
      JSON.stringify(built, (_, value) => (value instanceof Map ? [...value] : value)),
    )
    assert.equal(built.stack.members.length, pulls.length)
    return { branch: 'main', base, generation: row.generation, ...built.stack, ranNothing: true }
  }

  return {
    ctx,
    book,
    reads,
    builder,
    landing,
    ejector: createEjector(ctx, { reads }),
    lines,
    batch,
    ground: repo => reads.ground(repo.uri),
    async land(repo, pulls) {
      const made = await batch(repo, pulls)
      const ground = await reads.ground(repo.uri)
      const claimed = await book.claim(ground)
      assert.ok(claimed.ok, JSON.stringify(claimed))
      return { batch: made, done: await landing.land(ground, made) }
    },
    async close() {
      book.close()
      await builder.close()
    },
  }
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
  executor: 'host',
  allowNetwork: false,
  once: false,
  dryRun: false,
}

/** What an account's record about a repository says. */
export async function landerOf(account: DevAccount, repo: Planted): Promise<Record<string, unknown> | undefined> {
  const all = await account.list('dev.knotless.lander')
  return all.find(({ value }) => value.repo === repo.uri)?.value
}

/** An account's states about something. */
export async function statesOf(account: DevAccount, subject: string): Promise<Record<string, unknown>[]> {
  return (await account.list('dev.knotless.state')).map(({ value }) => value).filter(value => value.subject === subject)
}
