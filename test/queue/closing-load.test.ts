import assert from 'node:assert/strict'
import { test } from 'node:test'
import { closedBy } from '../../src/queue/closing.ts'

test('LND-6 a hostile message is read in a moment', () => {
  for (const piece of [
    '` `` ',
    '“',
    '<q ',
    '<!--',
    '"\n',
    'fixes [',
    'fixes #',
    '> - ',
    'fix \n',
    '*:*',
    '```\n',
    '- - - ',
    'fixes [a](',
  ]) {
    const started = process.cpuUsage().user
    closedBy([{ pull: 'p', message: piece.repeat(300_000 / piece.length) }], [])
    assert.ok(process.cpuUsage().user - started < 3_000_000, piece)
  }
})
