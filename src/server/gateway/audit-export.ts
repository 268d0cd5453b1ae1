import type { AuditLine, KeptAudit } from './audit.ts'

const LINES_AT_ONCE = 500

/** A line as it leaves: the same fields in JSON and, in this order, in CSV. `verdict` is written, refused, begun or unknown. */
function fieldsOf(line: AuditLine) {
  const { id, at, caller, door, repo, ref, from, to, outcome, code, reason, note, more } = line
  const times = { id, at: new Date(at).toISOString() }
  return { ...times, caller, door, repo, ref, from, to, verdict: outcome, code: code ?? null, reason, note: note ?? null, more }
}

const columns = ['id', 'at', 'caller', 'door', 'repo', 'ref', 'from', 'to', 'verdict', 'code', 'reason', 'note', 'more'] as const

/** An owner's lines, newest first, read some at a time: nothing is held while whoever reads is slow. */
function* batches(audit: Pick<KeptAudit, 'list'>, owner: string): Generator<readonly AuditLine[]> {
  let before: number | undefined
  for (;;) {
    const lines = audit.list(owner, { before, limit: LINES_AT_ONCE })
    const last = lines.at(-1)
    if (last === undefined) return
    yield lines
    before = last.id
  }
}

/** The whole log as one JSON object: `owner`, `exportedAt`, and `entries`, newest first. */
export function* auditJson(audit: Pick<KeptAudit, 'list'>, owner: string, now: number): Generator<string> {
  yield `{"owner":${JSON.stringify(owner)},"exportedAt":${JSON.stringify(new Date(now).toISOString())},"entries":[`
  let first = true
  for (const lines of batches(audit, owner)) {
    const text = lines.map(line => JSON.stringify(fieldsOf(line))).join(',\n')
    yield first ? `\n${text}` : `,\n${text}`
    first = false
  }
  yield '\n]}\n'
}

/** The whole log as CSV (RFC 4180) with a line of names, newest first. */
export function* auditCsv(audit: Pick<KeptAudit, 'list'>, owner: string): Generator<string> {
  yield `${columns.join(',')}\r\n`
  for (const lines of batches(audit, owner)) {
    yield lines
      .map(line => {
        const fields = fieldsOf(line)
        return `${columns.map(column => csvCell(fields[column])).join(',')}\r\n`
      })
      .join('')
  }
}

/** A cell in quotes. What a spreadsheet would take for a formula gets an apostrophe before it; that includes what begins with blanks or controls. */
export function csvCell(value: string | number | null): string {
  if (typeof value === 'number') return `${value}`
  const text = value ?? ''
  const safe = /^[\s\p{Cc}\p{Cf}]*[=+\-@|%\uff0b\uff0d\uff1d\uff20]/u.test(text) || /^[\t\r\n]/.test(text) ? `'${text}` : text
  return `"${safe.replaceAll('"', '""')}"`
}
