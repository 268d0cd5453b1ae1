/** Much of something: many records in few writes, many branches in one. */
import { z } from 'zod'
import type { DevAccount, RecordValue } from '../../src/devnet/account.ts'
import { keepKeys } from '../../src/devnet/keys.ts'
import { tidAt } from '../../src/queue/tid.ts'
import type { World } from './world.ts'

/** The most writes that an account server takes at once. */
const MOST = 200

/** Writes records of a collection under keys of their own, in order, and gives their addresses. */
export async function writeMany(account: DevAccount, collection: string, records: readonly RecordValue[]): Promise<string[]> {
  const before = Date.now() - records.length
  const keyed = records.map((value, at) => ({ rkey: tidAt(before + at, 7), value: { $type: collection, ...value } }))
  for (let from = 0; from < keyed.length; from += MOST) {
    const writes = keyed.slice(from, from + MOST).map(write => ({ $type: 'com.atproto.repo.applyWrites#create', collection, ...write }))
    await account.call('com.atproto.repo.applyWrites', { input: { repo: account.did, writes } })
  }
  return keyed.map(({ rkey }) => `at://${account.did}/${collection}/${rkey}`)
}

/** Adds branches to the orchard, each at the commit that main is at. */
export async function addBranches({ people }: World, names: readonly string[]): Promise<void> {
  const found = await people.alice.get('dev.knotless.refs', 'orchard')
  if (found === undefined) throw new Error('the orchard has no refs')
  const refs = z.array(z.looseObject({ name: z.string(), commit: z.string(), generation: z.int() })).parse(found.value.refs)
  const main = refs.find(row => row.name === 'refs/heads/main')
  if (main === undefined) throw new Error('the orchard has no main')
  const more = names.map(name => ({ ...main, name: `refs/heads/${name}` }))
  await people.alice.put('dev.knotless.refs', 'orchard', { ...found.value, refs: [...refs, ...more], updatedAt: new Date().toISOString() })
}

/** Deletes an account from its server for good, as whoever runs the server can. */
export async function deleteAccount({ network }: World, account: DevAccount): Promise<void> {
  const answer = await fetch(`${network.pdsUrl}/xrpc/com.atproto.admin.deleteAccount`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(`admin:${keepKeys(network.dataDir).admin}`).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ did: account.did }),
  })
  if (!answer.ok) throw new Error(`the account was not deleted: ${answer.status} ${await answer.text()}`)
}
