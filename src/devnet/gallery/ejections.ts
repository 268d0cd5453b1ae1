/** Turned away: one pull for each reason that a runner gives, in its own words, and who may add it again. */
import type { EjectionParts } from '../../queue/words/ejection.ts'
import { madeUp } from './pen.ts'
import type { Making } from './world.ts'

/** Puts up a repository in which nothing is queued and much was turned away. */
export async function ejections(making: Making): Promise<void> {
  const { cast, pen, passes, history, open, turnAway, show } = making
  const { alice, bob, carol, runner } = cast
  const repo = await pen.repo({ owner: alice, name: 'compost', collaborators: [bob, carol], runners: [runner] })
  await pen.lander(runner, repo)
  passes.push({ repo, by: runner })
  const branch = 'main'
  const tip = history.trunk('landed-3')
  const base = history.trunk('landed-2')

  const four = []
  for (const title of ['Rakes', 'Spades', 'Barrows', 'A pump that leaks']) four.push(await open(repo, title))
  const found = four.at(-1)
  if (found === undefined) throw new Error('no pulls')
  const others = four.slice(0, 3).map(pull => ({ title: '', pull: pull.uri }))
  const { checks } = await pen.batch(runner, four, { check: 'success', test: 'failure' }, { base, ago: 60 })
  const test = checks.test?.uri ?? ''
  const failed = (workflow: string, check: string) => ({ checks: [{ workflow, status: 'failure', check }] })
  const why: EjectionParts = { key: 'halving', names: ['test'], others: ['3 others'], size: others.length + 1, branch, tip: base }
  const ejection = await turnAway(found, why, 'checks', failed('test', test))
  await decided(making, found, ejection, test, { verdict: 'reject', kind: 'other', attempt: 1, assertion: 'the pump leaks: 3 !== 0' })
  show('ejected-halving', 'Ejected', found, { title: 'Found by halving a batch that failed' })
  show('ejected-signed-out', 'Ejected', found, { as: 'nobody', title: 'Turned away, as anybody sees it' })
  show('ejected-stranger', 'Ejected', found, { as: 'mallory', title: 'Turned away, as a stranger sees it' })

  const first = { title: 'Cache the frost forecast', pull: found.uri }
  const kinds: [
    id: string,
    title: string,
    kind: string,
    why: EjectionParts | undefined,
    more?: { run?: string; status?: string; head?: string },
  ][] = [
    [
      'together',
      'It failed together with another',
      'checks',
      { key: 'together', names: ['test'], others: [first], branch },
      { run: 'test' },
    ],
    [
      'alone',
      'It failed alone',
      'checks',
      { key: 'alone', names: ['e2e'], commit: madeUp('alone'), branch, tip, newer: 0 },
      { run: 'e2e' },
    ],
    [
      'preflight',
      'It failed its pre-flight',
      'preflight',
      { key: 'preflight', names: ['check'], head: madeUp('flown'), branch, tip },
      { run: 'check' },
    ],
    [
      'conflict-pulls',
      'In conflict with a pull ahead of it',
      'conflict',
      { key: 'conflict-pulls', branch, head: madeUp('stacked'), files: ['docs/rows.md'], branches: ['csv-stream'] },
    ],
    [
      'conflict',
      'In conflict with the branch',
      'conflict',
      { key: 'conflict', branch, tip, head: madeUp('apart'), files: ['docs/rows.md'], more: 0 },
      { head: 'row-labels' },
    ],
    ['branch-gone', 'Its branch was gone', 'branch-gone', { key: 'branch-gone', head: 'row-labels', owner: alice.did, name: repo.name }],
    ['draft', 'It was made a draft, and is none any more', 'draft', { key: 'draft', by: bob.did }],
    ['empty', 'Nothing was left to land', 'empty', { key: 'empty', branch, tip }, { head: 'main' }],
    ['timeout', 'It timed out alone', 'timeout', { key: 'timeout', names: ['e2e'] }, { run: 'e2e', status: 'error' }],
    ['delegation', 'The owner had not let the server write', 'gateway', { key: 'no-delegation', owner: alice.did }],
    [
      'gateway',
      'The server would never take it',
      'gateway',
      { key: 'gateway', said: 'the second commit is not the squash of a queued pull.' },
    ],
    ['changed', 'Changed after it was queued', 'changed', { key: 'changed', from: madeUp('then'), to: madeUp('now') }],
    ['unreadable', 'Its branch could not be read', 'unreadable', { key: 'unreadable', head: 'topic-1', server: 'pds.example' }],
    ['head-moved', 'Its head moved while it landed', 'other', { key: 'head-moved', times: 2 }],
    ['hostile', 'Its head cannot be taken', 'other', { key: 'hostile', detail: 'A path in it is longer than 4,096 bytes.' }],
    ['not-filed', 'A check of it could not be filed', 'other', { key: 'not-filed', workflow: 'lint' }],
    ['bare', 'By a record that says nothing but its kind', 'infra', undefined],
  ]
  for (const [id, title, kind, parts, { run, status = 'failure', head } = {}] of kinds) {
    const pull = await open(repo, title, head === undefined ? {} : { head })
    const about = { baseCommit: base, ...(status === 'error' ? { verdict: 'timeout' } : {}) }
    const check = run === undefined ? undefined : await pen.check(runner, pull, run, status, 80, about)
    const named = run === undefined || check === undefined ? {} : { checks: [{ workflow: run, status, check: check.uri }] }
    const record = await turnAway(pull, parts, kind, named)
    if (id === 'alone' && check !== undefined)
      await decided(making, pull, record, check.uri, { verdict: 'reject', kind: 'flake', attempt: 2 })
    show(`ejected-${id}`, 'Ejected', pull, { title })
  }
}

/** What the steward made of an ejection. */
async function decided(
  { cast, pen }: Making,
  pull: { uri: string; head: string; repo: { uri: string } },
  ejection: string,
  check: string,
  said: { verdict: string; kind: string; attempt: number; assertion?: string },
): Promise<void> {
  const about = { repo: pull.repo.uri, subject: pull.uri, head: pull.head, ejection, evidence: [{ uri: check }] }
  await cast.runner.create('dev.knotless.decision', { ...about, ...said, createdAt: pen.ago(51) }, pen.key(51))
}
