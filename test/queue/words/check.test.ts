import { test } from 'node:test'
import { checkWords } from '../../../src/queue/words/check.ts'

const said = {
  ...Object.fromEntries(
    (['skipped', 'reused', 'dropped', 'cancelled', 'superseded', 'restarted', 'executorLost', 'stopping'] as const).map(key => [
      key,
      checkWords[key](),
    ]),
  ),
  secretMissing: checkWords.secretMissing('NPM_TOKEN'),
  cannotBeFiled: checkWords.cannotBeFiled('test'),
}

test('STA-3 words that checks say of themselves', t => {
  t.assert.snapshot(said)
})
