/** A log and a report as blobs (CHK-13). */
import type { TypedBlobRef } from '@atproto/lex-data'
import type { WriteFailure } from '../../atproto/write-outcome.ts'
import type { AccountWriter } from '../../atproto/writer.ts'
import { partLimits } from '../../git/parts.ts'
import type { CheckRecord } from '../../queue/facts.ts'
import type { Evidence } from './types.ts'

/** Parts that a record may name. */
const mostParts = 200

export type Uploaded = { ok: true; fields: Pick<CheckRecord, 'log' | 'logBytes' | 'report'> } | WriteFailure

export interface Uploads {
  /** Uploads both; what is over every bound of the account's server is left out. A failure may pass: tried again, the same bytes are the same blobs. */
  upload(evidence: Evidence): Promise<Uploaded>
}

/** Uploads to one account, whose server's bound for a blob is found out once and remembered (STO-2). `leftOut` is told what no server would take. */
export function createUploads(writer: AccountWriter, leftOut: (what: 'log' | 'report', bytes: number) => void): Uploads {
  let limit: number = partLimits.first

  async function logParts(log: Uint8Array): Promise<{ ok: true; parts: TypedBlobRef[] } | WriteFailure> {
    const parts: TypedBlobRef[] = []
    for (let at = 0; at < log.length; ) {
      const part = log.subarray(at, at + limit)
      const done = await writer.uploadBlob(part, 'application/gzip')
      if (done.ok) {
        parts.push(done.blob)
        at += part.length
      } else if (done.code === 'too-large' && part.length > partLimits.fallback) {
        limit = partLimits.fallback
      } else return done
    }
    return { ok: true, parts }
  }

  return {
    async upload({ log, logBytes, report }) {
      const fields: Pick<CheckRecord, 'log' | 'logBytes' | 'report'> = {}
      if (log !== undefined) {
        const done = await logParts(log)
        if (done.ok && done.parts.length <= mostParts) Object.assign(fields, { log: done.parts, logBytes })
        else if (done.ok || done.code === 'too-large') leftOut('log', log.length)
        else return done
      }
      if (report !== undefined && report.length > 0) {
        const done = await writer.uploadBlob(report, 'application/xml')
        if (done.ok) fields.report = done.blob
        else if (done.code === 'too-large') leftOut('report', report.length)
        else return done
      }
      return { ok: true, fields }
    },
  }
}
