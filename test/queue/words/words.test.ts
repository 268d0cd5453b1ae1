import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as words from '../../../src/queue/words/index.ts'
import * as samples from './samples.ts'

const { NOW, names } = samples
const text = (phrase: words.Phrase) => words.plain(phrase, NOW, names)

/** Each sample of a table, as what `say` makes of it. */
function spoken<T, R>(table: Record<string, readonly T[]>, say: (parts: T) => R): Record<string, R[]> {
  return Object.fromEntries(Object.entries(table).map(([key, list]) => [key, list.map(say)]))
}

const said = {
  standing: spoken(samples.standings, parts => text(words.standingWords(parts))),
  why: spoken(samples.whys, parts => text(words.whyWords(parts))),
  box: spoken(samples.boxes, parts => {
    const { key, headline, says } = words.boxWords(parts)
    return { key, tone: words.boxTones[key], headline: text(headline), says: text(says) }
  }),
  health: spoken(samples.healths, parts => {
    const { bold, says, advice } = words.healthWords(parts)
    return { label: words.healthLabels[parts.kind].word, bold, says: text(says), advice: advice === undefined ? null : text(advice) }
  }),
  batch: spoken(samples.batches, parts => `${words.batchLabels[parts.state].word}: ${text(words.batchWords(parts))}`),
  refusal: spoken(samples.refusals, ({ message, advice }) => ({
    message: text(message),
    advice: advice === undefined ? null : text(advice),
  })),
  ejection: spoken(samples.ejections, parts => {
    const { reason, says } = words.ejectionWords(parts)
    return { reason: text(reason), says: text(says) }
  }),
  audit: spoken(samples.audits, parts => words.auditText(parts, names)),
  leave: spoken(samples.leaves, parts => {
    const { question, beside } = words.leaveWords(parts)
    return { question: text(question), beside: text(beside), page: text(words.leavePageWords(samples.sampleTitle, parts)) }
  }),
  timeline: spoken(samples.timelines, parts => {
    const { tone, says } = words.timelineWords(parts)
    return `${tone ?? 'plain'}: ${text(says)}`
  }),
  title: spoken(samples.titles, words.titleWords),
  empty: spoken(samples.empties, parts => {
    const { headline, says } = words.emptyWords(parts)
    return { headline: headline === undefined ? null : text(headline), says: text(says) }
  }),
  live: spoken(samples.lives, parts => text(words.liveWords(parts))),
  error: spoken(samples.errors, parts => {
    const { headline, says } = words.errorPageWords(parts)
    return { headline: text(headline), says: text(says) }
  }),
  beside: {
    queuedAt: [text(words.queuedAtWords('a1'.repeat(20), 'b2'.repeat(20)))],
    backdated: [text(words.backdatedWords({ keyTime: NOW - 90 * 60_000, seenAt: NOW }))],
    changesChecks: [text(words.changesChecksWords())],
    addAgain: [true, false].map(unchanged => text(words.addAgainWords(unchanged))),
    noReason: [text(words.noReasonWords())],
    boxLinks: Object.values(words.boxLinks),
    nothingToLand: [text(words.nothingToLandWords('main'))],
    nothingRan: [text(words.nothingRanWords())],
    unnamedLander: [text(words.unnamedLanderWords(samples.runner))],
    notIsolated: [text(words.notIsolatedWords(samples.runner))],
    left: [text(words.leftWords(samples.bob))],
    badge: [words.badgeWords('main', 12, 'Healthy')],
  },
  labels: {
    pull: words.pullLabels,
    batch: words.batchLabels,
    run: words.runLabels,
    health: words.healthLabels,
    gateway: words.gatewayLabels,
    steward: words.stewardLabels,
  },
}

for (const [part, sentences] of Object.entries(said)) {
  test(`STA-3 the words of ${part} are what they were`, t => t.assert.snapshot(sentences))
}

/** Every sentence there is, with where it stands. */
const sentences: { where: string; text: string }[] = []
for (const [part, table] of Object.entries(said)) {
  if (part === 'labels') continue
  for (const [key, list] of Object.entries(table)) {
    for (const one of list) {
      const fields = typeof one === 'string' ? { text: one } : one
      for (const [field, value] of Object.entries(fields)) {
        if (typeof value === 'string' && value !== '') sentences.push({ where: `${part}.${key}.${field}`, text: value })
      }
    }
  }
}

test('no sentence shouts, begs or leaves a hole', () => {
  assert.ok(sentences.length > 200)
  for (const { where, text } of sentences) {
    assert.doesNotMatch(text, /!|\bplease\b|\boops\b|undefined|null|NaN|\[object|\{|\}| {2}|\.\.|,,|—/i, where)
  }
})

test('sentences end in a full stop, headlines and labels do not', () => {
  for (const { where, text } of sentences) {
    const field = where.split('.').at(-1)
    if (field === 'headline' || field === 'reason' || field === 'bold') assert.doesNotMatch(text, /\.$/, where)
    if (
      field === 'advice' ||
      field === 'beside' ||
      field === 'message' ||
      (field === 'says' && !text.endsWith('. Halving the batch found it'))
    ) {
      assert.match(text, /[.:]$/, `${where}: ${text}`)
    }
  }
})

test('every refusal says first that it did not happen', () => {
  for (const act of ['queue', 'leave', 'merge'] as const) {
    const lead = { queue: 'Not queued:', leave: 'Nothing done:', merge: 'Not merged:' }[act]
    for (const refusal of [
      words.notAllowed(act, [samples.alice]),
      words.signedOut(act, [samples.alice]),
      words.headMoved(act, 'a'.repeat(40)),
    ]) {
      assert.ok(text(refusal.message).startsWith(lead))
    }
  }
})

test('STO-7 nothing is claimed of a write that reading has not settled', () => {
  const { message, advice } = words.upstreamFailed('queue', 'pds.example', 'silent', false)
  assert.doesNotMatch(`${text(message)} ${text(advice ?? [])}`, /Not queued|Nothing was written/)
})

test('an answer keeps the bounds of its lexicon, however long the lists are', () => {
  const files = Array.from({ length: 100 }, () => 'a/'.repeat(2000))
  const { message, advice } = words.conflict('queue', { branch: 'b'.repeat(255), tip: 'a'.repeat(40), files, more: 900 })
  assert.ok(Buffer.byteLength(text(message)) <= 4000)
  assert.ok(Buffer.byteLength(text(advice ?? [])) <= 4000, `${Buffer.byteLength(text(advice ?? []))}`)
  const many = words.checksFailed({ workflows: Array.from({ length: 100 }, () => 'w'.repeat(255)), head: 'a'.repeat(40), branch: 'main' })
  assert.ok(Buffer.byteLength(text(many.message)) <= 4000)
})

test('REC-6 an ejection of an unknown kind and without a reason is still said', () => {
  assert.deepEqual(words.readReason(undefined, 'sunspots'), { reason: 'turned away', says: '' })
  assert.equal(words.ejectionKind('sunspots'), 'other')
  assert.equal(words.ejectionKind(undefined), 'other')
})

test('REC-2 a reason is read as headline, full stop, sentence', () => {
  for (const [reason, headline, says] of [
    ['conflict with release/1.0. At abc it does not apply.', 'conflict with release/1.0', 'At abc it does not apply.'],
    ['test failed', 'test failed', ''],
    ['test failed.', 'test failed', ''],
    ['  spaced.  It is.  ', 'spaced', 'It is.'],
    ['test failed. It was left. Halving the batch found it', 'test failed', 'It was left. Halving the batch found it.'],
    ['test failed. As it is', 'test failed', 'As it is'],
  ]) {
    assert.deepEqual(words.readReason(reason, 'checks'), { reason: headline, says })
  }
})

test('a title is cut after 60 graphemes and never inside one', () => {
  const family = '👨‍👩‍👧‍👦'
  assert.equal(words.cutTitle(family.repeat(60)), family.repeat(60))
  assert.equal(words.cutTitle(family.repeat(61)), `${family.repeat(60)}…`)
  assert.equal(words.cutTitle('short'), 'short')
  assert.equal(words.cutTitle(' \n'), 'Untitled')
  assert.ok(words.cutTitle('a'.repeat(1_000_000)).length < 70)
})
