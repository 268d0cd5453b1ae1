import type { Reader } from '../../atproto/reader.ts'
import type { Mirror, Mirrors } from '../../git/mirror.ts'
import type { GitRefusal } from '../../git/refusal.ts'
import { refuse } from '../../git/refusal.ts'
import { type SyncLimits, syncMirror } from '../../git/sync.ts'
import { repoParts } from '../validate/addresses.ts'
import { blobsOf } from './sync.ts'

/**
 * Brings the mirror of a repository to a refs record that was just read from its account, for checks over fresh reads (ADM-5). Nothing is noted:
 * the index hears of the record by itself.
 */
export async function ensureMirror(
  ctx: { mirrors: Mirrors; reader: Pick<Reader, 'getBlob'>; limits?: SyncLimits | undefined },
  repo: string,
  record: unknown,
  signal?: AbortSignal,
): Promise<{ ok: true; mirror: Mirror } | GitRefusal> {
  const at = repoParts(repo)
  if (at === undefined) return refuse('bad-record', 'The repository has no such address.')
  const mirror = await ctx.mirrors.of(repo)
  const done = await syncMirror(mirror, record, blobsOf(ctx.reader, at.did), {
    ...ctx.limits,
    repo,
    ...(signal === undefined ? {} : { signal }),
  })
  return done.ok ? { ok: true, mirror } : done
}
