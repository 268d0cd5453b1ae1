import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSeal, deriveKey } from '../../src/server/auth/seal.ts'

const secret = 'a secret of 32 letters and more, truly'
const seal = createSeal(deriveKey(secret, 'test'))

test('what is sealed opens in its place only', () => {
  const bytes = seal.close('oauth_session\nlog-in\ndid:plc:a', 'the token')
  assert.equal(seal.open('oauth_session\nlog-in\ndid:plc:a', bytes), 'the token')
  assert.equal(seal.open('oauth_session\nlog-in\ndid:plc:b', bytes), undefined)
  assert(!bytes.toString('latin1').includes('the token'))
})

test('another secret, another purpose or one changed bit opens nothing', () => {
  const bytes = seal.close('place', 'the token')
  assert.equal(createSeal(deriveKey(`${secret}!`, 'test')).open('place', bytes), undefined)
  assert.equal(createSeal(deriveKey(secret, 'other')).open('place', bytes), undefined)
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes)
    changed[at] = (changed[at] ?? 0) ^ 1
    assert.equal(seal.open('place', changed), undefined, `byte ${at}`)
  }
  assert.equal(seal.open('place', Buffer.alloc(0)), undefined)
})

test('the same text is never sealed to the same bytes', () => {
  assert.notDeepEqual(seal.close('place', 'the token'), seal.close('place', 'the token'))
})
