import assert from 'node:assert/strict'
import { test } from 'node:test'
import { row } from '../../bench/figures.ts'
import { benchGateway } from '../../bench/gateway.ts'

test('the gateway is no slower than twice what is asked of it, each figure beside its peer on this very machine', async t => {
  const figures = await benchGateway({ size: { files: 3_000, commits: 1_000, pulls: 8 }, rounds: 5, bounds: 'alarm' })
  for (const figure of figures) t.diagnostic(row(figure))
  assert.ok(figures.length >= 4)
  assert.deepEqual(figures.filter(figure => !figure.ok).map(row), [])
})
