/** The parts of a runner, put together. */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { type AtUri, parseAtUri } from '../atproto/ids.ts'
import { createBuilder } from './build/builder.ts'
import type { RunnerConfig } from './config.ts'
import type { RunnerContext } from './context.ts'
import { createDockerExecutor } from './executor/docker.ts'
import { createHostExecutor } from './executor/host.ts'
import { findEngine } from './executor/probe.ts'
import { createSlots } from './executor/slots.ts'
import { createLanderBook } from './landing/book.ts'
import { createEjector } from './landing/ejector.ts'
import { createLanding } from './landing/landing.ts'
import { mayLand } from './landing/may-land.ts'
import type { LiveLogs } from './live-logs.ts'
import type { Names } from './names.ts'
import { createOtherRuns } from './pass/other-runs.ts'
import type { Parts } from './pass/parts.ts'
import { createDoors, type RunnerDoors } from './reads/doors.ts'
import { createReads, type RunnerReads } from './reads/reads.ts'
import { createRuns } from './runs/runs.ts'
import type { Found } from './start.ts'
import type { Executor, Ground, Slots } from './types.ts'
import { words } from './words.ts'

export interface MadeParts {
  ok: true
  parts: Parts
  reads: RunnerReads
  bells: RunnerDoors
  slots: Slots
  executor: Executor
  /** Ends what goes on by itself: renewing of leases, downloads. The executor and the doors are closed apart. */
  close(): Promise<void>
}

/** The fault is one line for whoever started the runner. */
export async function createParts(
  ctx: RunnerContext,
  made: { config: RunnerConfig; found: Found; names: Names; ring: (repo: AtUri, why: string) => void; live: LiveLogs },
): Promise<MadeParts | { ok: false; fault: string }> {
  const { config, found, ring } = made
  const opened = await openExecutor(ctx, config, found)
  if (!opened.ok) return opened
  const { executor } = opened
  const slots = createSlots({ jobs: ctx.settings.jobs, failed: error => ctx.log.error('a run broke', { why: error }) })
  const reads = createReads(ctx)
  const builder = createBuilder(ctx)
  const book = createLanderBook(ctx)
  const runs = createRuns({
    ctx,
    executor,
    slots,
    ring,
    live: (check, offset, text, repo) => made.live.add(repo, { check, offset, text }),
    secrets: repo => found.secrets.get(repo) ?? {},
  })
  const bells = createDoors(ctx, { reads, jetstreamUrl: config.KNOTLESS_JETSTREAM })
  const parts: Parts = {
    ctx,
    reads,
    builder,
    runs,
    book,
    landing: createLanding({ ctx, book, reads, builder }),
    ejector: createEjector(ctx, { reads }),
    clockSkew: () => reads.clockSkew(),
    mayLand: (view, branch) => mayLand(view, ctx.did, { queue: ctx.settings.queue, branch }),
    others: createOtherRuns({ ctx, reads, builder, runs }),
    lookEvery: () => bells.interval(),
    learnNames: ground => made.names.learn(namedIn(ground)),
  }
  return {
    ok: true,
    parts,
    reads,
    bells,
    slots,
    executor,
    async close() {
      book.close()
      await builder.close()
    },
  }
}

/** Whoever a sentence about the queue may name: the owner, authors and holders of queued pulls, those who queued them. */
function namedIn({ view }: Ground): string[] {
  const queued = [...view.branches.values()].flatMap(branch => branch.queue.slice(0, 50))
  const about = queued.flatMap(({ pull, entry }) => [pull.did, parseAtUri(pull.value.head.repo)?.did ?? [], entry?.by ?? []].flat())
  return [view.roles.owner, ...about]
}

async function openExecutor(
  { log, settings, did }: RunnerContext,
  config: RunnerConfig,
  { folder }: Found,
): Promise<{ ok: true; executor: Executor } | { ok: false; fault: string }> {
  if (settings.executor === 'host') return { ok: true, executor: createHostExecutor({ dir: join(folder.path, 'runs'), log }) }
  const engine = await findEngine({ socket: config['--socket'], env: process.env })
  if (!engine.ok) return { ok: false, fault: words.noEngine(engine.tried) }
  log.info('container engine', { engine: engine.name, version: engine.version })
  // Two runners on one engine may not sweep each other's runs; one runner finds its own again.
  const owner = createHash('sha256').update(`${did}\n${folder.path}`).digest('hex').slice(0, 16)
  const { allowNetwork } = settings
  return { ok: true, executor: createDockerExecutor({ socketPath: engine.socketPath, owner, image: config['--image'], allowNetwork, log }) }
}
