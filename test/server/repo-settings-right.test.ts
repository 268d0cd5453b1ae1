import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { parseDid } from '../../src/atproto/ids.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { metadataPath } from '../../src/server/auth/client-metadata.ts'
import { createOAuth } from '../../src/server/auth/oauth.ts'
import { createSeal, deriveKey } from '../../src/server/auth/seal.ts'
import { openSignIn } from './log-in.ts'
import { type Served, serve } from './serve.ts'
import { Visitor } from './visitor.ts'

const narrow = 'atproto repo:dev.knotless.queue?action=create'
const wide = 'repo:dev.knotless.repo?action=create&action=update'
let network: Network
let server: Served
before(async () => {
  network = await startNetwork()
  server = await serve(network)
})
after(async () => {
  await server?.end()
  await network?.stop()
})

function client(name: string, more: string) {
  const { context } = server
  const { publicUrl, plcUrl, secret } = context.config
  const seal = createSeal(deriveKey(secret, 'oauth at rest'))
  const kind = { name, scope: narrow, more, callbackPath: '/oauth/callback', metadataPath, onGone() {} }
  return createOAuth({ ...context, seal, publicUrl, plcUrl, loopback: true, allowHttp: true }, kind)
}

/** Asks, grants at the account's server, and takes the answer. */
async function ask(oauth: ReturnType<typeof client>, handle: string, more?: string) {
  const account = network.account(handle) ?? (await network.createAccount(handle))
  const did = parseDid(account.did)
  assert(did !== undefined)
  const begun = await oauth.begin(did, 'mine', more)
  assert(begun.ok)
  const address = await (await openSignIn(new Visitor(), begun.href, account)).authorize()
  const finished = await oauth.finish(new URL(address).searchParams, state => state === 'mine')
  return { finished, granted: await oauth.granted(did), did }
}

test('what is asked for beside a log-in is granted with it, asked for again from then on, and gone with the grant', async () => {
  const oauth = client('widening', wide)
  const first = await ask(oauth, 'wilma.test')
  assert.deepEqual([first.finished.ok, first.granted], [true, narrow])
  const second = await ask(oauth, 'wilma.test', wide)
  assert.deepEqual([second.finished.ok, second.granted], [true, `${narrow} ${wide}`])
  const third = await ask(oauth, 'wilma.test')
  assert.deepEqual([third.finished.ok, third.granted], [true, `${narrow} ${wide}`], 'a log-in narrows nothing')
  await oauth.revoke(first.did)
  assert.equal(await oauth.granted(first.did), undefined)
  assert.equal((await ask(oauth, 'wilma.test')).granted, narrow)
})

test('a further right that the server does not grant is said to be lacking, and what was granted before stands', async () => {
  const oauth = client('wanting more', 'other:thing')
  assert.equal((await ask(oauth, 'zoe.test')).granted, narrow)
  const second = await ask(oauth, 'zoe.test', 'other:thing')
  assert.deepEqual(second.finished, { ok: false, why: 'too-little', state: 'mine' })
  assert.equal(second.granted, narrow)
  assert.notEqual(await oauth.restore(second.did), undefined)
})

test('what a client may not ask for is not asked for', async () => {
  const third = await ask(client('bounded', ''), 'yara.test', wide)
  assert.deepEqual([third.finished.ok, third.granted], [true, narrow])
})
