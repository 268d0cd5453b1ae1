import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { planPass } from '../../src/indexer/mirrors/plan.ts'
import { loadFacts } from '../../src/indexer/read/facts.ts'
import { tidAt } from '../../src/queue/tid.ts'
import { alice, bob, carol, commit, type Did, did, mallory, START } from '../queue/made-up.ts'
import { type Bench, openBench, orchard, pullRecord, put, refsRecord, repoRecord, uriOf } from './support.ts'

const honest = did('dora')

/** The orchard with a pull of bob, who is named, one of dora, who is not, and then `count` of mallory. */
async function crowded(t: TestContext, count: number): Promise<Bench & { own: string; first: string }> {
  const bench = await openBench({ now: () => START + 30 * 24 * 3_600_000 })
  t.after(bench.close)
  let revision = 0
  const open = (by: Did, at: number) => put(by, 'pull', tidAt(START + at), pullRecord(), ++revision)
  await bench.take(
    put(alice, 'repo', 'orchard', repoRecord({ collaborators: [{ did: bob }, { did: carol }] }), ++revision),
    put(alice, 'refs', 'orchard', refsRecord(orchard, { main: commit(1), topic: commit(2) }), ++revision),
    open(bob, 1),
    open(honest, 2),
    ...Array.from({ length: count }, (_, n) => open(mallory, 10 + n)),
  )
  return { ...bench, own: uriOf(bob, 'pull', tidAt(START + 1)), first: uriOf(honest, 'pull', tidAt(START + 2)) }
}

test('a stranger who opens many pulls crowds no other author’s out of those that git looks at', async t => {
  const { index, own, first } = await crowded(t, 600)
  const planned = planPass(index, orchard)?.pulls.map(pull => pull.uri) ?? []
  assert.equal(planned.length, 500)
  assert.equal(planned[0], own, 'those of people who are named come first')
  assert.equal(planned.includes(first), true)
  const newest = uriOf(mallory, 'pull', tidAt(START + 10 + 599))
  const oldest = uriOf(mallory, 'pull', tidAt(START + 10))
  assert.deepEqual([planned.includes(newest), planned.includes(oldest)], [true, false])
})

test('a stranger who opens very many pulls crowds no other author’s out of the pages', async t => {
  const { index, own, first } = await crowded(t, 5_100)
  const shown = new Set(loadFacts(index, orchard)?.facts.pulls.map(pull => pull.uri))
  assert.deepEqual([shown.size, shown.has(own), shown.has(first)], [5_000, true, true])
})
