import { LRUCache } from 'lru-cache'
import type { Did } from '../../atproto/ids.ts'
import type { Reader } from '../../atproto/reader.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import { type Report, readReport } from '../../workflows/junit.ts'

/** `broken`: it is no report, or one longer than any runner files. */
export type ReadReport = { ok: true; report: Report } | { ok: false; why: 'gone' | 'unread' | 'busy' | 'broken'; host?: string | undefined }

/** Reports of runs, read from their runners' accounts. */
export interface Reports {
  of(did: Did, cid: string): Promise<ReadReport>
}

/** A runner takes 5 MB of files into one. */
const MOST_BYTES = 6 * 2 ** 20
const READ_MS = 20_000
const AT_ONCE = 4

/** A blob never changes, so that a report that was read is kept; each is read once however many ask. */
export function createReports({ reader }: { reader: Pick<Reader, 'getBlob'> }): Reports {
  const kept = new LRUCache<string, ReadReport>({ max: 300 })
  const reading = new Map<string, Promise<ReadReport>>()

  async function read(key: string, did: Did, cid: string): Promise<ReadReport> {
    try {
      const blob = await reader.getBlob(did, cid, { maxBytes: MOST_BYTES, totalMs: READ_MS })
      if (blob === undefined) return { ok: false, why: 'gone' }
      const parts: Uint8Array[] = []
      for await (const part of blob) parts.push(part)
      const report = readReport(Buffer.concat(parts).toString('utf8'))
      const answer: ReadReport = report === undefined ? { ok: false, why: 'broken' } : { ok: true, report }
      kept.set(key, answer)
      return answer
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error
      return error.reason === 'too-large' ? { ok: false, why: 'broken' } : { ok: false, why: 'unread', host: error.host }
    } finally {
      reading.delete(key)
    }
  }

  return {
    async of(did, cid) {
      const key = `${did} ${cid}`
      const known = kept.get(key) ?? reading.get(key)
      if (known !== undefined) return await known
      if (reading.size >= AT_ONCE) return { ok: false, why: 'busy' }
      const asked = read(key, did, cid)
      reading.set(key, asked)
      return await asked
    },
  }
}
