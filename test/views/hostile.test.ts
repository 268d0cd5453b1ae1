import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { escapeText, escapeValue, html, visible } from '../../src/views/html.ts'
import { clip } from '../../src/views/titles.ts'
import { all, find, parseHtml } from './html-check.ts'
import { renderer } from './rendered.ts'
import { hostile, pull } from './sample.ts'
import { hostilePull } from './sample-pull.ts'
import { hostileQueue } from './sample-queue.ts'
import { pages } from './sample-rest.ts'

const texts = Object.entries(hostile).filter(([name]) => name !== 'empty')

for (const [name, text] of texts) {
  test(`a title of kind ${name} is shown as the text it is, on the queue page and on its own`, () => {
    const queue = parseHtml(renderer().renderPage('queue', hostileQueue()))
    const links = find(queue, 'a', { dir: 'auto' }).map(link => link.text)
    assert.ok(links.includes(visible(text)), 'in the list')
    const page = { ...hostilePull(), pull: { ...hostilePull().pull, title: text } }
    const [headline] = find(parseHtml(renderer().renderPage('pull', page)), 'h1', { dir: 'auto' })
    assert.equal(headline?.text, visible(text))
  })
}

test('a title of blanks still has a link to its pull', () => {
  const queue = parseHtml(renderer().renderPage('queue', hostileQueue()))
  assert.ok(find(queue, 'a', { dir: 'auto' }).some(link => link.text === 'Untitled'))
})

test('what people wrote stands in no attribute that htmx reads but encoded in an address', () => {
  const { queue, pull, home, repository } = pages()
  const htmls = [
    ...Object.values(queue).map(model => renderer().renderPage('queue', model)),
    ...Object.values(pull).map(model => renderer().renderPage('pull', model)),
    ...Object.values(home).map(model => renderer().renderPage('home', model)),
    ...Object.values(repository).map(model => renderer().renderPage('repository', model)),
  ]
  for (const source of htmls) {
    for (const element of all(parseHtml(source))) {
      for (const [key, value] of element.attributes) {
        if (!key.startsWith('hx-') || key === 'hx-confirm' || key === 'hx-headers:inherited') continue
        assert.match(value, /^[\w\s./:?&=%#,+~()!*'-]*$/, `${key} of <${element.name}>`)
      }
    }
  }
})

test('a title of the page and its twin for Open Graph hold no control characters and no marks of direction', () => {
  const tree = parseHtml(renderer().renderPage('queue', hostileQueue()))
  const [title] = find(tree, 'title')
  const [twin] = find(tree, 'meta', { property: 'og:title' })
  for (const text of [title?.text, twin?.attributes.get('content')]) {
    assert.ok(text !== undefined)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    assert.doesNotMatch(text, /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200e\u200f]/)
    assert.ok([...new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text)].length <= 260)
  }
})

test('an account without a handle is shown as its DID, in paths too', () => {
  const source = renderer().renderPage('queue', hostileQueue())
  const of = pull('x')
  assert.ok(source.includes('<bdi>did:web:an-account-without-a-handle.example.com</bdi>'))
  assert.ok(source.includes('/pulls/did:web:an-account-without-a-handle.example.com/'))
  assert.ok(of.uri.length > 0)
})

test('any text that is escaped comes back as it was, but for characters that HTML may not hold', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text => {
      const tree = parseHtml(`<p title="${escapeText(text)}">${escapeText(text)}</p>`)
      const [element] = find(tree, 'p')
      assert.equal(element?.text, visible(text))
      assert.equal(element?.attributes.get('title'), visible(text))
    }),
  )
})

test('values in templates are escaped unless they are markup that was made here', () => {
  assert.equal(escapeValue(html`<b>${'<'}</b>`), '<b>&lt;</b>')
  assert.equal(escapeValue('<b>'), '&lt;b&gt;')
  assert.equal([undefined, null, false].map(escapeValue).join(''), '')
  assert.equal(html`${[html`<i>${1}</i>`, '&']}`.markup, '<i>1</i>&amp;')
})

test('cutting counts graphemes, never splits one, and ends however long one is', () => {
  const family = '👩‍👩‍👧‍👦'
  assert.equal(clip(family.repeat(61), 60), `${family.repeat(60)}…`)
  assert.equal(clip(family.repeat(60), 60), family.repeat(60))
  assert.equal(clip('a\n\u202eb\u0000', 60), 'a b\ufffd')
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 5000 }), text => {
      const cut = clip(text, 60)
      assert.ok(cut.isWellFormed())
      assert.ok(cut.length <= 60 * 16 + 1)
    }),
  )
})
