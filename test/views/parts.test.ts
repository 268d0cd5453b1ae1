import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as refusals from '../../src/queue/words/refusals.ts'
import { pageParts } from '../../src/views/render.ts'
import { byId, find, parseHtml } from './html-check.ts'
import { renderer } from './rendered.ts'
import { frame, gardener, hostile, minutesAgo, nameless } from './sample.ts'
import { batchPages } from './sample-batch.ts'
import { checkPages } from './sample-check.ts'
import { boxes, boxModel, hostilePull, pullPage } from './sample-pull.ts'
import { busyQueue, emptyQueue, hostileQueue } from './sample-queue.ts'
import { pages } from './sample-rest.ts'

const ids: Readonly<Record<string, string>> = { box: 'merge-box' }
const [first] = boxes
assert.ok(first)
const livePull = { ...pullPage(boxModel(first)), frame: frame({ path: '/a/b/pulls/c/d', live: '/a/b/pulls/c/d/events' }) }

for (const part of pageParts.queue) {
  test(`the region ${part} of the queue page is the same alone as in the page`, () => {
    for (const model of [busyQueue(), hostileQueue(), { ...emptyQueue(), frame: busyQueue().frame }]) {
      const alone = renderer().renderPart('queue', part, model)
      const tree = parseHtml(alone)
      assert.equal(tree.children.length, 1)
      const region = byId(tree, part)
      const page = renderer().renderPage('queue', model)
      if (part !== 'figures' || model.queue.stats !== undefined) assert.ok(page.includes(alone.trim()))
      assert.equal(region.attributes.get('data-live'), part)
      assert.match(region.attributes.get('data-is') ?? '', /^[\w-]{8}$/)
      assert.equal(
        find(region, 'input').filter(input => input.attributes.get('type') !== 'hidden').length,
        0,
        'inputs stay outside regions',
      )
    }
  })
}

for (const part of pageParts.pull) {
  test(`the region ${part} of the pull page is the same alone as in the page`, () => {
    for (const model of [livePull, { ...hostilePull(), frame: livePull.frame }]) {
      const alone = renderer().renderPart('pull', part, model)
      const region = byId(parseHtml(alone), ids[part] ?? part)
      assert.ok(renderer().renderPage('pull', model).includes(alone.trim()))
      assert.equal(region.attributes.get('data-live'), part)
    }
  })
}

for (const part of pageParts.batch) {
  test(`the region ${part} of the page of a batch is the same alone as in the page`, () => {
    const { 'batch-live': model } = batchPages()
    assert.ok(model)
    const alone = renderer().renderPart('batch', part, model)
    byId(parseHtml(alone), part)
    assert.ok(renderer().renderPage('batch', model).includes(alone.trim()))
  })
}

for (const part of pageParts.check) {
  test(`the region ${part} of the page of a run is the same alone as in the page`, () => {
    const { 'check-live': model } = checkPages()
    assert.ok(model)
    const alone = renderer().renderPart('check', part, model)
    const region = byId(parseHtml(alone), part)
    assert.ok(renderer().renderPage('check', model).includes(alone.trim()))
    assert.equal(region.attributes.get('data-live'), part)
  })
}

test('a page asks with the filters and the page of its address, and says which version the reader has seen', () => {
  const model = {
    ...busyQueue(),
    frame: frame({ live: '/events', path: '/a/b/queue/main?q=pear&mine=1&cursor=x&have=health.x&seen=3&every=30' }),
  }
  const tree = parseHtml(renderer().renderPage('queue', model))
  assert.equal(byId(tree, 'live').attributes.get('hx-get'), '/a/b/queue/main?q=pear&mine=1&cursor=x')
  assert.equal(byId(tree, 'waiting').attributes.get('data-with'), 'seen=1841')
  assert.equal(byId(tree, 'health').attributes.get('data-with'), undefined)
})

/** What a page that was made from this model says of its regions. */
function haveOf(html: string): Map<string, string> {
  const regions = find(parseHtml(html), '*', { 'data-live': true })
  return new Map(regions.map(({ attributes }) => [attributes.get('data-live') ?? '', attributes.get('data-is') ?? '']))
}

const joined = (have: Map<string, string>) => [...have].map(([part, is]) => `${part}.${is}`).join()

test('who has a page gets the regions of it that differ now, and no others', () => {
  const before = busyQueue()
  const have = haveOf(renderer().renderPage('queue', before))
  assert.deepEqual([...have.keys()].sort(), [...pageParts.queue].sort())
  assert.equal(renderer().renderChanges('queue', before, joined(have)), '')
  const after = { ...before, news: ['Something happened'] }
  const swaps = parseHtml(renderer().renderChanges('queue', after, joined(have)))
  assert.deepEqual(
    find(swaps, 'hx-partial').map(swap => swap.attributes.get('hx-target')),
    ['[data-live=news]'],
  )
  assert.equal(byId(swaps, 'news').text, 'Something happened')
})

test('a reader that names no region gets none, and one that names regions which are not there gets no more for it', () => {
  assert.equal(renderer().renderChanges('queue', busyQueue(), ''), '')
  assert.equal(renderer().renderChanges('queue', busyQueue(), 'nothing.x,__proto__.y,,news,.,health.x.y'), '')
  assert.match(renderer().renderChanges('queue', busyQueue(), 'health.'), /^<hx-partial hx-target="\[data-live=health\]">/)
})

test('time that goes by, another token and what is sent along make no region differ', () => {
  const before = busyQueue()
  const have = joined(haveOf(renderer().renderPage('queue', before)))
  const later = {
    ...before,
    frame: { ...before.frame, now: before.frame.now + 61_000, csrf: 'token-2' },
    queue: { ...before.queue, version: before.queue.version + 1 },
  }
  assert.equal(renderer().renderChanges('queue', later, have), '')
})

test('the box that answers a form is signed as the one of the page', () => {
  const alone = renderer().renderPart('pull', 'box', livePull)
  assert.equal(haveOf(renderer().renderPage('pull', livePull)).get('box'), haveOf(alone).get('box'))
})

test('nothing that people write stands for a signature', () => {
  const html = renderer().renderPage('queue', hostileQueue())
  for (const part of haveOf(html).keys()) assert.ok([...pageParts.queue, 'news'].some(each => each === part))
})

test('a page without a stream has no regions that ask for themselves', () => {
  const { live: _, ...still } = busyQueue().frame
  const tree = parseHtml(renderer().renderPage('queue', { ...busyQueue(), frame: still }))
  assert.equal(find(tree, '*', { 'data-live': true }).length, 0)
  assert.equal(find(tree, '*', { id: 'live' }).length, 0)
})

test('one empty element, never swapped, names the stream and asks for what changed; the notice is hidden', () => {
  const tree = parseHtml(renderer().renderPage('queue', busyQueue()))
  const live = byId(tree, 'live')
  assert.equal(live.attributes.get('data-stream'), '/alice.test/orchard/queue/main/events')
  assert.equal(live.attributes.get('hx-swap'), 'none')
  assert.equal(live.attributes.get('hx-trigger'), 'changed throttle:200ms')
  assert.ok(byId(tree, 'stale').attributes.has('hidden'))
})

test('rows keep their ids from one version to the next, and no two pulls share one', () => {
  const ids = (model: ReturnType<typeof busyQueue>) =>
    find(parseHtml(renderer().renderPart('queue', 'waiting', model)), 'li', { id: true }).map(row => row.attributes.get('id'))
  const before = busyQueue()
  const [, ...rest] = before.queue.queued
  const after = { ...before, queue: { ...before.queue, queued: rest, version: 1842 } }
  assert.deepEqual(ids(after), ids(before).slice(1))
  const [row] = before.queue.queued
  assert.ok(row)
  const twin = (did: string) => ({ ...row, pull: { ...row.pull, uri: `at://${did}/dev.knotless.pull/3mb2kvjr3m22x` } })
  const twins = [gardener.did, nameless.did, 'did:web:a.b', 'did:web:a:b', 'did:web:a-b'].map(twin)
  assert.equal(new Set(ids({ ...before, queue: { ...before.queue, queued: twins } })).size, 5)
})

test('a row that is new or moved since the reader looked says so in words', () => {
  const { text } = byId(parseHtml(renderer().renderPart('queue', 'waiting', busyQueue())), 'waiting')
  assert.match(text, /was 10th/)
  assert.match(text, /\bnew\b/)
})

test('pulls that are in a batch are shown in flight and not among those that wait', () => {
  const model = busyQueue()
  const [row, ...rest] = model.queue.queued
  assert.ok(row)
  const flying = { ...row, standing: { ...row.standing, kind: 'in-batch' } }
  const tree = parseHtml(renderer().renderPart('queue', 'waiting', { ...model, queue: { ...model.queue, queued: [flying, ...rest] } }))
  assert.equal(find(tree, 'li', { id: true }).length, rest.length)
})

test('filters live in the address and keep what was typed', () => {
  const model = { ...busyQueue(), filter: { q: hostile.attribute, author: gardener.did, mine: true } }
  const tree = parseHtml(renderer().renderPage('queue', model))
  assert.equal(find(tree, 'input', { name: 'q' })[0]?.attributes.get('value'), hostile.attribute)
  assert.equal(find(tree, 'option', { selected: true })[0]?.attributes.get('value'), gardener.did)
  assert.ok(find(tree, 'input', { name: 'mine' })[0]?.attributes.has('checked'))
})

test('without scripts the page offers a reload, and reloads only when that was chosen', () => {
  const calm = renderer().renderPage('queue', busyQueue())
  assert.doesNotMatch(calm, /http-equiv/)
  assert.match(calm, /queue\/main\?every=30">reload every 30 s</)
  const chosen = renderer().renderPage('queue', { ...busyQueue(), frame: frame({ every: 30, path: '/x?every=30' }) })
  assert.match(chosen, /<noscript><meta http-equiv="refresh" content="30"><\/noscript>/)
  assert.match(chosen, /href="\/x">stop that</)
})

test('who may not queue or leave gets no buttons for it', () => {
  const tree = parseHtml(renderer().renderPage('queue', { ...busyQueue(), may: { queue: false, leave: false } }))
  assert.doesNotMatch(byId(tree, 'waiting').text, /Leave/)
  assert.doesNotMatch(byId(tree, 'ejected').text, /Add again/)
})

test('Add again on the queue page posts to the pull, whose page then shows its place', () => {
  const [form] = find(byId(parseHtml(renderer().renderPart('queue', 'ejected', busyQueue())), 'ejected'), 'form')
  assert.match(form?.attributes.get('action') ?? '', /^\/alice\.test\/orchard\/pulls\/carol\.test\/\w+\/queue$/)
  assert.equal(form?.attributes.get('hx-post'), undefined)
})

test('an ejected pull that would be refused now says why on the queue page too, in place of Add again', () => {
  const model = busyQueue()
  const refused = refusals.checksFailed({ workflows: ['test'], head: 'a'.repeat(40), branch: 'main' })
  const ejected = model.queue.ejected.map(ejection => ({ ...ejection, refused }))
  const { text } = byId(parseHtml(renderer().renderPart('queue', 'ejected', { ...model, queue: { ...model.queue, ejected } })), 'ejected')
  assert.doesNotMatch(text, /Add again/)
  assert.match(text, /Not queued: test failed at aaaaaaa merged with main\. Push a fix/)
})

test('REC-3 records that wait for their time are listed with writer and date to whom the model gives them, and to nobody else', () => {
  const { repository } = pages().repository
  assert.ok(repository?.sleeping)
  const { text } = parseHtml(renderer().renderPage('repository', repository))
  assert.match(text, /Waiting for their time 1/)
  assert.match(
    text,
    /queued: Wakes in a year\s+written by bob\.test · dated 30 Nov 2027, 14:32 UTC · at:\/\/did:plc:b+\/dev\.knotless\.queue\/3zzzzzzzzzz22/,
  )
  assert.doesNotMatch(renderer().renderPage('repository', { ...repository, sleeping: undefined }), /Waiting for their time/)
})

test('a row in a list of pulls says what was done to it and when', () => {
  const { repository } = pages().repository
  const [row] = repository?.pulls ?? []
  assert.ok(repository && row)
  const said = (kind: string) => {
    const pulls = [{ ...row, standing: { ...row.standing, kind, since: minutesAgo(5), preflights: undefined } }]
    const { text } = parseHtml(renderer().renderPage('repository', { ...repository, pulls }))
    return /onto \S+ · ([a-z ]+ 5 min(?: ago)?)/.exec(text)?.[1]
  }
  assert.equal(said('queued'), 'queued 5 min ago')
  assert.equal(said('in-batch'), 'being checked for 5 min')
  assert.equal(said('landing'), 'passed 5 min ago')
  assert.equal(said('merged'), 'landed 5 min ago')
  assert.equal(said('closed'), 'closed 5 min ago')
})

test('the rows of a page are counted only where it is known how many there are', () => {
  const { home } = pages().home
  assert.ok(home)
  assert.match(renderer().renderPage('home', home), /1 to 3 of 90/)
  assert.doesNotMatch(renderer().renderPage('home', { ...home, paging: { from: 1, to: 20, later: '/?cursor=x' } }), /1 to 20/)
})

test('how long a run has been going ticks, and its label says nothing that grows old', () => {
  const html = renderer().renderPart('queue', 'flight', busyQueue())
  assert.match(html, /<span><time datetime="[^"]+" data-t="for">[^<]+<\/time> of about 9 min<\/span>/)
  assert.match(html, /<progress value="44" max="100" data-from="[^"]+" data-for="540" aria-label="test: running, usually 8–10 min">/)
  assert.match(html, /lands <time datetime="[^"]+" data-to="[^"]+" data-t="in">in 8–10 min<\/time>/)
  assert.match(html, /<span>passed in \d+ (s|min)[^<]*<\/span>/)
})
