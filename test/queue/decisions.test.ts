import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decisionOn } from '../../src/queue/decisions.ts'
import { backWords, decisionWords, requeueWords, stewardLabel } from '../../src/queue/words/steward.ts'
import { text } from './asking-support.ts'
import { alice, bob, carol, dave, History, mallory, rigby } from './support.ts'

function ejectedPull() {
  const history = new History()
  const pull = history.pull(dave)
  history.queued(bob, pull)
  return { history, pull, ejection: history.ejected(rigby, pull) }
}

test('STW-10 HON-2 decisions count from owner, collaborators and named runners, the last one of an ejection says', () => {
  const { history, pull, ejection } = ejectedPull()
  history.decided(mallory, ejection, pull)
  history.decided(dave, ejection, pull)
  assert.equal(decisionOn(history.see(pull), ejection.uri), undefined)
  for (const by of [alice, carol, rigby]) {
    const decided = history.decided(by, ejection, pull, { verdict: 'reject' })
    assert.equal(decisionOn(history.see(pull), ejection.uri)?.uri, decided.uri)
  }
  history.decided(rigby, { uri: 'at://did:plc:x/dev.knotless.queue/other' }, pull)
  assert.equal(decisionOn(history.see(pull), ejection.uri)?.value.verdict, 'reject', 'that one was about another ejection')
})

test('REC-12 a decision about another repository, or with a key that is none, counts for nothing', () => {
  const { history, pull, ejection } = ejectedPull()
  history.decided(rigby, ejection, pull, { repo: 'at://did:plc:bob/dev.knotless.repo/other' })
  history.decided(rigby, ejection, pull, { key: 'no-tid' })
  assert.equal(history.see(pull).decisions, undefined)
})

test('STW-10 every word about a decision stands as it was written', t => {
  const { history } = ejectedPull()
  const parts = [
    { verdict: 'requeue', kind: 'flake', attempt: 1, entry: 'frost-tooltip-race' },
    { verdict: 'requeue', kind: 'flake', attempt: 2 },
    { verdict: 'requeue', kind: 'infra', attempt: 1 },
    { verdict: 'requeue', kind: 'timeout', attempt: 2 },
    { verdict: 'requeue', kind: 'surprise', attempt: 1 },
    { verdict: 'reject', kind: 'other', attempt: 1, assertion: 'expected 3 rows, got 4\n  at rows.test.ts' },
    { verdict: 'reject', kind: 'flake', attempt: 3 },
    { verdict: 'reject', kind: 'other', attempt: 1 },
    { verdict: 'reject', kind: 'other', attempt: 1, assertion: 'x'.repeat(1000) },
    { verdict: 'none', kind: 'other', attempt: 0 },
    { verdict: 'surprise', kind: 'other', attempt: 0 },
  ]
  t.assert.snapshot({
    decisions: parts.map(decisionWords).map(({ label, says }) => `${label.word}: ${text(says, history)}`),
    labels: parts
      .slice(0, 1)
      .concat(parts.slice(5, 6), parts.slice(9, 10))
      .map(of => stewardLabel(decisionWords(of).label).word),
    back: text(backWords(2, 5), history),
    requeued: ['flake', 'infra', 'timeout', 'surprise'].map(kind => text(requeueWords({ kind, attempt: 1 }), history)),
  })
})
