import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../../src/devnet/gallery/main.ts', import.meta.url))
const run = (...args: string[]) => spawnSync(process.execPath, [program, ...args], { encoding: 'utf8', timeout: 60_000 })

test('the gallery says how it is started, and starts nothing when it is told something it does not know', () => {
  const help = run('--help')
  assert.equal(help.status, 0)
  assert.match(help.stdout, /Usage: npm run gallery/)
  for (const args of [['--port', 'x'], ['--port', '70000'], ['--what']]) {
    const { status, stdout, stderr } = run(...args)
    assert.deepEqual([status, stdout], [2, ''])
    assert.match(stderr, /--port wants|Unknown option/)
  }
})
