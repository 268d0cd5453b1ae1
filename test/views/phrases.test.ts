import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { say, span } from '../../src/queue/words/phrase.ts'
import { accountPath, loginPath, pullPath, queuePath, withQuery } from '../../src/views/paths.ts'
import { wordsHtml } from '../../src/views/phrases.ts'
import { duration, timeElement } from '../../src/views/times.ts'
import { alice, bob, hostile, minutesAgo, nameless, now } from './sample.ts'

const context = { now, names: (did: string) => (did === bob.did ? bob.handle : undefined), pullHref: () => undefined }

test('STA-3 a sentence becomes markup part by part: times tick, accounts are links, titles and names keep to themselves', () => {
  const title = { title: hostile.script, pull: 'at://x/y/z' }
  const words = say`${{ account: bob.did }} queued ${title} at ${{ code: hostile.attribute }} ${{ time: minutesAgo(5), form: 'ago' }} & ${hostile.script}`
  const { markup } = wordsHtml(words, context)
  assert.ok(markup.startsWith('<a href="/?q=bob.test" class="who"><bdi>bob.test</bdi></a> queued <bdi>&lt;script&gt;'))
  assert.ok(markup.includes('<time datetime="2026-11-30T14:27:00.000Z" data-t="ago">5 min ago</time> &amp; &lt;script&gt;'))
  assert.doesNotMatch(markup, /<script|<b /)
  const linked = wordsHtml([title], { ...context, pullHref: () => '/a/b' })
  assert.ok(linked.markup.startsWith('<a href="/a/b"><bdi>&lt;script&gt;'))
})

test('a repository is one link to its page', () => {
  const { markup } = wordsHtml(say`${{ owner: bob.did, repo: 'a b' }} names no runner.`, context)
  assert.equal(markup, '<a href="/bob.test/a%20b"><bdi>bob.test/a b</bdi></a> names no runner.')
})

test('an account that is not known by name is its DID', () => {
  const { markup } = wordsHtml(say`${{ account: nameless.did }}`, context)
  assert.ok(markup.includes(`<bdi>${nameless.did}</bdi>`))
})

test('what is no time is said as such and makes no element', () => {
  assert.equal(timeElement('yesterday', 'ago', now).markup, 'at an unknown time')
  assert.equal(timeElement(8.64e15 + 1, 'clock', now).markup, 'at an unknown time')
  assert.equal(
    timeElement('2026-11-30T14:27:00Z', 'full', now).markup,
    '<time datetime="2026-11-30T14:27:00.000Z" data-t="full">30 Nov, 14:27 UTC</time>',
  )
})

test('runs are timed to the second below ten minutes', () => {
  assert.deepEqual([40_000, 72_000, 120_000, 599_000, 600_000, 4_000_000].map(duration), [
    '40 s',
    '1 min 12 s',
    '2 min',
    '9 min 59 s',
    '10 min',
    '1 h 6 min',
  ])
})

test('the browser says spans of time as the server does', () => {
  const script = readFileSync(join(import.meta.dirname, '../../public/js/knotless.js'), 'utf8')
  const source = /function span\(s\) \{[\s\S]*?\n\}/.exec(script)?.[0] ?? ''
  const inBrowser: (seconds: number) => string = new Function(`${source}; return span`)()
  for (const seconds of [0, 1, 59, 60, 61, 3599, 3600, 3660, 35_999, 36_000, 36_061, 172_799, 172_800, 10_000_000]) {
    assert.equal(inBrowser(seconds), span(seconds * 1000))
  }
})

test('paths encode what people named and nothing else', () => {
  assert.equal(queuePath(alice, 'orchard', 'release/1.0'), '/alice.test/orchard/queue/release/1.0')
  assert.equal(queuePath(alice, 'a/b', 'x?y#z "<'), '/alice.test/a%2Fb/queue/x%3Fy%23z%20%22%3C')
  assert.equal(pullPath(alice, 'orchard', { did: nameless.did }, 'at://x/y/3mb2'), `/alice.test/orchard/pulls/${nameless.did}/3mb2`)
  assert.equal(accountPath({ did: 'did:plc:x' }), '/?q=did:plc:x')
  assert.equal(loginPath('/a/b?c=d&e'), '/login?next=%2Fa%2Fb%3Fc%3Dd%26e')
  assert.equal(loginPath('/'), '/login')
  assert.equal(withQuery('/a?q=%22x&part=y', { part: undefined, every: '30' }), '/a?q=%22x&every=30')
})
