import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createMarkdown } from '../../src/views/markdown.ts'
import { all, find, parseHtml } from './html-check.ts'
import { hostile } from './sample.ts'

const markdown = createMarkdown()
const render = (text: string) => markdown(text).markup
const allowed = new Set('p li h3 h4 h5 h6 blockquote td th ul ol pre code em strong del a br hr table thead tbody tr div'.split(' '))
const attributes = new Set(['href', 'rel', 'start', 'dir', 'class', 'tabindex'])

/** Every element and attribute is one of those that the page's style knows. */
function assertTame(markup: string): void {
  for (const element of all(parseHtml(markup.replaceAll(/<(br|hr) \/>/g, '<$1>')))) {
    assert.ok(allowed.has(element.name), `<${element.name}>`)
    for (const [key, value] of element.attributes) {
      assert.ok(attributes.has(key), key)
      if (key === 'href') assert.match(value, /^(https?:\/\/|mailto:)/i)
      if (key === 'class') assert.equal(value, 'do')
      // What is wider than the page is scrolled by the keyboard as well.
      if (key === 'tabindex') assert.deepEqual([element.name, value], ['pre', '0'])
    }
    if (element.name === 'a') assert.equal(element.attributes.get('rel'), 'nofollow noopener noreferrer')
  }
}

test('HTML in a body is shown as text', () => {
  for (const text of Object.values(hostile)) assertTame(render(text))
  assert.match(render('<script>alert(1)</script> <b onclick=x>b</b>'), /&lt;script&gt;alert\(1\)&lt;\/script&gt;/)
  assert.match(render('a\n\n<style>p{}</style>'), /&lt;style&gt;/)
})

test('links lead out and nowhere else, and pass nothing on', () => {
  assertTame(
    render(
      '[a](javascript:alert(1)) [b](data:text/html,x) [c](/settings) [d](//evil.example) [e](#main) <https://f.example> www.g.example',
    ),
  )
  assert.equal(find(parseHtml(render('[a](https://b.example)')), 'a')[0]?.attributes.get('href'), 'https://b.example')
  assert.doesNotMatch(render('[c](/settings/sessions/1/end)'), /href/)
})

test('an image from elsewhere is a link to it', () => {
  const markup = render('![a pear](https://b.example/pear.png)')
  assert.match(markup, /<a href="https:\/\/b\.example\/pear\.png"[^>]*>a pear<\/a>/)
  assert.doesNotMatch(markup, /<img/)
})

test('headings stand under those of the page and skip no level', () => {
  const levels = (text: string) => [...all(parseHtml(render(text)))].filter(each => /^h\d$/.test(each.name)).map(each => each.name)
  assert.deepEqual(levels('# a\n\n## b\n\n### c'), ['h3', 'h4', 'h5'])
  assert.deepEqual(levels('#### a\n\n# b\n\n###### c'), ['h3', 'h3', 'h4'])
  assert.deepEqual(levels('### again'), ['h3'])
})

test('lists of tasks keep what is done', () => {
  assert.match(render('- [x] done\n- [ ] open'), /☑ done[\s\S]*☐ open/)
})

test('a body that nests too deep, is too tangled or too long is shown as it was typed, soon', () => {
  const bodies = [
    '>'.repeat(5000),
    '- '.repeat(5000),
    '1. '.repeat(5000),
    'a*b'.repeat(5000),
    '*a_b'.repeat(5000),
    `${' '.repeat(200)}- a`,
    'word '.repeat(20_000),
    'a\n-\n'.repeat(16_000),
    'a|b\n-|-\n> a\n'.repeat(5_000),
  ]
  for (const body of bodies) {
    const started = performance.now()
    assert.match(render(body), /^<div class="do"><pre/)
    assert.ok(performance.now() - started < 1000)
  }
  assert.match(render('- a line\n'.repeat(3_000)), /^<ul/)
})

test('a body over 256 KB says how much of it is left out', () => {
  assert.match(render('a'.repeat(300_000)), /37,856 more characters are not shown\./)
})

test('whatever is typed comes out tame', () => {
  const piece = fc.constantFrom(
    '<',
    '>',
    '*',
    '_',
    '`',
    '[',
    ']',
    '(',
    ')',
    '!',
    '#',
    '\n',
    ' ',
    '|',
    '-',
    '"',
    "'",
    '&',
    '\\',
    '~',
    'a',
    '://',
    'javascript:',
    'http',
    '<b x="',
    'onclick=',
    '\u0000',
    '\u202e',
  )
  assertTame(render('~~~'))
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), pieces => assertTame(render(pieces.join('')))),
    { numRuns: 500 },
  )
})
