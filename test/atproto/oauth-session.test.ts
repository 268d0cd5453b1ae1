import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TokenInvalidError, TokenRefreshError, TokenRevokedError } from '@atproto/oauth-client-node'
import { sessionOfOAuth } from '../../src/atproto/oauth-session.ts'
import { createWriter } from '../../src/atproto/writer.ts'

const did = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz'
const one = { collection: 'dev.example.thing', rkey: 'one', record: { $type: 'dev.example.thing' } } as const

function failing(error: Error) {
  return sessionOfOAuth({ did, fetchHandler: () => Promise.reject(error) })
}

test('a grant that has ended asks to log in again, however OAuth says so', async () => {
  for (const error of [new TokenRefreshError(did, 'revoked'), new TokenRevokedError(did), new TokenInvalidError(did)]) {
    const session = failing(error)
    await assert.rejects(session.fetchHandler('/xrpc/_health'), { name: 'SessionGoneError' })
    const put = await createWriter({ session, now: Date.now }).putRecord(one)
    assert.ok(!put.ok)
    assert.deepEqual([put.code, put.settled], ['session-gone', true])
  }
})

test('a server that cannot be reached is no ended grant', async () => {
  const put = await createWriter({ session: failing(new TypeError('fetch failed')), now: Date.now }).putRecord(one)
  assert.ok(!put.ok && put.code === 'upstream-failed')
})
