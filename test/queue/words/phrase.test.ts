import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ago, clock, code, count, join, lasting, list, ordinal, place, plain, say, span, who } from '../../../src/queue/words/phrase.ts'

const NOW = Date.UTC(2026, 10, 30, 14, 32)
const nobody = () => undefined

test('ordinals', () => {
  const pairs = [1, 2, 3, 4, 10, 11, 12, 13, 21, 22, 23, 101, 111, 112, 1001, 1013].map(n => ordinal(n))
  assert.deepEqual(pairs, [
    '1st',
    '2nd',
    '3rd',
    '4th',
    '10th',
    '11th',
    '12th',
    '13th',
    '21st',
    '22nd',
    '23rd',
    '101st',
    '111th',
    '112th',
    '1001st',
    '1013th',
  ])
  assert.equal(place(8, 12), '8th of 12')
})

test('spans', () => {
  const spans = [0, 400, 59_400, 60_000, 9 * 60_000, 3_600_000, 142 * 60_000, 10.5 * 3_600_000, 47.9 * 3_600_000, 48 * 3_600_000, -5].map(
    span,
  )
  assert.deepEqual(spans, ['0 s', '0 s', '59 s', '1 min', '9 min', '1 h', '2 h 22 min', '10 h', '47 h', '2 days', '0 s'])
})

test('lists', () => {
  const text = (items: readonly string[], more?: number) => plain(list(items, more), NOW, nobody)
  assert.equal(text([]), '')
  assert.equal(text(['a']), 'a')
  assert.equal(text(['a', 'b']), 'a and b')
  assert.equal(text(['a', 'b', 'c']), 'a, b and c')
  assert.equal(text(['a', 'b'], 12), 'a, b and 12 more')
  assert.equal(text('abcdefghij'.split('')), 'a, b, c, d, e, f, g, h and 2 more')
  assert.equal(count(1, 'pull'), '1 pull')
  assert.equal(count(2, 'pull'), '2 pulls')
})

test('a list names at least one and counts the rest, whatever their number and length', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ minLength: 1, maxLength: 3000 }), { minLength: 1, maxLength: 40 }), fc.nat(1000), (items, more) => {
      const phrase = plain(list(items.map(code), more), NOW, nobody)
      const left = / and (\d+) more$/.exec(phrase)
      assert.ok(phrase.startsWith(items[0]?.slice(0, 400) ?? ''))
      assert.ok(phrase.length <= 1500 + 8 * 3 + 20)
      if (more > 0 || items.length > 8) assert.ok(left !== null)
    }),
    { numRuns: 200 },
  )
})

test('times are said when a phrase is read', () => {
  const time = Date.UTC(2026, 10, 30, 12, 10)
  const phrase = say`seen ${ago(time)}, for ${lasting(time)}, at ${clock(time, NOW)}, on ${{ time, form: 'day' }}, ${{ time, form: 'full' }}`
  assert.equal(plain(phrase, NOW, nobody), 'seen 2 h 22 min ago, for 2 h 22 min, at 12:10 UTC, on 30 Nov 2026, 30 Nov, 12:10 UTC')
  assert.equal(plain([ago(time)], time + 5000, nobody), '5 s ago')
})

test('a clock time of another day comes with its day', () => {
  assert.equal(plain([clock(Date.UTC(2026, 10, 28, 9, 5), NOW)], NOW, nobody), '28 Nov, 09:05 UTC')
})

test('a time that no date can say breaks nothing', () => {
  assert.equal(plain([ago(Number.NaN)], NOW, nobody), 'at an unknown time')
  assert.equal(plain([{ time: 1e20, form: 'full' }], NOW, nobody), 'at an unknown time')
})

test('an account without a handle is its DID', () => {
  const phrase = say`${who('did:plc:a')} and ${who('did:plc:b')}`
  assert.equal(
    plain(phrase, NOW, did => (did === 'did:plc:a' ? 'alice.test' : undefined)),
    'alice.test and did:plc:b',
  )
})

test('what people wrote stays one part, whatever is in it', () => {
  const title = { title: '<b>x</b> ‮', pull: 'at://did:plc:a/dev.knotless.pull/3' }
  assert.deepEqual(say`“${title}” ${['a', 'b']}${''}c`, ['“', title, '” abc'])
  assert.deepEqual(join([], say`One.`, undefined, say`Two.`), ['One. Two.'])
})

test('names and titles of others stay on one line and turn no text around, and letters that are joined stay so', () => {
  const family = '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}'
  const title = { title: `a${family}\r\n\u001b[2J\u2066b\ud800`, pull: 'at://did:plc:a/dev.knotless.pull/a' }
  assert.equal(plain(say`${code('two\nlines\u202e.txt')} in ${title}`, NOW, nobody), `two lines .txt in a${family}   [2J b\ufffd`)
  assert.deepEqual(code('a\u2028b\tc'), { code: 'a b c' })
})
