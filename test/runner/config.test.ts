import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRunnerConfig } from '../../src/runner/config.ts'

const env = {
  KNOTLESS_HANDLE: 'runner.test',
  KNOTLESS_PASSWORD: 'a-password-nobody-has',
  KNOTLESS_APPVIEW: 'http://127.0.0.1:2590',
  KNOTLESS_JETSTREAM: 'ws://127.0.0.1:2584/subscribe',
}
const repo = ['--repo', 'alice.test/orchard']

function faultOf(args: readonly string[], more: Record<string, string | undefined> = {}): string {
  const read = readRunnerConfig(args, { ...env, ...more })
  assert.ok(!('help' in read) && !read.ok, `taken: ${args.join(' ')}`)
  return read.fault
}

test('flags that are left out have the values that the usage names', () => {
  const read = readRunnerConfig(repo, env)
  assert.ok(!('help' in read) && read.ok)
  const {
    '--batch': batch,
    '--depth': depth,
    '--wait': wait,
    '--notice': notice,
    '--sweep': sweep,
    '--jobs': jobs,
    '--timeout': timeout,
  } = read.config
  assert.deepEqual(
    { batch, depth, wait, notice, sweep, jobs, timeout },
    {
      batch: 8,
      depth: 2,
      wait: 0,
      notice: 30_000,
      sweep: 300_000,
      jobs: 2,
      timeout: 2_700_000,
    },
  )
  assert.equal(read.config['--executor'], 'docker')
})

test('WHO-5 without an executor that isolates, --queue and --pulls are refused, saying why', () => {
  for (const asked of [['--queue'], ['--pulls', 'all'], ['--pulls', 'owner']]) {
    assert.match(faultOf([...repo, ...asked, '--executor', 'host']), /does not isolate.*code that anyone can open a pull with/)
  }
  const own = readRunnerConfig([...repo, '--executor', 'host'], env)
  assert.ok(!('help' in own) && own.ok, 'for the owner’s own pushes it is not')
  const trusted = readRunnerConfig([...repo, '--queue', '--executor', 'host', '--i-trust-every-author'], env)
  assert.ok(!('help' in trusted) && trusted.ok)
})

test('BLD-1 each flag is bounded, and the one line names it and what it wants', () => {
  const bad: Array<[flag: string, ...values: string[]]> = [
    ['--batch', '0', '51', 'x', '-1', '8.5'],
    ['--depth', '0', '3', 'two'],
    ['--wait', '2h', 'soon', '-1s'],
    ['--notice', '0s', '500ms', '2h'],
    ['--sweep', '1s', '25h'],
    ['--jobs', '0', '65'],
    ['--timeout', '0s', '25h'],
    ['--executor', 'kubernetes'],
    ['--log', 'xml'],
    ['--listen', 'nowhere', '0', '99999'],
    ['--pulls', 'mallory'],
    ['--repo', 'orchard', '../etc/passwd', 'alice.test/', 'a/b/c'],
  ]
  for (const [flag, ...values] of bad) {
    for (const value of values) {
      const fault = faultOf(flag === '--repo' ? [`--repo=${value}`] : [...repo, `${flag}=${value}`])
      assert.match(fault, new RegExp(`^${flag} is not right: it wants `), `${flag} ${value}: ${fault}`)
      assert.ok(!fault.includes('\n'))
    }
  }
})

test('what is missing from the environment is named, and no value is ever repeated', () => {
  assert.match(faultOf(repo, { KNOTLESS_PASSWORD: undefined }), /^KNOTLESS_PASSWORD is missing: it wants an app password/)
  assert.match(faultOf([]), /^--repo is missing/)
  const fault = faultOf(repo, { KNOTLESS_APPVIEW: 'a-password-nobody-has' })
  assert.match(fault, /^KNOTLESS_APPVIEW is not right/)
  assert.ok(!fault.includes('a-password'))
  assert.match(faultOf([...repo, '--frobnicate']), /^knotless runner: .*frobnicate/)
  assert.match(faultOf([...repo, 'stray']), /^knotless runner: /)
})

test('WHO-6 the server may be named by its address or its DID', () => {
  for (const KNOTLESS_APPVIEW of ['https://queue.example.com', 'http://serve:2590', 'did:web:queue.example.com']) {
    const read = readRunnerConfig(repo, { ...env, KNOTLESS_APPVIEW })
    assert.ok(!('help' in read) && read.ok, KNOTLESS_APPVIEW)
  }
})
