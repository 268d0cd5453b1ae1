import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type FastifyBaseLogger, fastify } from 'fastify'
import { createGuardedFetch, type GuardedFetch } from '../atproto/guarded-fetch.ts'
import { createIdentity, type Identity } from '../atproto/identity.ts'
import { createReader, type Reader } from '../atproto/reader.ts'
import { readVersion } from '../config/version.ts'
import { createMirrors, type Mirrors } from '../git/mirror.ts'
import { type IndexDatabase, migrate, openDatabase } from '../indexer/database.ts'
import { createIndexer, type Indexer } from '../indexer/indexer.ts'
import { createRepositoryCache, type RepositoryCache } from '../indexer/read.ts'
import { foldRepository } from '../queue/fold.ts'
import { createRenderer, type Renderer } from '../views/render.ts'
import { keepClientKey } from './auth/client-key.ts'
import { furtherScopes, logInScope, metadataPath } from './auth/client-metadata.ts'
import { createKeptReplays, type KeptReplays } from './auth/kept-replays.ts'
import { createOAuth, type OAuth, type OAuthKind } from './auth/oauth.ts'
import { union } from './auth/scopes.ts'
import { createSeal, deriveKey } from './auth/seal.ts'
import { createSessions, type Sessions } from './auth/sessions.ts'
import { createSharedLock, type SharedLock } from './auth/shared-lock.ts'
import type { Config } from './config.ts'
import { createAudit, type KeptAudit } from './gateway/audit.ts'
import { createDelegations, type KeptDelegations } from './gateway/delegations.ts'
import { createGateway, type RunningGateway } from './gateway/gateway.ts'
import { type Cookies, cookiesFor } from './http/cookies.ts'
import { createFormTokens, type FormTokens } from './http/form-tokens.ts'
import { createIds, type Ids } from './ids.ts'
import { createMetrics, type Metrics } from './metrics.ts'
import { migrations } from './migrations/index.ts'
import { createLiveLogs, type LiveLogs } from './passes/live-logs.ts'
import { createPasses, type Passes } from './passes/passes.ts'
import type { ServerDb, ServerTables } from './tables.ts'

/** Everything that handlers take. Plain values; nothing in it looks anything up in it. */
export interface Context {
  readonly config: Config
  readonly version: string
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly ids: Ids
  readonly logger: FastifyBaseLogger
  readonly metrics: Metrics
  readonly database: IndexDatabase
  readonly db: ServerDb
  readonly fetch: GuardedFetch
  readonly identity: Identity
  readonly reader: Reader
  readonly mirrors: Mirrors
  readonly indexer: Indexer
  /** Repositories folded, each kept until something about it changes. */
  readonly repositories: RepositoryCache
  /** What one process at a time does, of those that share the database. */
  readonly lock: SharedLock
  readonly oauth: OAuth
  readonly delegations: KeptDelegations
  readonly audit: KeptAudit
  /** Service tokens that were used: one that was used at one door is used at all of them (GWY-10). */
  readonly replays: KeptReplays
  readonly gateway: RunningGateway
  readonly passes: Passes
  readonly liveLogs: LiveLogs
  readonly sessions: Sessions
  readonly cookies: Cookies
  readonly formTokens: FormTokens
  readonly renderer: Renderer
  /** Closes what was opened for it. The app is closed first. */
  close(): Promise<void>
}

/** What tests put in place of the real thing. */
export type Overrides = Partial<
  Pick<Context, 'now' | 'ids' | 'logger' | 'metrics' | 'database' | 'fetch' | 'identity' | 'reader' | 'indexer' | 'renderer'>
>

/** Opens everything that serving needs, with the tables brought up to date. Rejects, with everything closed again, when a part cannot be opened. */
export async function createContext(config: Config, overrides: Overrides = {}): Promise<Context> {
  const now = overrides.now ?? Date.now
  const ids = overrides.ids ?? createIds()
  const logger = overrides.logger ?? createLogger(config.logLevel)
  // Both lie in folders of the server's own, which are there from the first start on.
  for (const folder of [config.dataDir, dirname(config.db)]) mkdirSync(folder, { recursive: true, mode: 0o700 })
  const database = overrides.database ?? openDatabase(config.db)
  try {
    await migrate(database.db, migrations)
    const db = database.db.withTables<ServerTables>()
    const seal = createSeal(deriveKey(config.secret, 'oauth at rest'))
    const fetch = overrides.fetch ?? createGuardedFetch({ allowLoopback: config.allowLoopback })
    const { plcUrl, handleResolver } = config
    const identity =
      overrides.identity ?? createIdentity({ plcUrl, fetch, now, ...(handleResolver === undefined ? {} : { handleResolver }) })
    const sessions = createSessions({ db, ids, now, loopback: config.loopback })
    const key = config.loopback ? undefined : await keepClientKey(config.dataDir, seal)
    // Leases are between processes, so that they go by the clock that those share.
    const lock = createSharedLock({ db, now: Date.now, holder: ids.secret().slice(0, 16) })
    const { publicUrl, loopback, allowLoopback: allowHttp } = config
    const oauthClient = (kind: OAuthKind) =>
      createOAuth({ db, seal, now, fetch, identity, plcUrl, publicUrl, loopback, allowHttp, key, lock }, kind)
    const oauth = oauthClient({
      name: 'log-in',
      scope: logInScope,
      more: union(...Object.values(furtherScopes)),
      callbackPath: '/oauth/callback',
      metadataPath,
      onGone: did => void endSessions(sessions, did, { logger, at: now() }),
    })
    const delegations = createDelegations({ database, now, logger, identity, lock, loopback, createOAuth: oauthClient })
    const reader = overrides.reader ?? createReader({ identity, fetch, now })
    const mirrors = createMirrors(join(config.dataDir, 'mirrors'))
    const indexer =
      overrides.indexer ??
      createIndexer({
        index: database,
        identity,
        reader,
        mirrors,
        jetstream: config.jetstreamUrl,
        relay: config.relayUrl,
        now,
        failed: error => logger.error({ err: error }, 'a part of the index failed'),
      })
    delegations.onChanged(owner => {
      indexer.touch(owner).catch((error: unknown) => logger.error({ err: error, did: owner }, 'a change of a delegation was not told'))
    })
    const audit = createAudit({ database, now })
    const gateway = createGateway({ config, now, ids, logger, reader, identity, database, mirrors, indexer, delegations, audit })
    const passes = createPasses({ database, now })
    return {
      config,
      version: readVersion(),
      now,
      ids,
      logger,
      metrics: overrides.metrics ?? createMetrics(),
      database,
      db,
      fetch,
      identity,
      reader,
      mirrors,
      indexer,
      repositories: createRepositoryCache({ index: database, now, fold: foldRepository }),
      lock,
      oauth,
      delegations,
      audit,
      replays: createKeptReplays({ database, now }),
      gateway,
      passes,
      liveLogs: createLiveLogs(),
      sessions,
      cookies: cookiesFor(config),
      formTokens: createFormTokens(deriveKey(config.secret, 'form tokens')),
      renderer: overrides.renderer ?? createRenderer(),
      async close() {
        passes.stop()
        fetch.close()
        await database.close()
      },
    }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** An account whose grant is gone is logged out everywhere, since its sessions could not do anything; one begun since then has a new grant. */
async function endSessions(sessions: Sessions, did: string, { logger, at }: { logger: FastifyBaseLogger; at: number }): Promise<void> {
  try {
    const ended = await sessions.endAll(did, { begunBefore: at })
    if (ended > 0) logger.info({ did, ended }, 'grant gone, sessions ended')
  } catch (error) {
    logger.error({ err: error, did }, 'sessions of a lost grant could not be ended')
  }
}

/** Fastify's own pino, made before the app: paths without their queries, no headers, no bodies. */
function createLogger(level: string): FastifyBaseLogger {
  return fastify({
    logger: {
      level,
      serializers: {
        req: request => ({ id: request.id, method: request.method, path: request.url.split('?')[0], from: request.ip }),
        res: reply => ({ status: reply.statusCode }),
      },
    },
  }).log
}
