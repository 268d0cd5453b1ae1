import { z } from 'zod'
import { asLex } from '../atproto/as-lex.ts'
import { parseNsid, parseRecordKey, repoUri } from '../atproto/ids.ts'
import type { RefsAccount } from '../git/account.ts'
import type { DevAccount } from './account.ts'
import { XrpcFailure } from './xrpc.ts'

const blobShape = z.object({ $type: z.literal('blob'), ref: z.object({ $link: z.string() }), mimeType: z.string(), size: z.number() })
const refsCollection = 'dev.knotless.refs'

/** An account's refs record and blobs of one repository, as a push wants them, and the repository's address. `name` is the repository's. */
export function refsAccount(account: DevAccount, name: string): RefsAccount & { repo: string } {
  const collection = parseNsid(refsCollection)
  const rkey = parseRecordKey(name)
  if (collection === undefined || rkey === undefined) throw new TypeError(`"${name}" is no name of a repository`)
  return {
    repo: repoUri(account.did, rkey),
    async read() {
      const found = await account.get(refsCollection, name)
      return found === undefined ? undefined : { record: found.value, cid: found.cid }
    },
    async put(record, swapRecord) {
      const done = await account.writer.putRecord({ collection, rkey, record: asLex(record), swapRecord })
      return done.ok ? 'done' : done
    },
    async upload(bytes) {
      try {
        return blobShape.parse(await account.upload(bytes, 'application/octet-stream'))
      } catch (error) {
        if (error instanceof XrpcFailure && error.status === 413) return 'too-large'
        throw error
      }
    },
  }
}
