import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import * as labels from '../../src/queue/words/labels.ts'
import { assetUrl, loadAssets } from '../../src/views/assets.ts'
import { boxIcon } from '../../src/views/labels.ts'
import { find, parseHtml } from './html-check.ts'
import { rendered } from './rendered.ts'
import { boxes } from './sample-pull.ts'

/** The strings that code gives; those that it compares with are not among them. */
function given(code: string): string[] {
  return [...code.replace(/[!=]== '[^']*'/g, '').matchAll(/'([^']*)'/g)].map(([, text = '']) => text)
}

/** Classes without a rule: columns, told apart by tests. */
const plainNames = new Set(['side', 'one'])

const root = join(import.meta.dirname, '../..')
const assets = loadAssets()

function templates(): { name: string; text: string }[] {
  const folder = join(root, 'src/views/templates')
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.eta'))
    .map(name => ({ name, text: readFileSync(join(folder, name), 'utf8') }))
}

function scripts(): { name: string; text: string }[] {
  return ['js/knotless.js', 'js/live.js'].map(name => ({ name, text: assets.get(name)?.bytes.toString() ?? '' }))
}

test('every served file is there, has a type, and an address that changes with its content', () => {
  for (const asset of assets.values()) {
    assert.ok(asset.bytes.length > 0)
    assert.match(asset.url, new RegExp(`^/static/${asset.name}\\?v=[\\w-]{10}$`))
  }
  assert.equal(new Set([...assets.values()].map(asset => asset.url.slice(-10))).size, assets.size)
  assert.throws(() => assetUrl(assets, 'css/other.css'), /no such asset/)
})

test('htmx comes before what adds to it, nothing holds up the page, and only a page that follows what it shows has the script for it', () => {
  for (const { html } of rendered()) {
    const scripts = find(parseHtml(html), 'script').map(({ attributes }) => attributes)
    const sources = scripts.map(attributes => attributes.get('src')?.split('?')[0])
    const live = html.includes('id="live"') ? ['/static/js/live.js'] : []
    const tail = live.length > 0 && html.includes('id="log"') ? ['/static/js/tail.js'] : []
    assert.deepEqual(sources, ['/static/vendor/htmx.js', '/static/js/knotless.js', ...live, ...tail])
    for (const attributes of scripts) assert.ok(attributes.has('defer') || attributes.get('type') === 'module')
  }
})

test('pages refer to served files only, each with its hash', () => {
  const urls = new Set([...assets.values()].map(asset => asset.url))
  for (const { html } of rendered()) {
    for (const element of [...find(parseHtml(html), 'link'), ...find(parseHtml(html), 'script')]) {
      const address = element.attributes.get('src') ?? element.attributes.get('href') ?? ''
      if (address.startsWith('/static/')) assert.ok(urls.has(address), address)
    }
  }
})

test('the files that every page loads, compressed, leave room for a page under 60,000 bytes with them', () => {
  const shared = [...assets.values()].filter(({ name }) => name !== 'favicon.ico').reduce((sum, { bytes }) => sum + packed(bytes), 0)
  assert.ok(shared < 45_000, `${shared} bytes`)
  for (const { name, html } of rendered()) assert.ok(shared + packed(html) < 60_000, `${name}: ${shared} and ${packed(html)} bytes`)
})

function packed(content: Buffer | string): number {
  return gzipSync(content, { level: 9 }).length
}

test('every class that a template names has a rule in the style, or is a name for scripts and tests alone', () => {
  const style =
    assets
      .get('css/knotless.css')
      ?.bytes.toString()
      .replace(/\/\*.*?\*\//gs, '') ?? ''
  const styled = new Set([...style.matchAll(/\.([a-z][\w-]*)/gi)].map(([, name]) => name))
  for (const { name, text } of templates()) {
    for (const [, value = ''] of text.matchAll(/class="([^"]*)"/g)) {
      // Of what is computed, the words in quotes that it gives.
      const names = value.replace(/<%.*?%>/gs, code => ` ${given(code).join(' ')} `)
      for (const each of names.match(/[a-z][\w-]*/gi) ?? []) assert.ok(styled.has(each) || plainNames.has(each), `${name}: ${each}`)
    }
  }
})

test('every icon that is named has a symbol in the sprite', () => {
  const sprite = assets.get('sprite.svg')?.bytes.toString() ?? ''
  const symbols = new Set([...sprite.matchAll(/<symbol id="([a-z-]+)"/g)].map(([, id]) => id))
  const named = new Set([
    ...templates().flatMap(({ text }) => [...text.matchAll(/h\.icon\(([^)]*)\)/g)].flatMap(([, code = '']) => given(code))),
    ...boxes.map(({ key }) => boxIcon(key)),
  ])
  for (const table of [
    labels.pullLabels,
    labels.batchLabels,
    labels.runLabels,
    labels.healthLabels,
    labels.gatewayLabels,
    labels.stewardLabels,
  ]) {
    for (const { icon } of Object.values(table)) named.add(icon)
  }
  for (const icon of named) assert.ok(symbols.has(icon), icon)
  for (const { html } of rendered())
    for (const [, icon] of html.matchAll(/sprite\.svg\?v=[\w-]+#([^"]*)"/g)) assert.ok(symbols.has(icon), icon)
})

test('templates print nothing raw but other templates', () => {
  for (const { name, text } of templates()) {
    for (const [raw] of text.matchAll(/<%~[^%]*%>/g)) assert.match(raw, /^<%~ (include\('@|it\.body %>)/, name)
  }
})

test('templates have no habit of htmx 2', () => {
  const old =
    /hx-(vars|params|prompt|ext|disinherit|inherit|request|history|disable|disabled-elt|on:|swap-oob)\b|sse-(connect|swap|close)|htmx:[a-z]+[A-Z]/
  for (const { name, text } of [...templates(), ...scripts()]) {
    assert.doesNotMatch(text, old, name)
  }
})
