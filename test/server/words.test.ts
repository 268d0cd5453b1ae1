import assert from 'node:assert/strict'
import { test } from 'node:test'
import { statusOf, xrpcName } from '../../src/server/refusals.ts'
import { door, refusals } from '../../src/server/words.ts'

/** Every refusal of the shell and the door: code, status and words. A change here is a change that people read. */
const all = {
  rateLimited: refusals.rateLimited(42),
  crossSite: refusals.crossSite('https://queue.example.org'),
  formExpired: refusals.formExpired(),
  tooLarge: refusals.tooLarge(),
  unsupportedType: refusals.unsupportedType(),
  badRequest: refusals.badRequest('limit'),
  methodNotAllowed: refusals.methodNotAllowed(),
  nobodyFound: door.nobodyFound('bob.tset'),
  notAName: door.notAName(),
  unresolvable: door.unresolvable('bob.test'),
  noServer: door.noServer('bob.test'),
  serverDown: door.serverDown('pds.example'),
  denied: door.denied(),
  stale: door.stale(),
  tooLittle: door.tooLittle(),
  failed: door.failed(),
  again: door.again(),
}

test('the words of the shell and the door', () => {
  const lines = Object.values(all).map(
    ({ code, message, advice }) => `${statusOf(code)} ${code}: ${message}${advice === undefined ? '' : ` / ${advice}`}`,
  )
  assert.deepEqual(lines, [
    '429 rate-limited: Too many requests from you just now. / Try again in 42 s.',
    '403 cross-site: This form was sent from another site, so nothing was done. / Open the page at https://queue.example.org and send it from there.',
    '403 form-expired: This form is too old or was opened under another log-in, so nothing was done. / Go back, reload the page and try again.',
    '413 too-large: What was sent is larger than is taken here.',
    '415 unsupported-type: What was sent is of a kind that is not taken here.',
    '400 bad-request: Not understood: limit.',
    '405 method-not-allowed: This cannot be done at this address.',
    '422 nobody-found: Nobody found. There is no account called bob.tset. / Check the spelling.',
    '400 bad-request: That is no handle and no DID. / A handle is a name like alice.test, a DID begins with did:plc: or did:web:.',
    '502 upstream-failed: Not known now: who bob.test is could not be looked up. / Try again in a minute.',
    '502 upstream-failed: The account of bob.test names no server to log in at.',
    '502 upstream-failed: pds.example does not answer, or not as a server for log-in does. / Try again in a minute.',
    '422 denied: You denied the request, so you are not logged in. / Nothing was changed. Continue again when you want to.',
    '400 stale-log-in: This log-in was used already, was begun in another browser, or is too old. / Begin again here.',
    '422 scope-missing: Your server did not grant the one right that is needed: to write queue records as you. / Continue again and leave it ticked.',
    '502 upstream-failed: The log-in did not work out at your server. / Begin again here.',
    '401 signed-out: Your log-in has ended: it ran out, was ended elsewhere, or was taken back at your server. / Log in again; you come back to the same page.',
  ])
})

test('a refusal’s name over XRPC is its code in PascalCase', () => {
  assert.equal(xrpcName('repo-not-found'), 'RepoNotFound')
  assert.equal(xrpcName('draft'), 'Draft')
  assert.equal(xrpcName('not-a-batch'), 'NotABatch')
})
