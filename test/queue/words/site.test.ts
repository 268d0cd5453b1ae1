import assert from 'node:assert/strict'
import { test } from 'node:test'
import { boxTones } from '../../../src/queue/words/box.ts'
import { feedTitle, feedWords } from '../../../src/queue/words/feed.ts'
import { meaningsOfLabels } from '../../../src/queue/words/help.ts'
import { batchLabels, pullLabels, runLabels } from '../../../src/queue/words/labels.ts'
import { stayWords } from '../../../src/queue/words/leave.ts'
import { openLabel } from '../../../src/queue/words/open.ts'
import { badgeWords, myPullGroups, noBadgeWords } from '../../../src/queue/words/pages.ts'
import { plain } from '../../../src/queue/words/phrase.ts'
import { recordCounts, recordCut, recordPlace, recordTitle } from '../../../src/queue/words/record-page.ts'
import { bob, carol, NOW, names } from './samples.ts'

const uri = (key: string) => `at://${bob}/dev.knotless.pull/${key}`
const ejected = { kind: 'ejected', title: 'Migrate the tree store to SQLite', pull: uri('a'), author: carol } as const

test('STA-3 the words of feeds and badges are what they were', t => {
  const members = Array.from({ length: 23 }, (_, n) => ({ title: `Pull ${n}`, pull: uri(`${n}`), author: n === 0 ? undefined : bob }))
  t.assert.snapshot({
    title: feedTitle('main', 'alice.test/orchard'),
    landed: [1, 3, 23].map(size =>
      feedWords({ kind: 'landed', branch: 'main', tip: 'ab'.repeat(20), members: members.slice(0, size) }, names),
    ),
    ejected: [
      feedWords({ ...ejected, reason: 'test failed. It failed alone, at abc1234 on main at def5678.' }, names),
      feedWords({ ...ejected, ejection: 'gateway' }, names),
      ...['requeue', 'reject', 'none'].map(verdict =>
        feedWords(
          {
            ...ejected,
            reason: 'test failed',
            decision: { verdict, kind: 'flake', attempt: 1, assertion: 'adds up', entry: 'slow-socket' },
          },
          names,
        ),
      ),
    ],
    badge: [badgeWords('main', 12, 'Healthy'), noBadgeWords('pear')],
  })
})

test('STA-3 what the labels mean is what it was', t => {
  t.assert.snapshot(meaningsOfLabels().map(({ of, rows }) => ({ of, rows: rows.map(({ label, says }) => `${label.word}: ${says}`) })))
})

test('every label of a pull, a batch and a run is explained', () => {
  const [pulls, batches, runs] = meaningsOfLabels()
  const said = (rows = pulls) => new Set(rows?.rows.map(({ label }) => label.word))
  for (const { word } of Object.values(pullLabels)) assert(said(pulls).has(word), word)
  assert.deepEqual(said(batches), new Set(Object.values(batchLabels).map(({ word }) => word)))
  // How an unknown status of another program's reads says all there is to say.
  const { unknown: _, ...known } = runLabels
  assert.deepEqual(said(runs), new Set(Object.values(known).map(({ word }) => word)))
})

test('every standing of a pull is in one group of somebody’s pulls', () => {
  for (const state of ['open', 'closed', 'merged'] as const)
    for (const kind of [...Object.keys(pullLabels), 'in-ahead', 'surprise'])
      assert.equal(myPullGroups(state).filter(({ holds }) => holds(kind)).length, 1, `${state} ${kind}`)
})

test('STA-3 the page before leaving says when a pull lands where it stays', t => {
  t.assert.snapshot(plain(stayWords({ from: NOW + 8 * 60_000, to: NOW + 10 * 60_000 }), NOW, names))
})

test('STA-3 the labels of open pulls are what they were', t => {
  t.assert.snapshot(Object.keys(boxTones).flatMap(key => (isKey(key) && openLabel(key) !== undefined ? [[key, openLabel(key)]] : [])))
})

test('STA-3 what the page of a record says is what it was', t => {
  const collections = ['repo', 'refs', 'pull', 'issue', 'state', 'queue', 'check', 'lander', 'rerun', 'decision', 'marker']
  t.assert.snapshot({
    titles: collections.map(name => recordTitle(`dev.knotless.${name}`, 'alice.test')),
    places: ['pds.example', undefined].map(server => plain(recordPlace(bob, server), NOW, names)),
    counts: [true, false].map(recordCounts).map(({ label, says }) => `${label.word}: ${plain(says, NOW, names)}`),
    cut: plain(recordCut, NOW, names),
  })
})

function isKey(key: string): key is keyof typeof boxTones {
  return Object.hasOwn(boxTones, key)
}
