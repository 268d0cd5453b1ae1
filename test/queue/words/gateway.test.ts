import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import * as words from '../../../src/queue/words/index.ts'
import { alice, NOW, names } from './samples.ts'

const pull = (title: string): words.Titled => ({ title, pull: `at://${alice}/dev.knotless.pull/3mb2kvjr3m22x` })
const say = (refusal: words.Refusal) => words.plainRefusal(refusal, names)

test('GWY-4 a refusal for git is one line: what happened, then what to do', () => {
  assert.equal(
    say(words.queueOnly('main', 'push')),
    'Not pushed: main takes pulls only through the queue. Open a pull onto main and add it to the merge queue.',
  )
  assert.equal(say({ code: 'clock', message: ['No.'] }), 'No.')
  const message = ['Withdrawn ', words.ago(Date.UTC(2026, 10, 30, 14, 31)), '.']
  assert.equal(say({ code: 'not-delegated', message }), 'Withdrawn 30 Nov, 14:31 UTC.', 'read long after')
})

test('GWY-4 whatever a title holds, what git prints is one bounded line that turns nothing round', () => {
  const hostile = fc.string({ unit: 'binary', maxLength: 50 }).map(text => `${text}\r\nremote: ok\u001b[31m\u202e\u2028\ud800${text}`)
  fc.assert(
    fc.property(hostile, fc.integer({ min: 1, max: 200 }), (title, times) => {
      const line = say(words.memberRefused(pull(title.repeat(times)), { what: 'draft' }))
      assert.doesNotMatch(line, /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
      assert.ok(line.isWellFormed() && line.length <= 2001)
      assert.match(line, /^Not landed: .* is a draft, and drafts are held\. Nothing is lost/u)
    }),
  )
})

test('GWY-4 a branch with the longest name leaves room in the line', () => {
  const branch = '\u{1f333}'.repeat(2000)
  const line = say(words.queueOnly(branch, 'push'))
  assert.ok(line.length <= 2001 && line.endsWith('…') && line.isWellFormed())
})

test('GWY-6 the audit log keeps times by the clock and a title cut at its end, on one line', () => {
  const { message } = words.notDelegated('push', alice, false, { delegation: { state: 'withdrawn', at: NOW } })
  assert.equal(
    words.auditText(words.refusedAs({ code: 'not-delegated', message }), names),
    'this server may not write for alice.test, as the delegation was withdrawn 30 Nov, 14:32 UTC',
  )
  const long = words.auditText(words.refusedAs(words.memberRefused(pull('a\n'.repeat(20_000)), { what: 'draft' })), names)
  assert.match(long, /^(a )+a?… is a draft, and drafts are held$/)
  assert.ok(long.length < 200)
  assert.ok(words.auditText(['x'.repeat(5000)], names).length <= 1001)
})

test('GWY-6 the reason of a refusal is its sentence without lead and full stop, also where it has no lead', () => {
  const text = (message: words.Phrase) => words.auditText(words.refusedAs({ code: 'clock', message }), names)
  assert.equal(text(['There is no such pull.']), 'There is no such pull')
  assert.equal(text([{ account: alice }, ' left.']), 'alice.test left')
  assert.equal(text(['Not landed: it is ', { account: alice }]), 'it is alice.test')
  assert.equal(text([]), '')
})
