import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pullNews, queueNews } from '../../src/queue/news.ts'
import { plain } from '../../src/queue/words/phrase.ts'
import { bob, carol, did, History, MINUTE } from './support.ts'

const names = (account: string) => (account === bob ? 'bob.test' : account === carol ? 'carol.test' : undefined)

test('a live queue page says its last change and how many wait', () => {
  const history = new History({ collaborators: [{ did: bob }] })
  const pull = history.pull(carol)
  const now = history.now + 5 * MINUTE
  assert.equal(queueNews(history.view(), 'main', now), undefined)
  history.queued(bob, pull)
  const said = queueNews(history.view(), 'main', now)
  assert.ok(said)
  assert.match(plain(said, now, names), /^Last change at \d\d:\d\d UTC: bob\.test queued Ripen\. 1 waiting\.$/)
  history.left(bob, pull)
  const after = queueNews(history.view(), 'main', now)
  assert.ok(after)
  assert.match(plain(after, now, names), /bob\.test took Ripen out of the queue\. 0 waiting\.$/)
})

test("HON-2 a stranger's record is no news", () => {
  const history = new History({ collaborators: [{ did: bob }] })
  const pull = history.pull(carol)
  history.queued(did('mallory'), pull)
  assert.equal(queueNews(history.view(), 'main', history.now), undefined)
})

test('a live pull page says what happened last', () => {
  const history = new History({ collaborators: [{ did: bob }] })
  const pull = history.pull(carol)
  assert.equal(pullNews(history.view(), history.see(pull), history.now), undefined)
  history.queued(bob, pull)
  const said = pullNews(history.view(), history.see(pull), history.now)
  assert.ok(said)
  assert.match(plain(said, history.now, names), /^Last change at \d\d:\d\d UTC: bob\.test queued it\.$/)
})
