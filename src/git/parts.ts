import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { createCid, RAW_DATA_CODEC, SHA256_HASH_CODE } from '@atproto/lex-data'
import { accountRefusal, type RefsAccount } from './account.ts'
import { type BlobRef, readBlobRef } from './refs-record.ts'
import { type GitRefusal, refuse } from './refusal.ts'
import { words } from './words.ts'

const mebibyte = 2 ** 20
/** What a part may have at first, and what is tried when the account's server takes no such blob (STO-2). */
export const partLimits = { first: 45 * mebibyte, fallback: 4.5 * mebibyte } as const

/** The CID of a blob with these bytes. */
export function blobCid(bytes: Uint8Array): string {
  return createCid(RAW_DATA_CODEC, SHA256_HASH_CODE, createHash('sha256').update(bytes).digest()).toString()
}

/**
 * Uploads a file in parts, in order (STO-2): cut at the account's limit, smaller from the moment that the server answers "too large". Answers the
 * blob references as the server gave them (STO-5).
 */
export async function uploadParts(path: string, account: RefsAccount): Promise<{ ok: true; parts: BlobRef[] } | GitRefusal> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const parts: BlobRef[] = []
    for (let at = 0; at < size; ) {
      const limit = account.partLimit ?? partLimits.first
      const bytes = await readAt(file, at, Math.min(limit, size - at))
      const answer = await account.upload(bytes)
      if (answer === 'too-large') {
        if (bytes.length <= partLimits.fallback) return refuse('too-large', words.partRefused(bytes.length))
        account.partLimit = partLimits.fallback
        continue
      }
      const ref = readBlobRef(answer)
      if (ref === undefined) return 'code' in answer ? accountRefusal(answer) : refuse('upstream-failed', words.uploadFailed())
      if (ref.size !== bytes.length || ref.ref.$link !== blobCid(bytes)) return refuse('upstream-failed', words.uploadFailed())
      parts.push(ref)
      at += bytes.length
    }
    return { ok: true, parts }
  } finally {
    await file.close()
  }
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length)
  for (let filled = 0; filled < length; ) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, position + filled)
    if (bytesRead === 0) throw new Error('a pack became shorter while it was read')
    filled += bytesRead
  }
  return bytes
}
