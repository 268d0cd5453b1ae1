import { band, flushPkt, onBand, pktLine } from './packets.ts'
import { quoted } from './words.ts'

/** What became of a push: whether the pack was taken, and each ref. */
export interface ReceiveReport {
  /** Why the pack was not taken; undefined when it was, or there was none. */
  unpack?: string | undefined
  refs: readonly ({ name: string; ok: true } | { name: string; ok: false; reason: string })[]
  /** Lines that git prints as `remote: …`, before what it says of the refs. */
  remote?: readonly string[]
}

/** Characters of a reason and of a line, and how many lines. */
const bounds = { reason: 500, line: 1000, lines: 3000 } as const

/**
 * The answer to a receive-pack request, in the form that the client said it takes (`capabilities`): `report-status` or its second version, inside
 * `side-band-64k` or plain. Lines for people need a side band. Reasons are made one line each.
 */
export function receiveReport(report: ReceiveReport, capabilities: ReadonlySet<string>): Buffer {
  const parts: Buffer[] = []
  const sideBand = capabilities.has('side-band-64k')
  if (sideBand) parts.push(remoteLines(report.remote ?? []))
  if (capabilities.has('report-status') || capabilities.has('report-status-v2')) {
    const status = Buffer.concat([
      pktLine(`unpack ${report.unpack === undefined ? 'ok' : oneLine(report.unpack)}\n`),
      ...report.refs.map(ref => pktLine(ref.ok ? `ok ${ref.name}\n` : `ng ${ref.name} ${oneLine(ref.reason)}\n`)),
      flushPkt,
    ])
    parts.push(sideBand ? onBand(band.data, status) : status)
  }
  if (sideBand) parts.push(flushPkt)
  return Buffer.concat(parts)
}

/** Lines that git prints as `remote: …` as soon as they come. */
export function remoteLines(lines: readonly string[]): Buffer {
  return onBand(
    band.progress,
    lines
      .slice(0, bounds.lines)
      .map(line => `${quoted(line, bounds.line)}\n`)
      .join(''),
  )
}

/** An empty reason would be read as none. */
function oneLine(text: string): string {
  return quoted(text, bounds.reason).trim() || 'refused'
}
