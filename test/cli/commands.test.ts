import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { helpText, pickCommand } from '../../src/cli/commands.ts'

const program = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

interface Ran {
  code: number
  out: string
  err: string
}

function knotless(args: string[], env: Record<string, string> = {}): Promise<Ran> {
  return new Promise(resolve => {
    const child = execFile(process.execPath, [program, ...args], { env: { PATH: process.env.PATH, ...env } }, (_error, out, err) =>
      resolve({ code: child.exitCode ?? -1, out, err }),
    )
  })
}

test('a command is picked with the rest of the arguments as its own', () => {
  assert.deepEqual(pickCommand(['demo', '--port', '0']), { command: 'demo', args: ['--port', '0'] })
  assert.deepEqual(pickCommand(['serve']), { command: 'serve', args: [] })
  for (const word of ['--help', '-h', 'help']) assert.deepEqual(pickCommand([word]), { help: true })
  for (const word of ['--version', '-V']) assert.deepEqual(pickCommand([word]), { version: true })
})

test('what is no command gets one line, and names of the language’s own objects are none', () => {
  for (const args of [['frob'], [], ['toString'], ['__proto__'], ['-x']]) {
    const picked = pickCommand(args)
    assert.ok('fault' in picked && !picked.fault.includes('\n') && picked.fault.includes('demo, serve'), JSON.stringify(picked))
  }
})

test('the help names every command', () => {
  assert.match(helpText(), /^ {2}demo {2}/m)
  assert.match(helpText(), /^ {2}serve {2}/m)
  assert.match(helpText(), /^ {2}index {2}/m)
})

test('index compare: its help, its one command, and no comparison without configuration', async () => {
  const [help, other, bare] = await Promise.all([
    knotless(['index', '--help']),
    knotless(['index', 'mend']),
    knotless(['index', 'compare']),
  ])
  assert.deepEqual([help.code, help.err], [0, ''])
  assert.match(help.out, /^Usage: knotless index compare\n/)
  assert.deepEqual([other.code, other.out, other.err.trim().split('\n').length], [2, '', 1])
  assert.match(other.err, /compare/)
  assert.deepEqual([bare.code, bare.out, bare.err.trim().split('\n').length], [2, '', 1])
  assert.match(bare.err, /KNOTLESS_/)
})

test('the program: help and version on stdout, an unknown command on stderr with exit code 2', async () => {
  const [help, version, unknown] = await Promise.all([knotless(['--help']), knotless(['--version']), knotless(['frob'])])
  assert.deepEqual([help.code, help.err], [0, ''])
  assert.match(version.out, /^\d+\.\d+\.\d+\n$/)
  assert.deepEqual([unknown.code, unknown.out, unknown.err.trim().split('\n').length], [2, '', 1])
})

test('serve without configuration names the first variable that is missing, and exits 2', async () => {
  const [bare, flag] = await Promise.all([knotless(['serve']), knotless(['serve', '--port', '1'])])
  assert.deepEqual([bare.code, bare.err.trim().split('\n').length], [2, 1])
  assert.match(bare.err, /KNOTLESS_/)
  assert.deepEqual([flag.code, flag.err.trim().split('\n').length], [2, 1])
})

test('demo passes its flags on and ends with the exit code of what it started', async () => {
  const ran = await knotless(['demo', '--port', 'x'])
  assert.deepEqual([ran.code, ran.out], [2, ''])
  assert.match(ran.err, /--port/)
})
