import { test } from 'node:test'
import * as words from '../../../src/queue/words/changing.ts'
import { type Phrase, plain } from '../../../src/queue/words/phrase.ts'
import type { ChangeAct } from '../../../src/queue/words/refusals.ts'
import { NOW, names } from './samples.ts'

const text = (phrase: Phrase) => plain(phrase, NOW, names)
const acts: readonly ChangeAct[] = ['close', 'reopen', 'ready', 'draft']
const answer = ({ message, advice }: { message: Phrase; advice?: Phrase | undefined }) =>
  `${text(message)}${advice === undefined ? '' : ` ${text(advice)}`}`
const places = [
  undefined,
  { key: 'queued', position: 3 },
  { key: 'in-batch', size: 1, others: 0, ahead: false },
  { key: 'in-batch', size: 3, others: 2, ahead: false },
  { key: 'in-batch', size: 3, others: 5, ahead: true },
  { key: 'held' },
] as const

test('STA-3 HON-6 QUE-5 what changing a pull says', t => {
  t.assert.snapshot({
    labels: words.changeLabels,
    question: Object.fromEntries(
      (['close', 'draft'] as const).map(act => [
        act,
        places.map(place => {
          const { headline, says } = words.changeQuestion(act, place)
          return `${text(headline)} ${text(says)}`
        }),
      ]),
    ),
    costs: [
      words.changeCosts(true, true),
      words.changeCosts(true, false),
      words.changeCosts(false, true),
      words.changeCosts(false, false, true),
    ].map(says => says && text(says)),
    already: acts.map(act => answer(words.changedAlready(act))),
    landed: [true, undefined].map(there => answer(words.landedAlready('main', there))),
    gone: answer(words.authorGone()),
    changed: answer(words.pullChanged('draft')),
    right: (['close', 'draft'] as const).map(act => text(words.changeRight(act, 'pds.example'))),
    rightRefused: ['denied', 'too-little', 'failed'].map(why => answer(words.changeRightRefused('reopen', why))),
    granted: answer(words.changeRightGranted('ready')),
  })
})
