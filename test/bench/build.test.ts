import assert from 'node:assert/strict'
import { test } from 'node:test'
import { benchBuild } from '../../bench/build.ts'
import { row } from '../../bench/figures.ts'

test('a batch is built in no more than twice the time of bare plumbing on this very machine', async t => {
  const figures = await benchBuild({ size: { files: 3_000, commits: 1_000, pulls: 9 }, rounds: 5, bounds: 'alarm' })
  for (const figure of figures) t.diagnostic(row(figure))
  assert.equal(figures.length, 1)
  assert.deepEqual(figures.filter(figure => !figure.ok).map(row), [])
})
