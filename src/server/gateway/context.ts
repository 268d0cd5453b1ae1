import type { FastifyBaseLogger } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { Identity } from '../../atproto/identity.ts'
import type { Did } from '../../atproto/ids.ts'
import type { Reader } from '../../atproto/reader.ts'
import { createTidClock, type TidClock } from '../../atproto/tid.ts'
import type { Mirrors } from '../../git/mirror.ts'
import type { IndexDatabase } from '../../indexer/database.ts'
import type { Indexer } from '../../indexer/indexer.ts'
import { createKeyedLock, type KeyedLock } from '../actions/keyed-lock.ts'
import type { Config } from '../config.ts'
import type { Ids } from '../ids.ts'
import type { PartLimits } from './account.ts'
import { delegationPath } from './facts.ts'
import type { Gathered } from './gather.ts'
import type { Audit, Delegations, Look } from './types.ts'

/** What the gateway takes of the server's context. */
export interface GatewayOptions {
  readonly config: Pick<Config, 'did' | 'publicUrl'>
  /** Milliseconds since 1970. */
  readonly now: () => number
  readonly ids: Pick<Ids, 'clock'>
  readonly logger: Pick<FastifyBaseLogger, 'error' | 'info'>
  readonly reader: Reader
  readonly identity: Identity
  readonly database: IndexDatabase
  readonly mirrors: Mirrors
  readonly indexer: Pick<Indexer, 'ensureMirror' | 'indexOwnWrite'>
  readonly delegations: Delegations
  readonly audit: Audit
}

/** The same with what the gateway keeps in memory. */
export interface GatewayContext extends GatewayOptions {
  readonly tids: TidClock
  /** One write at a time for each repository. */
  readonly locks: KeyedLock
  readonly partLimits: PartLimits
  /** The refs record that each repository's mirror was last brought to, by its CID. */
  readonly mirrored: LRUCache<string, string>
  /** Repositories that somebody began to look at, and when by the process's own clock. */
  readonly looks: WeakMap<Look, { at: number; gathered: Promise<Gathered> }>
  /** Work beside requests, to be waited for at the end. */
  readonly background: Set<Promise<void>>
}

const MIRRORS = 10_000

export function createGatewayContext(options: GatewayOptions): GatewayContext {
  return {
    ...options,
    tids: createTidClock({ now: options.now, clockId: options.ids.clock() }),
    locks: createKeyedLock(),
    partLimits: new Map(),
    mirrored: new LRUCache({ max: MIRRORS }),
    looks: new WeakMap(),
    background: new Set(),
  }
}

/** Where an owner gives and takes back the delegation. */
export function settingsUrl(ctx: Pick<GatewayOptions, 'config'>): string {
  return `${ctx.config.publicUrl}${delegationPath}`
}

/** Host of the server that keeps an account. Rejects with an UpstreamError when that cannot be told. */
export async function hostOf(ctx: Pick<GatewayOptions, 'identity'>, did: Did): Promise<string> {
  const server = (await ctx.identity.resolveDocument(did))?.pds
  return server === undefined ? did : new URL(server).host
}

/** Lets work go on beside the request. What it throws is logged. */
export function goOn(ctx: GatewayContext, work: () => Promise<void>): void {
  const going = work()
    .catch((error: unknown) => ctx.logger.error({ err: error }, 'work of the gateway beside a request failed'))
    .finally(() => ctx.background.delete(going))
  ctx.background.add(going)
}
