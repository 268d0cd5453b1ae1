import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createTerminal, type Piece, plainLine } from '../../src/views/ansi.ts'
import { logBlock } from '../../src/views/logs.ts'

const esc = '\u001b'

function shown(...lines: readonly string[]): string[] {
  const terminal = createTerminal()
  return lines.map(line => terminal.line(line).map(said).join(''))
}

function said({ text, tone, bold }: Piece): string {
  const words = bold === true ? `*${text}*` : text
  return tone === undefined ? words : `${tone}(${words})`
}

test('colours become those of the style, also of 256 and of all', () => {
  assert.deepEqual(shown(`${esc}[31mred${esc}[0m ${esc}[1;92mok${esc}[22m on${esc}[39m ${esc}[2mdim${esc}[m.`), [
    'r(red) g(*ok*)g( on) d(dim).',
  ])
  assert.deepEqual(shown(`${esc}[38;5;208mo${esc}[38;5;244mg${esc}[38;2;10;10;250mb${esc}[38;2;250;250;250mw`), ['r(o)d(g)b(b)w'])
  assert.deepEqual(shown(`${esc}[48;5;1;32mgreen on red${esc}[7;4;999mstays`), ['g(green on redstays)'])
})

test('a colour holds for the lines after it, until it is taken back', () => {
  assert.deepEqual(shown(`${esc}[33mone`, 'two', `${esc}[0mthree`), ['y(one)', 'y(two)', 'three'])
})

test('what moves the cursor, clears, or holds a text does nothing; a line that is written over stands as it ended', () => {
  assert.deepEqual(shown('10%\r50%\r100%\r', `${esc}[2K${esc}[3A${esc}[10;20Hup ${esc}[?25l${esc}7${esc}(Bdown`), ['100%', 'up down'])
  assert.deepEqual(shown(`${esc}]0;title\u0007a ${esc}]8;;https://x.test${esc}\\link${esc}]8;;${esc}\\`, `old${esc}[Gnew`, 'ab\b\bc\bd'), [
    'a link',
    'new',
    'd',
  ])
  assert.deepEqual(shown(`${esc}]never ended`, `x${esc}[31`, `y${esc}`, '\u009b31mz', '\u0007\u0000'), ['', 'x', 'y', 'r(z)', ''])
})

test('what turns the text around it is seen as what it is', () => {
  assert.deepEqual(shown('if (admin\u202e) \u2066{'), ['if (admin\ufffd) \ufffd{'])
})

test('lines and their pieces are bounded, and any line costs little', () => {
  assert.equal(shown('x'.repeat(10_000))[0]?.length, 4_002)
  const gaudy = createTerminal().line(`${esc}[31mx${esc}[32my`.repeat(1_000))
  assert.ok(gaudy.length <= 200)
  assert.equal(
    gaudy.reduce((sum, piece) => sum + piece.text.length, 0),
    2_000,
  )
  for (const odd of [`${esc}]`, `${esc}[`, '\b', '\r', `${esc}[1;`, `${esc}P`]) createTerminal().line(odd.repeat(20_000))
})

test('any text gives pieces without controls, and the same words as plain text', () => {
  const parts = fc.constantFrom(
    esc,
    '[',
    ']',
    '31',
    ';',
    'm',
    '\r',
    '\b',
    '\u0007',
    '\u009b',
    '\u009c',
    'a',
    'é',
    '\t',
    '\u202e',
    'K',
    '\u0085',
  )
  fc.assert(
    fc.property(fc.array(parts, { maxLength: 60 }), pieces => {
      const line = pieces.join('')
      const text = createTerminal()
        .line(line)
        .map(piece => piece.text)
        .join('')
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      assert.doesNotMatch(text, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/)
      assert.equal(plainLine(line), text)
    }),
  )
})

test('each line has its anchor, its text escaped', () => {
  const block = logBlock([{ pieces: [{ text: '<b>', tone: 'r', bold: true }, { text: '&' }], kind: 'bad' }], 12).markup
  assert.equal(
    block,
    '<pre class="log"><code><span id="L12" class="bad"><a href="#L12" aria-label="Line 12">12</a><span><span class="r"><b>&lt;b&gt;</b></span>&amp;\n</span></span></code></pre>',
  )
  assert.match(logBlock([{ pieces: [] }], undefined).markup, /<span><i><\/i><span>\n<\/span><\/span>/)
})
