import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseWorkflow } from '../../src/workflows/parse.ts'
import { bytes, faultOf, least, workflowOf } from './support.ts'

/** The longest that one file may hold up everything else, in milliseconds; far more than it takes, far less than an attack. */
const patience = 1_000

function quick(text: string | Uint8Array, message: RegExp): void {
  const started = performance.now()
  assert.match(faultOf(text).message, message)
  assert.ok(performance.now() - started < patience, 'it takes too long')
}

test('aliases of aliases that stand for a billion are refused', () => {
  const row = (name: string, of: string) => `${name}: &${name} [${Array(9).fill(`*${of}`).join(', ')}]\n`
  const laughs = `a: &a [${Array(9).fill('lol').join(', ')}]\n${row('b', 'a')}${row('c', 'b')}${row('d', 'c')}${row('e', 'd')}on: *e\n`
  quick(laughs, /alias/)
  quick(`${laughs}${row('f', 'e')}${row('g', 'f')}`, /anchors and aliases/)
})

test('an alias that stands for nothing, or for itself, is refused', () => {
  quick(`${least}name: *none`, /alias/)
  quick(`${least}paths: &a [*a]`, /must be text|alias/)
})

test('an anchor that is used once or twice is taken', () => {
  assert.deepEqual(workflowOf(`${least}paths: &p [src]\ncache: *p`).cache, ['src'])
})

test('merge keys merge nothing: they are unknown keys', () => {
  quick(`x: &x {network: true}\n${least}<<: *x`, /not known/)
  quick('on: {pull: }\nsteps:\n  - &s {run: make}\n  - <<: *s', /not known/)
})

test('tags and directives are refused', () => {
  for (const text of [
    `${least}name: !!js/function "x"`,
    `${least}name: !own x`,
    `${least}cache: !!set {a}`,
    `${least}image: !!binary aGk=`,
    `!!map\n${least}`,
  ]) {
    quick(text, /Tags/)
  }
  quick(`%YAML 1.1\n---\n${least}network: yes`, /Directives/)
  quick(`%TAG ! tag:example.com,2026:\n---\n${least}`, /Directives/)
})

test('keys that are there twice are refused, whichever would count', () => {
  quick(`${least}network: false\nnetwork: true`, /unique/)
  quick(`${least}"network": false\nnetwork: true`, /unique/)
})

test('keys of prototypes are unknown keys, and change nothing for anybody', () => {
  for (const key of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])
    quick(`${least}${key}: {network: true}`, /not known/)
  quick('on: {pull: , __proto__: {push: {}}}\nsteps: [{run: make}]', /not known/)
  assert.equal('network' in {}, false)
})

test('keys that are no text are refused', () => {
  for (const key of ['? [a]\n', '? {a: b}\n', '1', 'null', 'true', '~']) quick(`${least}${key}: x`, /plain text|unique/)
})

test('tabs that indent are refused, with their line', () => {
  const fault = faultOf('on:\n\tpull:\nsteps:\n  - run: make')
  assert.match(fault.message, /tabs/i)
  assert.equal(fault.line, 2)
})

test('a byte order mark and carriage returns are taken', () => {
  assert.equal(workflowOf(`\ufeff${least}`).name, 'test')
  assert.deepEqual(workflowOf(least.replaceAll('\n', '\r\n')).steps, [{ run: 'make' }])
})

test('a second document is refused', () => {
  quick(`${least}---\n${least}`, /more than one document/)
})

test('64 KiB are taken, and one byte more is refused', () => {
  const head = `${least}# `
  const full = head + 'x'.repeat(64 * 2 ** 10 - head.length)
  assert.equal(workflowOf(full).name, 'test')
  quick(`${full}x`, /65,536 bytes/)
  const unread = parseWorkflow({ file: 'test.yml', bytes: 'too-large' })
  assert.ok(!unread.ok && /65,536 bytes/.test(unread.fault.message))
})

test('bytes that are no UTF-8 are refused', () => {
  quick(Uint8Array.of(...bytes(least), 0xff, 0xfe), /UTF-8/)
})

test('64 KiB of keys, brackets and dashes are refused before YAML is made of them', () => {
  quick(`{${Array.from({ length: 10_000 }, (_, n) => n.toString(36)).join(',')}}`, /more than a workflow needs/)
  quick(Array.from({ length: 7_000 }, (_, n) => `k${n}: v`).join('\n'), /more than a workflow needs/)
  quick('['.repeat(65_000), /more than a workflow needs/)
  quick('- '.repeat(32_000), /more than a workflow needs/)
  quick(`${'&a '.repeat(200)}x`, /anchors/)
})

test('lists in lists are refused, however deep', () => {
  for (const depth of [25, 100, 700, 950]) quick(`${'- '.repeat(depth)}a`, /nested|says nothing/)
  quick(`on: ${'['.repeat(600)}${']'.repeat(600)}`, /nested|keys with values/)
})

test('whatever the bytes, there is a workflow or a fault, soon, and never an exception', () => {
  const yaml = fc.stringMatching(/^[ -~\n\t]{0,300}$/)
  const pieces = fc.array(fc.constantFrom('on:', ' pull:', '\n', '  ', '- ', 'run: ', '{', '}', '[', ']', '&a', '*a', '<<: ', '!x', '|', '>', '"', "'", ',', ':', '#', '---', '%', '\t', '?', 'steps:', '\u2028'), { maxLength: 200 }) // biome-ignore format: one line of tokens
  const raw = fc.uint8Array({ maxLength: 500 })
  const inputs = fc.oneof(
    yaml.map(bytes),
    pieces.map(list => bytes(list.join(''))),
    raw,
  )
  fc.assert(
    fc.property(inputs, input => {
      const started = performance.now()
      const read = parseWorkflow({ file: 'test.yml', bytes: input })
      if (!read.ok) assert.ok(read.fault.message.length > 0 && read.fault.message.length < 400 && !/[\n\r]/.test(read.fault.message))
      assert.ok(performance.now() - started < patience)
    }),
    { numRuns: 2_000 },
  )
})
