import { createHash } from 'node:crypto'
import { cidForRawHash, isRawCid, parseCidSafe, SHA256_HASH_CODE } from '@atproto/lex-data'
import { UpstreamError } from './upstream-error.ts'

/** True of a CID that a blob can have: raw bytes under SHA-256. */
export function isBlobCid(cid: string): boolean {
  const parsed = parseCidSafe(cid)
  return parsed !== null && isRawCid(parsed) && parsed.multihash.code === SHA256_HASH_CODE && parsed.toString() === cid
}

/**
 * The same bytes, held against the CID that they were asked by: when they do not match, the end is an UpstreamError `bad-answer`. Whoever uses
 * the bytes before the end uses them unchecked.
 */
export async function* checkedAgainst(cid: string, host: string, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256')
  for await (const chunk of chunks) {
    hash.update(chunk)
    yield chunk
  }
  if (cidForRawHash(hash.digest()).toString() !== cid) throw new UpstreamError('bad-answer', host, 'the bytes are not those of their CID')
}
