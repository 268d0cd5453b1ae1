import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plan } from '../../src/runner/planner/plan.ts'
import { eventsOf, run } from './simulator/history.ts'
import { saboteurs } from './simulator/saboteurs.ts'
import { shrink } from './simulator/shrink.ts'
import { report, simulate } from './simulator/simulate.ts'
import type { Planner } from './simulator/world.ts'

/** Histories that are run here at most, and for how long: the rest is `npm run simulate`. */
const histories = 10_000
const budgetMs = 45_000
/** In one go, before the clock is looked at. */
const slice = 100
/** Within so many histories a wrong planner is caught. */
const soon = 150

function fails(planner: Planner, caught: RegExp): { seed: number; property: string } | undefined {
  for (let seed = 1; seed <= soon; seed++) {
    const { broken } = run(planner, seed, eventsOf(seed, 200))
    if (broken !== undefined && caught.test(broken.property)) return { seed, property: broken.property }
  }
  return undefined
}

test('BLD LND FAI AHD MOV in random histories the six properties hold, and histories try what can happen', t => {
  const until = performance.now() + budgetMs
  const counts = new Map<string, number>()
  let from = 1
  for (; from <= histories && performance.now() < until; from += slice) {
    const done = simulate(plan, { from, histories: slice, events: 200 })
    assert.equal(done.broken, undefined, report(done, 1).join('\n'))
    for (const [what, times] of done.counts) counts.set(what, (counts.get(what) ?? 0) + times)
  }
  t.diagnostic(`${from - 1} histories`)
  const tried = [
    'pulls landed',
    'builds ahead',
    'halvings begun',
    'broken off: killed',
    'broken off: given-up',
    'broken off: given-up-whole',
    'repairs: states written',
    'repairs: pushed again',
    'repairs: given up',
    'restarts',
    'stops',
    'pre-flights',
    ...['branch-moved', 'pull-moved-on', 'batch-failed', 'no-verdict', 'landing-failed', 'not-lander', 'stopping'].map(
      one => `drops: ${one}`,
    ),
    ...[
      'conflict, conflict',
      'conflict, conflict-pulls',
      'checks, alone',
      'checks, halving',
      'preflight, preflight',
      'timeout, timeout',
    ].map(one => `ejected: ${one}`),
    ...['draft, draft', 'changed, changed', 'changed, retargeted', 'gateway, gateway', 'gateway, no-delegation', 'empty, empty'].map(
      one => `ejected: ${one}`,
    ),
    ...[
      'out',
      'head-moved',
      'head-unreadable',
      'branch-moved',
      'not-delegated',
      'not-a-batch',
      'tree-differs',
      'not-lander',
      'trouble',
    ].map(one => `landings refused: ${one}`),
  ]
  for (const what of tried) assert.ok((counts.get(what) ?? 0) > 0, `no history has: ${what}`)
})

for (const { name, caught, wrong } of saboteurs) {
  test(`a planner that ${name} is caught`, () => {
    const found = fails(wrong(plan), caught)
    assert.notEqual(found, undefined, `not in ${soon} histories`)
  })
}

test('a history is the same each time, and its shortest form breaks the same property', () => {
  const events = eventsOf(7, 200)
  assert.deepEqual(run(plan, 7, events, true).trace, run(plan, 7, eventsOf(7, 200), true).trace)
  const saboteur = saboteurs.find(({ name }) => name === 'does not see that somebody left')
  assert.ok(saboteur)
  const wrong = saboteur.wrong(plan)
  const found = fails(wrong, saboteur.caught)
  assert.ok(found)
  const short = shrink(wrong, found.seed, eventsOf(found.seed, 200), found.property, 400)
  assert.ok(short.length < 30, `${short.length} events`)
  assert.equal(run(wrong, found.seed, short).broken?.property, found.property)
})

test('what breaks is said with its seed, its shortest history and the trace', () => {
  const saboteur = saboteurs.find(({ name }) => name === 'takes the last first')
  assert.ok(saboteur)
  const done = simulate(saboteur.wrong(plan), { from: 1, histories: 20, events: 200 })
  const said = report(done, 1).join('\n')
  assert.match(said, /seed \d+ breaks “6 order”: batch \d+ on \w+ is built of/)
  assert.match(said, /npm run simulate -- --seed \d+/)
  assert.match(said, /the shortest history found has \d+ events:/)
  assert.match(said, /enqueue/)
})
