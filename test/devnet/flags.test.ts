import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseFlags, usage } from '../../src/devnet/demo/flags.ts'

function fault(...args: string[]): string {
  const parsed = parseFlags(args)
  return 'fault' in parsed ? parsed.fault : 'no fault'
}

test('without flags: the usual folder, the usual port, samples and runner', () => {
  assert.deepEqual(parseFlags([]), {
    help: false,
    empty: false,
    runner: true,
    dataDir: '.knotless/demo',
    port: 2590,
    reset: false,
    delegation: true,
    settings: { wait: '10s' },
  })
})

test('every flag is taken', () => {
  const flags = ['--empty', '--no-runner', '--data', 'd', '--port', '0', '--reset', '--ready-file', 'r', '--no-delegation']
  const settings = ['--batch', '50', '--depth', '1', '--wait', '0', '--notice', '5s', '--executor', 'host']
  assert.deepEqual(parseFlags([...flags, ...settings]), {
    help: false,
    empty: true,
    runner: false,
    dataDir: 'd',
    port: 0,
    reset: true,
    readyFile: 'r',
    delegation: false,
    settings: { batch: '50', depth: '1', wait: '0s', notice: '5s', executor: 'host' },
  })
})

test('a wrong flag gets one line that names it', () => {
  const wrong: Array<[flag: string, ...args: string[]]> = [
    ['--prot', '--prot', '1'],
    ['--port', '--port'],
    ['--port', '--port', '8'],
    ['--port', '--port', '65536'],
    ['--port', '--port', '-1'],
    ['--port', '--port', '2590x'],
    ['--data', '--data', ''],
    ['--ready-file', '--ready-file='],
    ['--batch', '--batch', '0'],
    ['--batch', '--batch', '51'],
    ['--depth', '--depth', '3'],
    ['--wait', '--wait', 'long'],
    ['--notice', '--notice', 'soon'],
    ['--notice', '--notice', '0'],
    ['--notice', '--notice', '2h'],
    ['--executor', '--executor', 'moon'],
    ['--empty', '--empty=yes'],
    ['here', 'here'],
  ]
  for (const [flag, ...args] of wrong) {
    const line = fault(...args)
    assert.ok(line.startsWith('knotless demo: ') && line.includes(flag), line)
    assert.ok(!line.includes('\n'), line)
  }
})

test('the usage names every flag', () => {
  for (const name of [
    'empty',
    'no-runner',
    'data',
    'port',
    'reset',
    'ready-file',
    'no-delegation',
    'batch',
    'depth',
    'wait',
    'notice',
    'executor',
  ]) {
    assert.ok(usage.includes(`--${name}`), name)
  }
})
