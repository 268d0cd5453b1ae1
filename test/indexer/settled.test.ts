import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { loadFacts, loadPullFacts } from '../../src/indexer/read.ts'
import type { RepositoryFacts } from '../../src/queue/facts.ts'
import { foldRepository } from '../../src/queue/fold.ts'
import type { RepositoryView } from '../../src/queue/view.ts'
import { type Plan, plansOf, play } from '../queue/histories.ts'
import { commit, MINUTE, START } from '../queue/made-up.ts'
import { type Bench, eventsOf, openBench } from './support.ts'

/** What a reader sees of the queue and of each pull that is not done with. */
function seen(view: RepositoryView, pulls: Iterable<string>) {
  return {
    queues: [...view.branches].map(([name, branch]) => [
      name,
      branch.tip,
      branch.queue.map(pull => [pull.pull.uri, pull.entry?.key, pull.entry?.by]),
    ]),
    pulls: [...pulls].map(uri => {
      const pull = view.pulls.get(uri)
      return [
        uri,
        pull?.state,
        pull?.draft,
        pull?.entry?.key,
        pull?.heldEntry?.key,
        pull?.lastQueue?.uri,
        pull?.stateRecord?.uri,
        pull?.history.map(one => one.uri),
      ]
    }),
    movedTo: view.movedTo,
  }
}

/** An account holds one record at an address, whatever else was written there. */
function onceEach(facts: RepositoryFacts): RepositoryFacts {
  const once = <T extends { uri: string }>(records: readonly T[]): T[] => [...new Map(records.map(record => [record.uri, record])).values()]
  return { ...facts, states: once(facts.states), queue: once(facts.queue) }
}

/** Merges and tips come from git, which no event tells. */
function withGitOf(loaded: RepositoryFacts, facts: RepositoryFacts): RepositoryFacts {
  return { ...loaded, tips: facts.tips, merges: facts.merges }
}

async function indexed(plan: Plan, work: (bench: Bench, facts: RepositoryFacts) => void): Promise<void> {
  const facts = onceEach(play(plan).facts())
  const bench = await openBench({ now: () => plan.now })
  try {
    await bench.take(...eventsOf(facts))
    const { db } = bench.index
    for (const did of facts.gone) {
      const account = { did, handle: null, pds: null, status: 'deleted', status_at: 1, resolved_at: null } as const
      bench.index.sync.run(db.insertInto('account').orReplace().values(account))
    }
    assert.deepEqual(bench.failures, [])
    work(bench, facts)
  } finally {
    await bench.close()
  }
}

test('a pull is left out of a repository’s facts only when the rules say that it is closed or merged', async () => {
  let settled = 0
  await fc.assert(
    fc.asyncProperty(plansOf(), async plan => {
      await indexed(plan, ({ index }, facts) => {
        const rows = index.sync.all(index.db.selectFrom('pull').select('uri').where('settled', '=', 1))
        settled += rows.length
        const view = foldRepository(facts, plan.now)
        for (const { uri } of rows) {
          const pull = view.pulls.get(uri)
          assert.notEqual(pull?.state, 'open', uri)
          assert.equal(pull?.entry ?? pull?.heldEntry, undefined)
        }
      })
    }),
    { numRuns: 150 },
  )
  assert.ok(settled > 20, `only ${settled} pulls were settled: the test sees too little`)
})

test('the facts that are loaded fold into what all the records together fold into', async () => {
  await fc.assert(
    fc.asyncProperty(plansOf(), async plan => {
      await indexed(plan, ({ index }, facts) => {
        const address = facts.repo.uri
        const loaded = loadFacts(index, address)
        assert.ok(loaded !== undefined)
        const whole = foldRepository(facts, plan.now)
        const view = foldRepository(withGitOf(loaded.facts, facts), plan.now)
        assert.deepEqual(seen(view, view.pulls.keys()), seen(whole, view.pulls.keys()))
        for (const [uri, pull] of whole.pulls) if (pull.state === 'open') assert.ok(view.pulls.has(uri), `${uri} is open and was left out`)
        for (const uri of whole.pulls.keys()) {
          const alone = loadPullFacts(index, uri)
          assert.ok(alone !== undefined)
          const one = foldRepository(withGitOf(alone.facts, facts), plan.now)
          assert.deepEqual(seen(one, [uri]).pulls, seen(whole, [uri]).pulls)
        }
      })
    }),
    { numRuns: 150 },
  )
})

test('HON-2 records of strangers are not even loaded', async () => {
  const stranger = 'did:plc:malloryaaaaaaaaaaaaaaaaa'
  await fc.assert(
    fc.asyncProperty(plansOf(), async plan => {
      await indexed(plan, ({ index }, facts) => {
        const loaded = loadFacts(index, facts.repo.uri)?.facts
        const writers = [...(loaded?.queue ?? []), ...(loaded?.states ?? [])].map(record => record.did)
        assert.ok(!writers.includes(stranger))
      })
    }),
    { numRuns: 30 },
  )
})

test('what landed last stays in the facts, and what is settled long since does not', async () => {
  const plan: Plan = { ...firstPlan(), acts: [], transfer: undefined, gone: [], now: START + 10_000 * MINUTE }
  const history = play(plan)
  const merged = Array.from({ length: 40 }, (_, n) => {
    const pull = history.pull('did:plc:daveaaaaaaaaaaaaaaaaaaaa')
    history.merged(history.repo.did, pull, { commit: commit(1_000 + n), batch: commit(2_000 + Math.floor(n / 4)) })
    return pull
  })
  const bench = await openBench({ now: () => plan.now })
  await bench.take(...eventsOf(history.facts()))
  const loaded = new Set(loadFacts(bench.index, history.uri)?.facts.pulls.map(pull => pull.uri))
  assert.deepEqual(
    merged.map(uri => loaded.has(uri)),
    merged.map((_, n) => n >= 40 - 6 * 4),
  )
  const old = merged[0] ?? ''
  assert.equal(loadPullFacts(bench.index, old)?.facts.pulls[0]?.uri, old)
  await bench.close()
})

function firstPlan(): Plan {
  const [plan] = fc.sample(plansOf(), { numRuns: 1, seed: 1 })
  assert.ok(plan !== undefined)
  return plan
}

test('HON-6 an author may close a pull and open it again, and cannot make it merged', async () => {
  const history = play({ ...firstPlan(), acts: [], transfer: undefined, gone: [], collaborators: [], runners: [], former: [] })
  const author = 'did:plc:daveaaaaaaaaaaaaaaaaaaaa'
  const [merged, closed, opened] = [0, 1, 2].map(() => history.pull(author))
  history.merged(author, merged ?? history.uri, { commit: commit(1) })
  history.closed(author, closed ?? history.uri)
  history.closed(author, opened ?? history.uri)
  history.opened(author, opened ?? history.uri)
  const bench = await openBench({ now: () => history.now })
  await bench.take(...eventsOf(history.facts()))
  const settled = bench.index.sync.all(bench.index.db.selectFrom('pull').select('uri').where('settled', '=', 1)).map(row => row.uri)
  assert.deepEqual(settled, [closed])
  await bench.close()
})
