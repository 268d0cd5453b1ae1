import { getBlobCidString } from '@atproto/lex-data'
import { parseDid } from '../../atproto/ids.ts'
import { isGoing, millis, type Run } from '../../queue/runs.ts'
import { logNotes, noLogWords } from '../../queue/words/check-page.ts'
import { plain } from '../../queue/words/phrase.ts'
import { createTerminal, plainLine } from '../../views/ansi.ts'
import { type LogLine, piecesMarkup } from '../../views/logs.ts'
import type { LogModel } from '../../views/models.ts'
import { withQuery } from '../../views/paths.ts'
import { fitting } from '../logs/fitting.ts'
import { logLines, rawLines } from '../logs/lines.ts'
import type { LogPart, OpenLog, ReadLog } from '../logs/logs.ts'
import type { PageContext } from './context.ts'

/** Lines on one page, and of a log that still grows. */
const PAGE = 2_000
const LIVE = 500
/** Bytes that they come to over the line, packed. */
const ROOM = 16_000
/** A log that is not there this long after the run ended is not waited for any more. */
const COMES_WITHIN = 24 * 60 * 60_000
/** How long the plain text of a log waits for it to be read. */
const WHOLE_WAITS = 60_000

type Logged = Pick<PageContext, 'logs' | 'liveLogs' | 'now'>

/** The output of a run where it lies in the runner's account; undefined where none does yet. */
export async function readLog(ctx: Logged, run: Run, waitMs?: number): Promise<ReadLog | undefined> {
  const parts = (run.value.log ?? []).map(blob => getBlobCidString(blob))
  if (parts.length === 0) return undefined
  ctx.liveLogs.drop(run.uri)
  const did = parseDid(run.did)
  const log: ReadLog = did === undefined ? { ok: false, why: 'gone' } : await ctx.logs.of({ did, parts }, waitMs)
  // Whoever watches the page is told once it is read.
  if (!log.ok && log.why === 'reading') void log.done.then(() => ctx.liveLogs.tell(run.uri))
  return log
}

/** Which part of a log is asked for: what begins with a line, or ends with one. */
export interface AskedPart {
  from?: number | undefined
  to?: number | undefined
}

/** The part of a log that its page shows: from a line on, or up to one, else its end. */
export async function shownPart(log: ReadLog | undefined, { from, to }: AskedPart): Promise<LogPart | undefined> {
  if (!log?.ok) return undefined
  if (from === undefined) return endOf(await log.tail(PAGE, Math.min(to ?? log.lines, log.lines)))
  const part = await log.range(Math.max(1, Math.min(from, log.lines)), PAGE)
  return { ...part, lines: part.lines.slice(0, fitting(asShown(part.lines), ROOM)) }
}

/** Lines as a page has them, as far as they weigh something. */
function asShown(lines: readonly string[]): string[] {
  const terminal = createTerminal()
  return lines.map(line => piecesMarkup(terminal.line(line)))
}

/** As much of the end of a part as a page carries. */
function endOf({ first, lines, before }: LogPart): LogPart {
  const left = lines.length - fitting(asShown(lines).reverse(), ROOM)
  return { first: first + left, lines: lines.slice(left), before: [...before, ...lines.slice(0, left)] }
}

/**
 * The output of a run for its page: `log` as it was read, of which `part` is shown, else what was sent of it so far. `bad` are numbers of lines that
 * say what went wrong.
 */
export function logModel(
  ctx: Logged,
  run: Run,
  log: ReadLog | undefined,
  shown: { part?: LogPart | undefined; path: string; bad?: ReadonlySet<number> | undefined },
): LogModel {
  if (log === undefined) return unfinished(ctx, run)
  if (!log.ok) return { shown: false, says: noLogWords(log), live: log.why === 'reading' }
  const { part = { first: 1, lines: [], before: [] }, path, bad } = shown
  const { first, lines } = part
  const isLast = first + lines.length > log.lines
  return {
    shown: true,
    lines: coloured(part, bad),
    first,
    of: log.lines,
    ...(first > 1 ? { earlier: withQuery(path, { to: `${first - 1}` }) } : {}),
    ...(isLast ? {} : { later: withQuery(path, { from: `${first + lines.length}` }) }),
    live: false,
    notes: log.cut !== undefined && isLast ? [logNotes[log.cut]] : [],
    plain: `${path}/log`,
  }
}

/** The lines with their colours, those that were set before included. */
function coloured({ before, lines, first }: LogPart, bad?: ReadonlySet<number>): LogLine[] {
  const terminal = createTerminal()
  for (const line of before) if (line.includes('\u001b')) terminal.line(line)
  return lines.map((line, at) => {
    const pieces = terminal.line(line)
    const kind = bad?.has(first + at) === true ? 'bad' : line.startsWith('$ ') ? 'step' : undefined
    return { pieces, kind }
  })
}

/** The whole log as text, piece by piece, or why there is none. */
export async function wholeLog(
  ctx: Logged,
  run: Run,
): Promise<{ ok: true; text: AsyncIterable<string> | string } | { ok: false; text: string }> {
  const log = await readLog(ctx, run, WHOLE_WAITS)
  if (log?.ok) return { ok: true, text: textOf(log) }
  const live = log === undefined ? ctx.liveLogs.of(run.uri) : undefined
  if (live !== undefined) return { ok: true, text: `${logLines(live.text).join('\n')}\n` }
  const says = noLogWords(log ?? { why: isGoing(run.value) ? 'going' : 'none' })
  return { ok: false, text: `${plain(says, ctx.now(), () => undefined)}\n` }
}

async function* textOf(log: OpenLog): AsyncGenerator<string> {
  for await (const { lines } of log.all()) yield `${lines.map(plainLine).join('\n')}\n`
  if (log.cut !== undefined) yield `${plain(logNotes[log.cut], 0, () => undefined)}\n`
}

/** What is known of a log that is not in the runner's account: output as it comes, or why there is none. */
function unfinished(ctx: Logged, run: Run): LogModel {
  const going = isGoing(run.value)
  const endedAt = millis(run.value.finishedAt) ?? millis(run.value.createdAt) ?? run.seenAt
  const coming = run.value.startedAt !== undefined && run.value.status !== 'cancelled' && ctx.now() - endedAt < COMES_WITHIN
  const sent = ctx.liveLogs.of(run.uri)
  if (sent === undefined)
    return { shown: false, says: noLogWords({ why: going ? 'going' : coming ? 'coming' : 'none' }), live: going || coming }
  const all = rawLines(sent.text)
  const early = all.slice(0, -LIVE)
  const { first, lines, before } = endOf({ first: early.length + 1, lines: all.slice(-LIVE), before: early })
  const isWhole = sent.from === 0
  // Where the beginning is not kept, the first line is the end of one.
  const cut = isWhole && before.length === 0 ? 0 : sent.from + Buffer.byteLength(sent.text) - Buffer.byteLength(lines.join('\n'))
  return {
    shown: true,
    lines: coloured({ before, lines, first }),
    ...(isWhole ? { first, of: all.length } : {}),
    live: going || coming,
    notes: cut === 0 ? [] : [logNotes.cutBefore(cut)],
  }
}
