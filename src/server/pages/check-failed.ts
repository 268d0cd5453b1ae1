import { getBlobCidString } from '@atproto/lex-data'
import { parseDid } from '../../atproto/ids.ts'
import type { Run } from '../../queue/runs.ts'
import { moreFailed, noReportWords } from '../../queue/words/check-page.ts'
import type { FailedLine, FailedModel } from '../../views/models.ts'
import { withQuery } from '../../views/paths.ts'
import type { FailedTest, Report } from '../../workflows/junit.ts'
import type { FailedLines } from '../logs/failed-lines.ts'
import { fitting } from '../logs/fitting.ts'
import type { LogPart, ReadLog } from '../logs/logs.ts'
import type { PageContext } from './context.ts'

/** Failed tests on a page: whoever breaks everything reads the first of them and the log. */
const SHOWN = 100
/** Lines that stand before the one that a link leads to, on a page of its own. */
const BEFORE = 100
/** Characters of a trace on the page. */
const TRACE = 3_000
/** Bytes that all of them come to over the line, packed. */
const ROOM = 8_000

export interface Failed {
  model?: FailedModel | undefined
  tests?: { failures: number; of: number; skipped: number } | undefined
  /** Numbers of lines of the log that say what went wrong. */
  bad?: ReadonlySet<number> | undefined
}

/** What the report of a run says of failed tests, where it has one: bounded, and each with the line of the log that tells of it. */
export async function failedModel(
  ctx: Pick<PageContext, 'reports' | 'failedTests'>,
  run: Run,
  log: ReadLog | undefined,
  page: { path: string; part?: LogPart | undefined },
): Promise<Failed> {
  const { report: blob } = run.value
  const did = parseDid(run.did)
  if (blob === undefined || did === undefined) return {}
  const read = await ctx.reports.of(did, getBlobCidString(blob))
  if (!read.ok) return run.value.status === 'success' ? {} : { model: { of: 0, list: [], notes: [noReportWords(read)] } }
  const { report } = read
  const shown = report.failed.slice(0, SHOWN)
  const key = [did, ...[blob, ...(run.value.log ?? [])].map(each => getBlobCidString(each))].join(' ')
  const lines = log?.ok === true ? await ctx.failedTests.of(key, log, shown) : []
  const tests = { failures: report.failures, of: report.tests, skipped: report.skipped }
  const bad = new Set(lines.flatMap(({ says }) => says ?? []))
  return { tests, bad, model: report.failures === 0 ? undefined : listed(report, shown, { ...page, lines }) }
}

function listed(
  report: Report,
  shown: readonly FailedTest[],
  log: { lines: readonly FailedLines[]; path: string; part?: LogPart | undefined },
): FailedModel {
  const list = shown.map((test, at): FailedLine => {
    const { name, suite, file, message, text } = test
    const from = log.lines[at]?.from
    const [said, trace] = split(message, text)
    return {
      name: name === '' ? (suite ?? '') : name,
      where: file ?? (suite === name ? undefined : suite),
      ...(from === undefined ? {} : { line: { n: from, href: hrefOf(from, log) } }),
      message: said,
      text: trace,
    }
  })
  const fits = fitting(
    list.map(({ name, where, message, text }) => `${name}${where}${message}${text}`),
    ROOM,
  )
  const more = report.failures - Math.min(fits, list.length)
  return {
    of: report.failures,
    list: list.slice(0, fits),
    notes: [...(more > 0 ? [moreFailed(more)] : []), ...(report.isDamaged ? [noReportWords({ why: 'damaged' })] : [])],
  }
}

/** What went wrong, and the rest; many reporters say the message again at the beginning of the trace. */
function split(message: string, text: string): [string, string] {
  const trace = text.trim()
  const said = message === '' ? (trace.split('\n')[0] ?? '').slice(0, 500) : message
  const rest = trace.startsWith(said) ? trace.slice(said.length).trim() : trace
  return [said, rest.length > TRACE ? `${rest.slice(0, TRACE)}…` : rest]
}

/** The line within what the page shows, or within a page of its own. */
function hrefOf(line: number, { path, part }: { path: string; part?: LogPart | undefined }): string {
  if (part !== undefined && line >= part.first && line < part.first + part.lines.length) return `#L${line}`
  return `${withQuery(path, { from: `${Math.max(1, line - BEFORE)}` })}#L${line}`
}
