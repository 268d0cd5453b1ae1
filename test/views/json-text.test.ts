import assert from 'node:assert/strict'
import { test } from 'node:test'
import { jsonText } from '../../src/views/json-text.ts'

const record = { $type: 'x', empty: {}, none: [], list: [1, null, true, { a: 'ä "quoted"\n' }, [[]]], '': '\ud83c\udf33' }
const whole = JSON.stringify(record, undefined, 2)

test('a record is laid out as JSON is, whole where it fits', () => {
  assert.deepEqual(jsonText(record, whole.length), { text: whole, cut: false })
  assert.deepEqual(jsonText('text', 100), { text: '"text"', cut: false })
})

test('what does not fit is cut wherever that falls, and said', () => {
  for (let most = 0; most < whole.length; most++)
    assert.deepEqual(jsonText(record, most), { text: whole.slice(0, most).toWellFormed(), cut: true })
})

test('a record that nests deep costs what is shown of it', () => {
  let deep: unknown = Array(200_000).fill(1)
  for (let depth = 0; depth < 10_000; depth++) deep = [deep]
  const { text, cut } = jsonText(deep, 100_000)
  assert.equal(text.length, 100_000)
  assert.equal(cut, true)
})
