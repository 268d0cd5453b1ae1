/** Reads git's patch format as it streams by, with bounds on what is kept; pure, no git here. */

import { splitLines } from './split-stream.ts'

export interface DiffLine {
  kind: ' ' | '+' | '-'
  /** Line numbers before and after, counted from 1. */
  old?: number
  new?: number
  text: string
  /** The text was cut. */
  cut?: true
  /** The file ends here without a newline. */
  noNewline?: true
}

export interface DiffHunk {
  /** As git writes it, with the function it is in. */
  header: string
  lines: DiffLine[]
}

/** What the patch says of one file. `hunks` is missing when it holds more lines or bytes than are kept. */
export interface PatchSection {
  binary: boolean
  additions: number
  deletions: number
  hunks?: DiffHunk[]
}

/** Bounds on what is kept: lines and bytes of one file's hunks, bytes of one line. */
export interface PatchBounds {
  lines: number
  bytes: number
  lineBytes: number
}

const header = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/
const headerLength = 200

interface Open {
  section: PatchSection
  lines: number
  bytes: number
  /** Lines of the present hunk still to come, and their next numbers. */
  oldLeft: number
  newLeft: number
  old: number
  new: number
}

/**
 * Makes a reader: `push` takes chunks in order, `end` closes the last file. `take` gets each file's section when it is whole and answers false
 * when it has enough; `push` then answers false too.
 */
export function patchReader(
  bounds: PatchBounds,
  take: (section: PatchSection) => boolean,
): { push: (chunk: Buffer) => boolean; end: () => void } {
  let open: Open | undefined
  let more = true
  const push = splitLines(bounds.lineBytes + 1, (line, length) => {
    if (open !== undefined && (open.oldLeft > 0 || open.newLeft > 0 || line[0] === 0x5c)) hunkLine(open, line, length, bounds)
    else if (line.toString('latin1', 0, 11) === 'diff --git ') {
      close()
      open = {
        section: { binary: false, additions: 0, deletions: 0, hunks: [] },
        lines: 0,
        bytes: 0,
        oldLeft: 0,
        newLeft: 0,
        old: 0,
        new: 0,
      }
    } else if (open !== undefined) headLine(open, line, length)
    return more
  })
  function close(): void {
    if (open !== undefined && more) more = take(open.section)
    open = undefined
  }
  return {
    push: chunk => push(chunk) && more,
    end: close,
  }
}

function headLine(open: Open, line: Buffer, length: number): void {
  const text = line.toString('utf8')
  const found = header.exec(text)
  if (found !== null) {
    open.old = Number(found[1])
    open.oldLeft = Number(found[2] ?? 1)
    open.new = Number(found[3])
    open.newLeft = Number(found[4] ?? 1)
    const cut = length > headerLength ? `${text.slice(0, headerLength)}…` : text
    open.section.hunks?.push({ header: cut, lines: [] })
  } else if (text.startsWith('Binary files ')) open.section.binary = true
}

function hunkLine(open: Open, line: Buffer, length: number, bounds: PatchBounds): void {
  const { section } = open
  const hunk = section.hunks?.at(-1)
  const kind = String.fromCharCode(line[0] ?? 0x20)
  if (kind === '\\') {
    const last = hunk?.lines.at(-1)
    if (last !== undefined) last.noNewline = true
    return
  }
  if (kind !== '+' && kind !== '-' && kind !== ' ') {
    open.oldLeft = 0
    open.newLeft = 0
    return
  }
  const row: DiffLine = { kind, text: line.toString('utf8', 1, bounds.lineBytes) }
  if (length > bounds.lineBytes) {
    row.text = row.text.replace(/\uFFFD+$/, '')
    row.cut = true
  }
  if (kind !== '+') {
    row.old = open.old++
    open.oldLeft -= 1
  }
  if (kind !== '-') {
    row.new = open.new++
    open.newLeft -= 1
  }
  if (kind === '+') section.additions += 1
  if (kind === '-') section.deletions += 1
  open.lines += 1
  open.bytes += Math.min(length, bounds.lineBytes)
  if (open.lines > bounds.lines || open.bytes > bounds.bytes) delete section.hunks
  else hunk?.lines.push(row)
}
