import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Element } from './html-check.ts'
import { all, find, parseHtml } from './html-check.ts'
import { rendered } from './rendered.ts'

const known = new Set([
  'hx-get',
  'hx-post',
  'hx-target',
  'hx-trigger',
  'hx-sync',
  'hx-confirm',
  'hx-swap',
  'hx-headers:inherited',
  'hx-ignore',
  'hx-morph-skip',
])

/** What the content security policy of the server would refuse, and what htmx or a form must not do. */
function fault({ name, attributes, children, text }: Element): string | undefined {
  for (const [key, value] of attributes) {
    if (key === 'style' || key.startsWith('on')) return `attribute ${key}`
    if (key.startsWith('hx-') && !known.has(key)) return `htmx attribute ${key}`
    if (['href', 'src', 'action', 'hx-get', 'hx-post', 'data-stream'].includes(key)) {
      const fine = /^(\/(?!\/)|#)/.test(value) || (key === 'href' && /^(https?:|mailto:)/.test(value))
      if (!fine) return `${key} leads to ${value.slice(0, 80)}`
    }
  }
  if (name === 'style') return 'a style element'
  if (name === 'script' && (!attributes.has('src') || text !== '')) return 'a script of its own'
  if (name === 'form' && attributes.get('method') === 'post') {
    const field = children.find(child => child.name === 'input' && child.attributes.get('name') === '_csrf')
    if (field?.attributes.get('type') !== 'hidden' || field.attributes.get('value') !== 'token-1') return 'a form without its token'
  }
  return undefined
}

describe('every page', () => {
  for (const { name, html } of rendered()) {
    test(`${name} is well-formed, has ids once, obeys the content security policy and carries its token`, () => {
      assert.ok(html.startsWith('<!doctype html>\n'))
      const tree = parseHtml(html)
      const elements = [...all(tree)]
      const ids = elements.flatMap(element => element.attributes.get('id') ?? [])
      assert.deepEqual(
        ids.filter((id, at) => ids.indexOf(id) !== at),
        [],
        'ids that are there twice',
      )
      for (const id of ids) assert.match(id, /^[A-Za-z][A-Za-z0-9_-]*$/)
      for (const element of elements) assert.equal(fault(element), undefined, `<${element.name}> ${element.text.slice(0, 60)}`)
      for (const element of elements) {
        for (const key of ['aria-labelledby', 'aria-describedby', 'for']) {
          const id = element.attributes.get(key)
          if (id !== undefined) assert.ok(ids.includes(id), `${key} names #${id}, which is not there`)
        }
      }
      assert.equal(find(tree, 'h1').length, 1)
      assert.equal(find(tree, 'main', { id: 'main' }).length, 1)
      assert.doesNotMatch(tree.text, /\[object |\bundefined\b|\bNaN\b|Invalid Date/)
    })
  }
})
