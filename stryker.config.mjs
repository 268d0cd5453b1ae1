/**
 * Mutation tests of the gateway's rules: each mutant runs the tests that need neither git nor network, and has to be noticed. The properties are left
 * out, so that it is the single attacks that notice.
 */
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const tests = [
  'test/server/gateway-rules.test.ts',
  'test/server/gateway-rules-allowed.test.ts',
  'test/queue/spent.test.ts',
  'test/queue/closing.test.ts',
  'test/queue/prose.test.ts',
]
const needed = [
  'package.json',
  'scripts/{first-failure,mutation-tests}.ts',
  'src/queue/**',
  'src/server/gateway/{types.ts,rules/**}',
  'src/git/ref-names.ts',
  'test/queue/*.ts',
  'test/server/gateway-rules*.ts',
  'test/server/gateway-attacks/*.ts',
]

export default {
  testRunner: 'command',
  commandRunner: {
    command: `NODE_COMPILE_CACHE=compiled node --test-reporter=./scripts/first-failure.ts scripts/mutation-tests.ts ${tests.join(' ')}`,
  },
  mutate: ['src/server/gateway/rules/**/*.ts', 'src/queue/{spent,closing,prose}.ts'],
  ignorePatterns: ['**', ...needed.map(pattern => `!${pattern}`)],
  tempDirName: join(tmpdir(), `knotless-mutation-${process.pid}`),
  concurrency: 2,
  timeoutMS: 10_000,
  reporters: ['progress-append-only', 'clear-text'],
  clearTextReporter: { allowColor: false, logTests: false },
  thresholds: { high: 95, low: 90, break: 90 },
}
