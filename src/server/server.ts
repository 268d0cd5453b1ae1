import type { Server as HttpServer } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { createApp } from './app.ts'
import { purgeStates } from './auth/sealed-store.ts'
import type { Config } from './config.ts'
import { type Context, createContext, type Overrides } from './context.ts'
import { measureIndex } from './index-metrics.ts'
import { serveMetrics } from './metrics.ts'

const HOUR = 60 * 60_000
const PURGE_EVERY = 10 * 60_000
const RENEW_EVERY = 60_000

/** The program around the app: its ports and what runs beside requests. */
export interface Server {
  readonly context: Context
  readonly app: FastifyInstance
  /** Listens. Rejects when a port is taken. */
  start(): Promise<void>
  /** Forgets what is too old: log-ins that never came back within the hour, sessions whose time is over, the audit log after 400 days. Runs by itself as well. */
  purge(): Promise<void>
  /** Takes no new requests, waits for those under way, closes everything. Safe to call twice. */
  stop(): Promise<void>
}

/** Makes the server; nothing listens yet. */
export async function createServer(config: Config, overrides: Overrides = {}): Promise<Server> {
  const context = await createContext(config, overrides)
  const app = await createApp(context)
  let metrics: HttpServer | undefined
  const timers: NodeJS.Timeout[] = []
  let renewing = Promise.resolve()
  let stopping: Promise<void> | undefined

  async function start(): Promise<void> {
    if (config.metrics !== undefined) {
      measureIndex(context.metrics.registry, context)
      metrics = await serveMetrics(context.metrics.registry, config.metrics)
    }
    await app.listen({ host: config.host, port: config.port })
    context.indexer.start()
    context.gateway.start()
    timers.push(
      setInterval(() => void purge(context), PURGE_EVERY),
      setInterval(renew, RENEW_EVERY),
    )
    for (const timer of timers) timer.unref()
    await purge(context)
    renew()
  }

  /** Renews what owners gave, one pass after the other. */
  function renew(): void {
    renewing = renewing
      .then(() => context.delegations.renew())
      .catch((error: unknown) => context.logger.error({ err: error }, 'delegations could not be renewed'))
  }

  async function stopAll(): Promise<void> {
    for (const timer of timers) clearInterval(timer)
    await renewing
    await app.close()
    if (metrics !== undefined) {
      const closing = metrics
      closing.closeAllConnections()
      await new Promise<void>(resolve => closing.close(() => resolve()))
    }
    await context.gateway.stop()
    await context.indexer.stop()
    await context.close()
  }

  return {
    context,
    app,
    start,
    purge: () => purge(context),
    stop() {
      stopping ??= stopAll()
      return stopping
    },
  }
}

async function purge(ctx: Context): Promise<void> {
  try {
    await purgeStates(ctx.db, ctx.now() - HOUR)
    await ctx.sessions.purge()
    ctx.audit.purge()
    ctx.replays.purge()
    ctx.passes.purge()
  } catch (error) {
    ctx.logger.error({ err: error }, 'what is too old could not be forgotten')
  }
}
