import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { QueueRecord } from '../../src/queue/facts.ts'
import { failedChecks } from '../../src/queue/failed-checks.ts'

const check: NonNullable<QueueRecord['checks']>[number]['check'] = 'at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/dev.knotless.check/3k'
const checks: QueueRecord['checks'] = [
  { workflow: 'e2e', status: 'error', check },
  { workflow: 'unit', status: 'failure', check },
]

test('REC-2 FAI-8 what failed is told with why it gave no verdict, as far as the kind of the ejection says it', () => {
  const verdicts = (kind: string | undefined) => failedChecks({ kind, checks }).map(({ verdict }) => verdict)
  assert.deepEqual(verdicts('timeout'), ['timeout', undefined])
  assert.deepEqual(verdicts('infra'), ['other', undefined])
  assert.deepEqual(verdicts('checks'), [undefined, undefined])
  assert.deepEqual(verdicts(undefined), [undefined, undefined])
  assert.deepEqual(failedChecks({ kind: 'timeout' }), [])
})
