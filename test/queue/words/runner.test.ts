import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plain } from '../../../src/queue/words/phrase.ts'
import {
  DROPS,
  dropWords,
  filingSaid,
  looksWords,
  nothingBuiltSaid,
  noVerdictSaid,
  type StandByParts,
  type WaitParts,
  waitWords,
} from '../../../src/queue/words/runner.ts'
import { alice, MINUTE, NOW, names, runner, type Samples, tip, title } from './samples-people.ts'

const until = NOW + 4 * MINUTE

const standBys: Samples<StandByParts['why'], StandByParts> = {
  'not-lander': [{ why: 'not-lander', first: runner }, { why: 'not-lander' }],
  lease: [{ why: 'lease', until }],
  clock: [
    { why: 'clock', skewMs: 3_600_000 },
    { why: 'clock', skewMs: -90_000 },
  ],
  'not-delegated': [{ why: 'not-delegated', owner: alice }],
  'git-version': [{ why: 'git-version', mine: '2.47.3', theirs: '2.39.5' }],
}

const waits: Samples<WaitParts['for'], WaitParts> = {
  'stand-by': Object.values(standBys)
    .flat()
    .map(standBy => ({ for: 'stand-by', standBy })),
  checks: [{ for: 'checks', tip, workflows: ['check', 'test'] }],
  preflights: [
    { for: 'preflights', pulls: 1, workflows: ['check'] },
    { for: 'preflights', pulls: 3, workflows: ['check', 'test'] },
  ],
  filling: [{ for: 'filling', until, ready: 2, most: 8 }],
  trouble: [
    { for: 'trouble', until, times: 1, said: 'test lost its executor.' },
    { for: 'trouble', until, times: 3, said: 'the server did not answer' },
    { for: 'trouble', until, times: 2, said: '' },
  ],
  unreadable: [{ for: 'unreadable', pull: title.pull, server: 'pds.example', until }],
  'landing-again': [{ for: 'landing-again', until, said: 'the gateway did not answer' }],
  suspects: [
    { for: 'suspects', left: 2, of: 8 },
    { for: 'suspects', left: 1, of: 2 },
  ],
  ejections: [
    { for: 'ejections', pulls: 1, until },
    { for: 'ejections', pulls: 2, until },
  ],
  workflows: [{ for: 'workflows' }],
  branch: [{ for: 'branch' }],
}

const silent = (workflow: string, verdict?: string) => ({ workflow, state: 'no-verdict', verdict })
const said = [
  noVerdictSaid([silent('check', 'timeout'), silent('test', 'executor-lost'), { workflow: 'lint', state: 'passed' }]),
  noVerdictSaid([silent('check', 'disk'), silent('test', 'restart'), silent('e2e', 'other'), { workflow: 'docs', state: 'cancelled' }]),
  noVerdictSaid([]),
  filingSaid(),
  nothingBuiltSaid(),
]

const spoken = Object.fromEntries(Object.entries(waits).map(([kind, list]) => [kind, list.map(wait => plain(waitWords(wait), NOW, names))]))

test('STA-4 FAI-8 the words of waits are what they were', t => t.assert.snapshot(spoken))

test('FAI-8 what gave no verdict is said', t => t.assert.snapshot(said))

test('MOV-4 REA-3 every check that a drop cancels says so in the same words, and then why', () => {
  const lead = 'cancelled as the merge queue dropped its batch'
  const drops = DROPS.map(dropWords)
  assert.equal(new Set(drops).size, DROPS.length)
  for (const words of drops) assert.match(words, new RegExp(`^${lead} \\([a-z ]+\\)$`))
})

test('sentences about waits end in a full stop and leave no hole', () => {
  for (const text of Object.values(spoken).flat()) {
    assert.match(text, /\.$/)
    assert.doesNotMatch(text, /undefined|NaN| {2}|\.\.|—/)
  }
})

test('NOT-6 a longer time between two looks at an account is said', () => {
  assert.equal(
    plain(looksWords(150_000), NOW, names),
    'So many accounts are watched that each is looked at every 2 min only; what the event stream brings is still noticed at once.',
  )
})
