/** A lander's own record about a repository: where it lies, what it says, how it is read. */
import { toDatetimeString } from '@atproto/syntax'
import type { AtUri, Did, Nsid, RecordKey } from '../../atproto/ids.ts'
import { makeAtUri, parseRecordKey } from '../../atproto/ids.ts'
import type { Reader } from '../../atproto/reader.ts'
import { readUsable } from '../../indexer/sources/read-about.ts'
import type { LanderRecord, Stored } from '../../queue/facts.ts'
import { digest } from '../../workflows/check-keys.ts'
import type { RunnerContext } from '../context.ts'

export const landerCollection: Nsid = 'dev.knotless.lander'

export type Intent = NonNullable<LanderRecord['intent']>

/** What lies at the key: its CID for a swap, null for nothing; and the record, where it can be used. */
export interface FoundLander {
  cid: string | null
  record?: Stored<LanderRecord> | undefined
}

/** The key of a lander's record: a digest of the repository's AT-URI (STO-10). */
export function landerKey(repo: AtUri): RecordKey {
  const key = parseRecordKey(digest(repo))
  if (key === undefined) throw new Error('a digest is a record key')
  return key
}

/** An account's lander record about a repository, at its source. Rejects with an UpstreamError. */
export async function readLander(reader: Reader, did: Did, repo: AtUri, now: number, signal?: AbortSignal): Promise<FoundLander> {
  const read = await reader.getRecord(did, landerCollection, landerKey(repo), signal === undefined ? {} : { signal })
  if (read === undefined) return { cid: null }
  const record = readUsable(read, usable => (usable.kind === 'lander' ? usable.value : undefined), now)
  return { cid: read.cid, record: record?.value.repo === repo ? record : undefined }
}

/** A record as this account has it after a write that gave this CID. */
export function storedLander(did: Did, repo: AtUri, written: { cid: string; value: LanderRecord; at: number }): Stored<LanderRecord> {
  const rkey = landerKey(repo)
  return {
    uri: makeAtUri(did, landerCollection, rkey),
    did,
    rkey,
    cid: written.cid,
    value: written.value,
    seenAt: written.at,
    backfilled: true,
  }
}

/** The record of a lander that runs: its live settings, its lease, and what of the one before goes on (WHO-8, GWY-14). */
export function runningLander(
  ctx: Pick<RunnerContext, 'settings' | 'version' | 'git' | 'instance'>,
  repo: AtUri,
  given: { startedAt: number; until: number; before?: LanderRecord | undefined },
): LanderRecord {
  const { settings } = ctx
  const startedAt = datetime(given.startedAt)
  return {
    $type: 'dev.knotless.lander',
    repo,
    batch: settings.batch,
    depth: settings.depth,
    wait: seconds(settings.waitMs, 0),
    notice: seconds(settings.noticeMs, 1),
    sweep: seconds(settings.sweepMs, 1),
    timeout: seconds(settings.timeoutMs, 1, 864_000),
    jobs: Math.min(1000, Math.max(1, settings.jobs)),
    executor: settings.executor,
    version: ctx.version.slice(0, 64),
    git: ctx.git.slice(0, 64),
    startedAt,
    lease: { instance: ctx.instance.slice(0, 128), until: datetime(given.until) },
    ...(given.before?.intent === undefined ? {} : { intent: given.before.intent }),
    createdAt: given.before?.createdAt ?? startedAt,
  }
}

/** The same record with another intent, or none. */
export function withIntent(value: LanderRecord, intent: Intent | undefined): LanderRecord {
  const { intent: _, ...rest } = value
  return intent === undefined ? rest : { ...rest, intent }
}

/** The record of one that stopped: what it was about to do stays on it. */
export function stoppedLander(value: LanderRecord, at: number): LanderRecord {
  const { lease: _, ...rest } = value
  return { ...rest, stoppedAt: datetime(at) }
}

/** A time in milliseconds since 1970 as records have it. */
export function datetime(at: number) {
  return toDatetimeString(new Date(at))
}

function seconds(ms: number, least: number, most = 86_400): number {
  return Math.min(most, Math.max(least, Math.round(ms / 1000)))
}
