import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createBound } from '../../../src/runner/executor/bound.ts'
import { createMask } from '../../../src/runner/executor/mask.ts'
import { createMarks, type StepSaid } from '../../../src/runner/executor/steps.ts'
import { createTranscript } from '../../../src/runner/executor/transcript.ts'
import { jobOf } from './jobs.ts'

/** Cuts bytes at these places. */
function chunks(bytes: Buffer, at: readonly number[]): Buffer[] {
  const cuts = [0, ...at.map(n => n % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)
  return cuts.slice(1).map((end, i) => bytes.subarray(cuts[i], end))
}

function masked(secrets: readonly string[], pieces: readonly (string | Buffer)[]): string {
  const out: Buffer[] = []
  const mask = createMask(secrets, bytes => void out.push(Buffer.from(bytes)))
  for (const piece of pieces) mask.write(Buffer.from(piece))
  mask.end()
  return Buffer.concat(out).toString('utf8')
}

test('a secret is masked wherever the chunks break, and all else stays', () => {
  const secrets = ['hunter-22', 'abab', 'xabcyyy', 'abcy', 'long\nsecret of lines']
  const word = fc.constantFrom(...secrets, 'hunter', 'ab', 'x', 'abc', 'long', '\n', ' plain ', 'secret of lines', 'é')
  fc.assert(
    fc.property(fc.array(word, { maxLength: 12 }), fc.array(fc.nat(200), { maxLength: 8 }), (words, cuts) => {
      const bytes = Buffer.from(words.join(''))
      const whole = masked(secrets, [bytes])
      assert.equal(masked(secrets, chunks(bytes, cuts)), whole)
      for (const secret of [...secrets, 'secret of lines']) assert.ok(!whole.includes(secret), whole)
      // Nothing is lost but secrets.
      assert.equal(whole.replaceAll('***', '').length <= bytes.toString().length, true)
    }),
  )
  assert.equal(masked(secrets, ['a hunter', '-2', '2 b abab']), 'a *** b ***')
  assert.equal(masked(secrets, ['xabc', 'yyy xabc', 'z']), '*** xabcz')
})

test('a secret is masked in base64 and line by line as well, and what is too short to be one is not', () => {
  assert.equal(masked(['hunter-22'], [`${Buffer.from('hunter-22').toString('base64')}\n`]), '***\n')
  assert.equal(masked(['-----BEGIN\r\nabcdef\r\n-----END'], ['key: abcdef\n']), 'key: ***\n')
  assert.equal(masked(['abc', ''], ['abcabc']), 'abcabc')
  assert.equal(masked([], ['as it is']), 'as it is')
})

test('what may be a secret’s beginning is held back no longer than that', () => {
  const out: string[] = []
  const mask = createMask(['hunter-22'], bytes => void out.push(bytes.toString()))
  mask.write(Buffer.from('line\nhunt'))
  assert.deepEqual(out, ['line\n'])
  mask.write(Buffer.from('s\n'))
  assert.deepEqual(out.join(''), 'line\nhunts\n')
})

function bounded(limits: { head: number; tail: number; most: number }, pieces: readonly string[]): { text: string; ended: number } {
  const out: Buffer[] = []
  let ended = 0
  const bound = createBound(
    limits,
    bytes => void out.push(Buffer.from(bytes)),
    () => ended++,
  )
  for (const piece of pieces) bound.write(Buffer.from(piece))
  bound.end()
  return { text: Buffer.concat(out).toString(), ended }
}

test('CHK-13 output that fits is passed as it is, and of a longer one head and tail are kept and the cut is said', () => {
  const limits = { head: 10, tail: 10, most: 100 }
  assert.deepEqual(bounded(limits, ['0123456789', 'abcdefghij']), { text: '0123456789abcdefghij', ended: 0 })
  assert.equal(bounded(limits, ['0123456789abcdefghijk']).text, '0123456789\n… 1 byte of output are left out here …\nbcdefghijk')
  assert.equal(bounded(limits, ['line one\n', 'xx\nyyyyy\nlast\n']).text, 'line one\nx\n… 8 bytes of output are left out here …\nlast\n')
  assert.deepEqual(bounded(limits, Array(30).fill('0123')).ended, 1)
})

test('CHK-13 head, tail and what is said to be left out are the whole output, however it comes', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ minLength: 1, maxLength: 40, unit: fc.constantFrom('a', 'b', 'c') }), { maxLength: 12 }), pieces => {
      const whole = pieces.join('')
      const { text } = bounded({ head: 16, tail: 16, most: 1e9 }, pieces)
      const cut = /\n… (\d+) bytes? of output are left out here …\n/.exec(text)
      if (cut === null) assert.equal(text, whole)
      else assert.equal(text.replace(cut[0], whole.slice(16, 16 + Number(cut[1]))), whole)
    }),
  )
})

test('the script’s own lines are taken out of the output wherever the chunks break', () => {
  const mark = 'abcdef'
  const output = `a\x1e${mark} start 1 0\nb\x1e\x1e${mark} nonsense\nc\x1e${mark} end 1 0 3 - 2\n\x1eother start 1 0\n\x1e${mark} tree 0\nd\x1e${mark}`
  fc.assert(
    fc.property(fc.array(fc.nat(200), { maxLength: 10 }), cuts => {
      const said: (StepSaid | string)[] = []
      const out: Buffer[] = []
      const marks = createMarks(
        mark,
        one => void said.push(one),
        bytes => void out.push(Buffer.from(bytes)),
      )
      for (const chunk of chunks(Buffer.from(output), cuts)) marks.write(chunk)
      marks.end()
      assert.equal(Buffer.concat(out).toString(), `ab\x1e\x1e${mark} nonsense\nc\x1eother start 1 0\nd\x1e${mark}`)
      assert.deepEqual(said, [
        { at: 'start', step: 1, retry: 0 },
        { at: 'end', step: 1, retry: 0, code: 3, memory: undefined, processes: 2 },
        { at: 'tree', code: 0 },
      ])
    }),
  )
})

test('what a step counts is its own: what an earlier one ran out of is not held against it', () => {
  const { job } = jobOf({ source: { gitDir: '', commit: '' }, steps: ['a', 'b'] })
  const transcript = createTranscript(job, { head: 1e6, tail: 1e3, most: 1e9 }, () => {})
  const say = (line: string) => transcript.write(Buffer.from(`\x1e${transcript.mark} ${line}\n`))
  say('start 1 0')
  say('end 1 0 0 2 5')
  say('start 2 0')
  say('end 2 0 1 2 6')
  assert.deepEqual(transcript.progress.ended, { at: 'end', step: 2, retry: 0, code: 1, memory: 0, processes: 1 })
})
