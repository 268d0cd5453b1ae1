import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { startNetwork } from '../../src/devnet/network.ts'

const page = z.object({ repos: z.array(z.object({ did: z.string() })), cursor: z.string().optional() })

test('the relay lists the accounts that wrote records of a collection, in pages', async () => {
  const network = await startNetwork()
  try {
    const ask = (query: string) => fetch(`${network.relayUrl}/xrpc/com.atproto.sync.listReposByCollection?${query}`)
    const accounts = []
    for (const name of ['amy', 'ben', 'cleo', 'dan']) accounts.push(await network.createAccount(`${name}.test`))
    const [a, b, c, d] = accounts
    for (const account of [a, b, c]) await account?.put('dev.example.thing', 'self', {})
    await d?.put('dev.example.thing.more', 'self', {})
    await network.settled()
    const dids: string[] = []
    let cursor: string | undefined
    let pages = 0
    do {
      const next: string = cursor === undefined ? '' : `&cursor=${cursor}`
      const answer = page.parse(await (await ask(`collection=dev.example.thing&limit=2${next}`)).json())
      dids.push(...answer.repos.map(repo => repo.did))
      cursor = answer.cursor
      pages += 1
    } while (cursor !== undefined)
    assert.deepEqual(dids, [a?.did, b?.did, c?.did].sort())
    assert.equal(pages, 2)
    assert.deepEqual(page.parse(await (await ask('collection=dev.example.none')).json()), { repos: [] })
    assert.equal((await ask('')).status, 400)
    assert.equal((await ask('collection=dev.example.thing&limit=0')).status, 400)
    assert.equal((await fetch(`${network.relayUrl}/healthz`)).status, 200)
  } finally {
    await network.stop()
  }
})
