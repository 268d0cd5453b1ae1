import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gitEnv } from '../../src/git/env.ts'
import { type GatewayWorld, type Planted, startGatewayWorld } from '../server/gateway-world.ts'
import { until } from '../support/until.ts'

const program = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

let world: GatewayWorld
let orchard: Planted
let dir: string

before(async () => {
  world = await startGatewayWorld()
  orchard = await world.plant('orchard')
  dir = mkdtempSync(join(tmpdir(), 'knotless-credential-'))
  const { bob, mallory } = world.people
  const accounts = Object.fromEntries([bob, mallory].map(({ handle, password }) => [handle, { handle, password }]))
  writeFileSync(join(dir, 'network.json'), JSON.stringify({ pds: world.network.pdsUrl, accounts }))
})

after(async () => {
  await world?.end()
  rmSync(dir, { recursive: true, force: true })
})

interface Ran {
  code: number
  out: string
  err: string
}

function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv, input = ''): Promise<Ran> {
  return new Promise(resolve => {
    const child = execFile(command, args, { env, cwd: dir }, (_error, out, err) => resolve({ code: child.exitCode ?? -1, out, err }))
    // One that asks nothing may have ended by now.
    child.stdin?.on('error', () => undefined).end(input)
  })
}

const own = (env: NodeJS.ProcessEnv = {}) => ({ PATH: process.env.PATH, ...env })
const credential = (args: readonly string[], input: string, env?: NodeJS.ProcessEnv) =>
  run(process.execPath, [program, 'git-credential', ...args], own(env), input)
const git = (args: readonly string[], env?: NodeJS.ProcessEnv) =>
  run('git', args, {
    ...gitEnv({
      GIT_ALLOW_PROTOCOL: 'http',
      GIT_AUTHOR_NAME: 'bob',
      GIT_AUTHOR_EMAIL: 'bob@b.test',
      GIT_COMMITTER_NAME: 'bob',
      GIT_COMMITTER_EMAIL: 'bob@b.test',
    }),
    ...env,
  })
const helper = (args: string) => `credential.helper=!'${process.execPath}' '${program}' git-credential ${args}`

test('GWY-10 the stock client pushes with the password that the helper gives it, by a network file and by an app password', async () => {
  const url = `${world.server.url}/alice.test/orchard.git`
  await until(async () => (await fetch(`${url}/info/refs?service=git-upload-pack`)).status === 200, { what: 'the orchard to be served' })
  const ways: [string, string, NodeJS.ProcessEnv][] = [
    ['by-file', `--network '${join(dir, 'network.json')}' --as bob.test`, {}],
    [
      'by-password',
      '',
      {
        KNOTLESS_HANDLE: 'bob.test',
        KNOTLESS_PASSWORD: world.people.bob.password,
        KNOTLESS_PLC: world.network.plcUrl,
        KNOTLESS_HANDLE_RESOLVER: world.network.pdsUrl,
        KNOTLESS_ALLOW_LOOPBACK: '1',
      },
    ],
  ]
  for (const [branch, args, env] of ways) {
    const clone = join(dir, branch)
    const cloned = await git(['clone', '-q', url, clone])
    assert.equal(cloned.code, 0, cloned.err)
    writeFileSync(join(clone, `${branch}.txt`), 'a pear\n')
    await git(['-C', clone, 'add', '.'])
    await git(['-C', clone, 'commit', '-q', '-m', branch])
    const pushed = await git(['-C', clone, '-c', helper(args), 'push', '-q', 'origin', `HEAD:refs/heads/${branch}`], env)
    assert.equal(pushed.code, 0, pushed.err)
    assert.ok((await orchard.refs()).has(branch))
  }
})

test('the helper says in one line what is wrong, and gives nothing away', async () => {
  const { host } = new URL(world.server.url)
  const asked = `protocol=http\nhost=${host}\n\n`
  const network = join(dir, 'network.json')
  const wrong = {
    KNOTLESS_HANDLE: 'bob.test',
    KNOTLESS_PASSWORD: 'not this one',
    KNOTLESS_PLC: world.network.plcUrl,
    KNOTLESS_HANDLE_RESOLVER: world.network.pdsUrl,
    KNOTLESS_ALLOW_LOOPBACK: '1',
  }
  for (const [said, ran] of [
    [/KNOTLESS_HANDLE/, await credential(['get'], asked)],
    [/no such account/, await credential(['--network', network, '--as', 'nobody.test', 'get'], asked)],
    [/no such account/, await credential(['--network', join(dir, 'none.json'), '--as', 'bob.test', 'get'], asked)],
    [/no such account/, await credential(['get'], asked, { ...wrong, KNOTLESS_HANDLE: 'nobody.test' })],
    [/wrong handle or password/, await credential(['get'], asked, wrong)],
    [
      /no knotless server/,
      await credential(['--network', network, '--as', 'bob.test', 'get'], `protocol=http\nhost=${new URL(world.network.pdsUrl).host}\n\n`),
    ],
  ] as const) {
    assert.deepEqual([ran.code, ran.out, ran.err.trim().split('\n').length], [1, '', 1], ran.err)
    assert.match(ran.err, said)
    assert.doesNotMatch(ran.err, /not this one/)
  }
})

test('no token is asked for where it would travel in the open, and none is kept', async () => {
  const network = join(dir, 'network.json')
  const as = ['--network', network, '--as', 'bob.test']
  for (const input of ['protocol=http\nhost=queue.example.com\n\n', 'protocol=ssh\nhost=127.0.0.1\n\n', '', 'x'.repeat(100_000)]) {
    const ran = await credential([...as, 'get'], input)
    assert.deepEqual([ran.code, ran.out, ran.err], [0, '', ''])
  }
  for (const action of ['store', 'erase'])
    assert.deepEqual(await credential([...as, action], 'password=x\n'), { code: 0, out: '', err: '' })
  mkdirSync(join(dir, 'empty'))
  const usage = await credential(['--help'], '')
  assert.match(usage.out, /^Usage: git config credential\.helper/)
  const odd = await credential(['--network', network, 'get'], '')
  assert.deepEqual([odd.code, odd.out], [2, ''])
})
