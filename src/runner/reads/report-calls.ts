import type { Appview } from '../context.ts'

/** Reasons and pieces of log in one call, bytes of one piece and of all (`dev.knotless.reportPass`, whose input has 1 MiB at most). */
const MOST_REASONS = 20
const MOST_PIECES = 50
const PIECE_BYTES = 60_000
const CALL_BYTES = 700_000
const REASON_BYTES = 1_000

type Report = Parameters<Appview['report']>[0]
type Piece = NonNullable<Report['logs']>[number]

/** The bodies of the calls that a report takes: its times and reasons in the first, and as many more as its logs need. */
export function reportCalls({ repo, passedAt, nextBy, waitsFor, logs = [] }: Report): string[] {
  const reasons = waitsFor.slice(0, MOST_REASONS).map(text => ({ text: firstBytes(text, REASON_BYTES) }))
  const times = { passedAt: new Date(passedAt).toISOString(), nextBy: new Date(nextBy).toISOString() }
  const pieces = logs.flatMap(pieceBounds)
  const groups: Piece[][] = [[]]
  let size = 0
  for (const piece of pieces) {
    const more = JSON.stringify(piece).length * 2
    if ((groups.at(-1)?.length ?? 0) >= MOST_PIECES || (size > 0 && size + more > CALL_BYTES)) {
      groups.push([])
      size = 0
    }
    groups.at(-1)?.push(piece)
    size += more
  }
  return groups.map((group, at) => {
    const told = group.length === 0 ? {} : { logs: group }
    return JSON.stringify(at === 0 ? { repo, ...times, waitsFor: reasons, ...told } : { repo, ...told })
  })
}

/** A piece in pieces that are taken, none of which ends inside a character; offsets count bytes. */
function pieceBounds({ check, offset, text }: Piece): Piece[] {
  const pieces: Piece[] = []
  let at = offset
  for (let rest = text; rest !== ''; ) {
    const part = firstBytes(rest, PIECE_BYTES)
    pieces.push({ check, offset: at, text: part })
    at += Buffer.byteLength(part)
    rest = rest.slice(part.length)
  }
  return pieces
}

/** As much of a text as fits into so many bytes of UTF-8, whole characters only. */
function firstBytes(text: string, most: number): string {
  if (Buffer.byteLength(text) <= most) return text
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(most))
  return text.slice(0, read)
}
