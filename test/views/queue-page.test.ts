import assert from 'node:assert/strict'
import { test } from 'node:test'
import { healthWords } from '../../src/queue/words/health.ts'
import { noteWords } from '../../src/queue/words/health-notes.ts'
import type { QueuePage } from '../../src/views/models.ts'
import { renderer } from './rendered.ts'
import { alice, minutesAgo, now, runner } from './sample.ts'
import { busyQueue, emptyQueue } from './sample-queue.ts'

function part(name: 'health' | 'flight' | 'waiting' | 'ejected' | 'figures' | 'activity', model: QueuePage): string {
  return renderer().renderPart('queue', name, model)
}

function withHealth(health: QueuePage['queue']['health'], more: Partial<QueuePage['queue']> = {}): QueuePage {
  const busy = busyQueue()
  return { ...busy, queue: { ...busy.queue, ...more, health } }
}

test('STA-4 a batch whose lander fell silent is called stalled, and no bar of it goes on', () => {
  const words = healthWords({ kind: 'no-lander', since: minutesAgo(2), now, queued: 10, owner: alice.did, isOwner: false })
  const html = part(
    'flight',
    withHealth({ ...words, tone: 'danger' }, { lander: { account: runner, named: true, lastSeen: minutesAgo(2) } }),
  )
  assert.match(html, /2 batches, silent/)
  assert.match(html, /<span class="state" data-tone="danger">.* Stalled<\/span>/)
  assert.match(html, /Its checks said nothing since the runner was last seen/)
  assert.match(html, /aria-label="test: silent after 2 min"/)
  assert.doesNotMatch(html, /data-from=/)
})

test('the owner is led from what is wrong to where it is mended, and nobody else is', () => {
  const delegation = healthWords({ kind: 'not-delegated', owner: alice.did, isOwner: true, now })
  const mine = part('health', withHealth({ ...delegation, tone: 'danger' }))
  assert.match(mine, /<a href="\/settings#delegation">Open your settings<\/a>/)
  const runners = healthWords({ kind: 'no-runners', owner: alice.did, name: 'orchard', isOwner: true })
  assert.match(part('health', withHealth({ ...runners, tone: 'neutral' })), /<a href="\/alice\.test\/orchard\/settings">Name a runner<\/a>/)
  const { viewer: _, ...stranger } = busyQueue().frame
  assert.doesNotMatch(part('health', { ...withHealth({ ...delegation, tone: 'danger' }), frame: stranger }), /#delegation/)
})

test('STW-8 what is said beside the health line stands under it', () => {
  const note = noteWords({ kind: 'unread', said: '<b>line 2</b>' })
  const html = part('health', withHealth({ ...busyQueue().queue.health, notes: [note] }))
  assert.match(html, /<b>Settings unread:<\/b> <code>\.knotless\/queue\.yml<\/code> cannot be read: &lt;b&gt;line 2&lt;\/b&gt;\./)
})

test('a pull that the steward put back cannot be added again, and an empty queue says nothing of times', () => {
  const busy = busyQueue()
  const [ejection] = busy.queue.ejected
  assert.ok(ejection !== undefined)
  assert.match(part('ejected', busy), /Add again/)
  const back = { ...busy, queue: { ...busy.queue, ejected: [{ ...ejection, position: 9, length: 12 }] } }
  assert.match(part('ejected', back), /It is back, 9th of 12\./)
  assert.doesNotMatch(part('ejected', back), /Add again/)
  assert.doesNotMatch(part('waiting', emptyQueue()), /Lands|estimate/)
  assert.match(part('activity', emptyQueue()), /Nothing has happened here yet\./)
})

test('a row says itself why it has no estimate where that does not stand under the list', () => {
  const busy = busyQueue()
  const why = 'No estimate: it hangs on what becomes of a pull ahead of it.'
  const queued = busy.queue.queued.map(entry => ({ ...entry, standing: { ...entry.standing, expected: { none: why } } }))
  const rows = (estimates: string[]) => part('waiting', { ...busy, queue: { ...busy.queue, queued }, estimates })
  const own = (html: string) => html.match(/<dd>No estimate: it hangs on what becomes of a pull ahead of it\.<\/dd>/g)?.length ?? 0
  assert.ok(own(rows(['Landing times come from the last 5 batches that passed.'])) > 1)
  assert.equal(own(rows([why])), 0)
  assert.match(rows([why]), /<dd>no estimate<\/dd>/)
})

test('REA-3 a figure of less than half a minute is not said to be none', () => {
  const busy = busyQueue()
  const stats = [
    { days: 1, landed: 2, medianMinutes: 0, p95Minutes: 1 },
    { days: 7, landed: 2 },
  ]
  const html = part('figures', { ...busy, queue: { ...busy.queue, stats } })
  assert.match(html, /<td>under 1 min<\/td>\s*<td>none<\/td>/)
  assert.match(html, /<td>1 min<\/td>/)
  assert.doesNotMatch(html, />0 min/)
})
