/** Reads HTML as strictly as it is written here: every element closed, every attribute quoted, nothing that a browser would have to mend. */
import assert from 'node:assert/strict'

export interface Element {
  name: string
  attributes: ReadonlyMap<string, string>
  parent: Element | undefined
  children: Element[]
  /** Own text and that of everything inside, entities decoded. */
  text: string
}

const empty = new Set(['meta', 'link', 'input', 'br', 'hr', 'img'])
const drawn = new Set(['path', 'circle', 'use', 'rect', 'line', 'polyline'])
const blocks = new Set(
  'address article aside blockquote details dialog div dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr main nav ol p pre section table ul'.split(
    ' ',
  ),
)
const phrasing = new Set(['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'span', 'a', 'bdi', 'b', 'code', 'button', 'summary', 'time', 'label'])
const parents: Readonly<Record<string, readonly string[]>> = {
  li: ['ul', 'ol'],
  dt: ['div', 'dl'],
  dd: ['div', 'dl'],
  tr: ['thead', 'tbody', 'tfoot'],
  td: ['tr'],
  th: ['tr'],
  option: ['select'],
  summary: ['details'],
}
const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

function decode(text: string): string {
  return text.replace(/&([^;\s<]*);?/g, (whole, name: string) => {
    const char = entities[name]
    assert.ok(char !== undefined && whole.endsWith(';'), `not an entity that is written here: ${whole}`)
    return char
  })
}

const tag = /<!doctype html>|<(\/?)([a-z][a-z0-9-]*)((?:\s+[a-z:A-Z0-9-]+(?:=(?:"[^"]*"|'[^']*'))?)*)\s*(\/?)>/gy
const attribute = /([a-z:A-Z0-9-]+)(?:=(?:"([^"]*)"|'([^']*)'))?/g

function attributesOf(source: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const [, name = '', double, single] of source.matchAll(attribute)) {
    assert.ok(!found.has(name), `twice on one element: ${name}`)
    found.set(name, decode(double ?? single ?? ''))
  }
  return found
}

function place(element: Element): void {
  const { name, parent } = element
  const allowed = parents[name]
  if (allowed !== undefined) assert.ok(parent !== undefined && allowed.includes(parent.name), `<${name}> in <${parent?.name}>`)
  if (blocks.has(name)) {
    for (let up = parent; up !== undefined; up = up.parent) {
      const headed = up.name === 'summary' && /^h\d$/.test(name)
      assert.ok(!phrasing.has(up.name) || headed, `<${name}> in <${up.name}>: ${up.text.slice(0, 80)}`)
    }
  }
  if (name === 'a' || name === 'button') {
    for (let up = parent; up !== undefined; up = up.parent) assert.ok(up.name !== 'a' && up.name !== 'button', `<${name}> in <${up.name}>`)
  }
}

/** Parses a page or a fragment. Throws an assertion error that says what is wrong and near what. */
export function parseHtml(source: string): Element {
  const top: Element = { name: '', attributes: new Map(), parent: undefined, children: [], text: '' }
  let open = top
  let at = 0
  while (at < source.length) {
    const next = source.indexOf('<', at)
    const text = decode(source.slice(at, next === -1 ? source.length : next))
    assert.ok(
      (!text.includes('<%') && !text.includes('%>')) || text.includes('<%= x %>'),
      `template code left over near ${text.slice(0, 80)}`,
    )
    for (let up: Element | undefined = open; up !== undefined; up = up.parent) up.text += text
    if (next === -1) break
    tag.lastIndex = next
    const match = tag.exec(source)
    assert.ok(match !== null, `no tag: ${source.slice(next, next + 120)}`)
    at = tag.lastIndex
    const [, closing, name, attributes = '', slash] = match
    if (name === undefined) continue
    if (closing === '/') {
      assert.equal(name, open.name, `</${name}> closes <${open.name}>, near ${source.slice(Math.max(0, next - 120), next)}`)
      assert.ok(open.parent !== undefined)
      open = open.parent
      continue
    }
    const element: Element = { name, attributes: attributesOf(attributes), parent: open, children: [], text: '' }
    open.children.push(element)
    place(element)
    assert.equal(slash === '/', drawn.has(name), `<${name}> closes itself where it should not, or the other way round`)
    if (!empty.has(name) && slash !== '/') open = element
  }
  assert.equal(open, top, `<${open.name}> is never closed`)
  return top
}

/** Every element, in the order of the page. */
export function* all(of: Element): Generator<Element> {
  for (const child of of.children) {
    yield child
    yield* all(child)
  }
}

/** The elements that fit, by name and attributes. An attribute given as true has to be there, whatever it says. */
export function find(of: Element, name: string, attributes: Record<string, string | true> = {}): Element[] {
  return [...all(of)].filter(
    element =>
      (name === '*' || element.name === name) &&
      Object.entries(attributes).every(([key, value]) =>
        value === true ? element.attributes.has(key) : element.attributes.get(key) === value,
      ),
  )
}

/** The one element with this id. */
export function byId(of: Element, id: string): Element {
  const found = find(of, '*', { id })
  assert.equal(found.length, 1, `#${id} is there ${found.length} times`)
  const [element] = found
  assert.ok(element)
  return element
}
