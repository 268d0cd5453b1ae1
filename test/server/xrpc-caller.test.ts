import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { z } from 'zod'
import type { DevAccount } from '../../src/devnet/account.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { type Orchard, plantOrchard } from './orchard.ts'
import { type Served, serve } from './serve.ts'

const lxm = 'dev.knotless.getMergeStatus'
let network: Network
let server: Served
let orchard: Orchard
let alice: DevAccount
let mallory: DevAccount

before(async () => {
  network = await startNetwork()
  alice = await network.createAccount('alice.test')
  mallory = await network.createAccount('mallory.test')
  server = await serve(network)
  const others = { collaborator: 'did:plc:bobaaaaaaaaaaaaaaaaaaaaa', author: mallory.did, runner: 'did:plc:rigbyaaaaaaaaaaaaaaaaaaa' }
  orchard = await plantOrchard(server.context, { people: { owner: alice.did, ...others } })
  await orchard.queue(orchard.pulls[0] ?? '')
})
after(async () => {
  await orchard?.stop()
  await server?.end()
  await network?.stop()
})

async function token(account: DevAccount, params: { aud?: string; lxm?: string } = {}): Promise<string> {
  const answer = await account.call('com.atproto.server.getServiceAuth', { params: { aud: server.context.config.did, lxm, ...params } })
  return z.object({ token: z.string() }).parse(answer).token
}

async function status(authorization?: string, pull = orchard.pulls[0] ?? '') {
  const headers = authorization === undefined ? {} : { authorization }
  const answer = await fetch(`${server.url}/xrpc/${lxm}?${new URLSearchParams({ pull })}`, { headers })
  return { status: answer.status, body: z.record(z.string(), z.unknown()).parse(await answer.json()) }
}

// Leaving asks nothing of git, whose state is made up here.
const can = z.object({ leave: z.object({ allowed: z.boolean(), refusal: z.object({ code: z.string() }).optional() }) })

test('ADM-1 what one may do depends on who asks, by their token', async () => {
  const owner = can.parse((await status(`Bearer ${await token(alice)}`)).body.can)
  const stranger = can.parse((await status(`Bearer ${await token(mallory)}`)).body.can)
  const nobody = can.parse((await status()).body.can)
  assert.equal(stranger.leave.refusal?.code, 'not-allowed')
  assert.equal(nobody.leave.refusal?.code, 'signed-out')
  assert.equal(owner.leave.allowed, true)
})

test('a token for the server’s appview entry is as good as one for its DID', async () => {
  assert.equal((await status(`Bearer ${await token(alice, { aud: `${server.context.config.did}#knotless_appview` })}`)).status, 200)
})

test('a bad token is refused by name, never taken for none', async () => {
  const good = await token(alice)
  const [head = '', body = '', signature = ''] = good.split('.')
  const forged = Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(body, 'base64url').toString()), iss: mallory.did })).toString(
    'base64url',
  )
  const bad: [string, string][] = [
    [`Bearer ${await token(alice, { lxm: 'dev.knotless.getQueue' })}`, 'WrongMethod'],
    [`Bearer ${await token(alice, { aud: 'did:web:elsewhere.example' })}`, 'WrongAudience'],
    [`Bearer ${head}.${forged}.${signature}`, 'BadSignature'],
    ['Bearer x', 'BadToken'],
    ['Bearer ', 'BadToken'],
    ['Basic YWxpY2U6eA==', 'BadToken'],
    [`Bearer ${'a'.repeat(6_000)}`, 'BadToken'],
  ]
  for (const [header, name] of bad) {
    const answer = await status(header)
    assert.equal(answer.status, 401, name)
    assert.equal(answer.body.error, name)
  }
})

test('an answer for one is never given to another', async () => {
  const [first, second] = await Promise.all([status(`Bearer ${await token(alice)}`), status(`Bearer ${await token(mallory)}`)])
  assert.deepEqual([can.parse(first.body.can).leave.allowed, can.parse(second.body.can).leave.allowed], [true, false])
})
