import { parseDid } from '../../atproto/ids.ts'
import { isGoing, millis, type Run } from '../../queue/runs.ts'
import { logNotes, noLogWords } from '../../queue/words/check-page.ts'
import { plain } from '../../queue/words/phrase.ts'
import type { LogModel } from '../../views/models.ts'
import { withQuery } from '../../views/paths.ts'
import { logLines } from '../logs/lines.ts'
import type { ReadLog } from '../logs/logs.ts'
import type { PageContext } from './context.ts'

/** Lines on one page, and of a log that still grows. */
const PAGE = 2_000
const LIVE = 500
/** A log that is not there this long after the run ended is not waited for any more. */
const COMES_WITHIN = 24 * 60 * 60_000

type Logged = Pick<PageContext, 'logs' | 'liveLogs' | 'now'>

/** The output of a run for its page: from the runner's account where it lies there, else what was sent of it so far. Of a long log the end is shown first. */
export async function logModel(ctx: Logged, run: Run, asked: { from?: number | undefined; path: string }): Promise<LogModel> {
  const parts = partsOf(run)
  if (parts.length === 0) return unfinished(ctx, run)
  ctx.liveLogs.drop(run.uri)
  const log = await read(ctx, run, parts)
  if (!log.ok) return { shown: false, says: noLogWords(log), live: false }
  const of = log.lines.length
  const first = Math.min(asked.from ?? Math.max(1, of - PAGE + 1), Math.max(1, of))
  const lines = log.lines.slice(first - 1, first - 1 + PAGE)
  const href = (line: number) => withQuery(asked.path, { from: `${line}` })
  const isLast = first + lines.length > of
  return {
    shown: true,
    lines,
    first,
    of,
    ...(first > 1 ? { earlier: href(Math.max(1, first - PAGE)) } : {}),
    ...(isLast ? {} : { later: href(first + PAGE) }),
    live: false,
    notes: log.cut && isLast ? [logNotes.cutAfter] : [],
    plain: `${asked.path}/log`,
  }
}

/** The whole log as text, or why there is none. */
export async function wholeLog(ctx: Logged, run: Run): Promise<{ ok: boolean; text: string }> {
  const parts = partsOf(run)
  const live = parts.length === 0 ? ctx.liveLogs.of(run.uri) : undefined
  if (live !== undefined) return { ok: true, text: `${logLines(live.text).join('\n')}\n` }
  const log = parts.length === 0 ? undefined : await read(ctx, run, parts)
  if (log?.ok) return { ok: true, text: `${log.lines.join('\n')}\n` }
  const says = noLogWords(log ?? { why: isGoing(run.value) ? 'going' : 'none' })
  return { ok: false, text: `${plain(says, ctx.now(), () => undefined)}\n` }
}

function partsOf(run: Run): string[] {
  return (run.value.log ?? []).map(blob => ('ref' in blob ? blob.ref.toString() : blob.cid))
}

async function read(ctx: Logged, run: Run, parts: readonly string[]): Promise<ReadLog> {
  const did = parseDid(run.did)
  return did === undefined ? { ok: false, why: 'gone' } : await ctx.logs.of({ did, parts })
}

/** What is known of a log that is not in the runner's account: output as it comes, or why there is none. */
function unfinished(ctx: Logged, run: Run): LogModel {
  const going = isGoing(run.value)
  const endedAt = millis(run.value.finishedAt) ?? millis(run.value.createdAt) ?? run.seenAt
  const coming = run.value.startedAt !== undefined && run.value.status !== 'cancelled' && ctx.now() - endedAt < COMES_WITHIN
  const sent = ctx.liveLogs.of(run.uri)
  if (sent === undefined)
    return { shown: false, says: noLogWords({ why: going ? 'going' : coming ? 'coming' : 'none' }), live: going || coming }
  const all = logLines(sent.text)
  const lines = all.slice(-LIVE)
  const isWhole = sent.from === 0
  // Where the beginning is not kept, the first line is the end of one.
  const cut = isWhole && lines.length === all.length ? 0 : sent.from + Buffer.byteLength(sent.text) - Buffer.byteLength(lines.join('\n'))
  return {
    shown: true,
    lines,
    ...(isWhole ? { first: all.length - lines.length + 1, of: all.length } : {}),
    live: going || coming,
    notes: cut === 0 ? [] : [logNotes.cutBefore(cut)],
  }
}
