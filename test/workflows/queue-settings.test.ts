import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readQueueSettings } from '../../src/workflows/queue-settings.ts'

const read = (text: string) => readQueueSettings(new TextEncoder().encode(text))

test('STW-8 the queue settings are read, times in seconds, and what is not theirs is passed over', () => {
  assert.deepEqual(read('batch: 12\ndepth: 1\nwait: 10m\ntimeout: 2700\nsteward:\n  flakes: true\n'), {
    ok: true,
    settings: { batch: 12, depth: 1, wait: 600, timeout: 2700 },
  })
  assert.deepEqual(read('wait: 0\n'), { ok: true, settings: { wait: 0 } })
  assert.deepEqual(read('steward: {}\n'), { ok: true, settings: {} })
})

test('STW-8 settings that are wrong are said and not guessed', () => {
  for (const [text, message] of [
    ['batch: 0', 'batch is not from 1 to 50'],
    ['batch: many', 'batch is not from 1 to 50'],
    ['depth: 1.5', 'depth is not from 1 to 10'],
    ['wait: soon', 'wait is not from 0 to 86400'],
    ['timeout: 11d', 'timeout is not from 1 to 864000'],
    ['- batch', 'it is no list of settings'],
  ] as const)
    assert.deepEqual(read(text), { ok: false, message }, text)
  for (const bad of ['a: [', '', `x: ${'['.repeat(5000)}`, '\xff']) assert.equal(read(bad).ok, false, bad.slice(0, 20))
})
