import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { z } from 'zod'
import { freePort, portIsFree } from '../../src/devnet/ports.ts'
import { xrpc } from '../../src/devnet/xrpc.ts'
import { until } from '../support/until.ts'
import { answers, type Demo, type DemoFile, descendants, readDemoFile, readyDemo, startDemo } from './demo-process.ts'

let dir: string
let data: string
let readyFile: string
let first: DemoFile

before(() => {
  dir = mkdtempSync(join(tmpdir(), 'knotless-demo-'))
  data = join(dir, 'data')
  readyFile = join(dir, 'ready.json')
})
after(() => rmSync(dir, { recursive: true, force: true }))

const running: Demo[] = []
afterEach(async () => {
  // What a failed test left running.
  for (const demo of running.splice(0)) {
    demo.child.kill('SIGTERM')
    await demo.ended
  }
})

function start(...flags: string[]): Demo {
  return startIn(process.cwd(), ...flags)
}

function startIn(cwd: string, ...flags: string[]): Demo {
  const demo = startDemo(cwd, flags)
  running.push(demo)
  return demo
}

const pulls = z.object({ pulls: z.array(z.unknown()) })

/** Waits until nothing of a demo answers any more. */
async function allGone(file: DemoFile): Promise<void> {
  for (const url of [file.server, file.pds, file.plc, file.relay])
    await until(async () => !(await answers(url)), { timeout: 20_000, what: url })
}

test('the demo starts everything, says where it is, and stops with the program that started it, however that ends', async () => {
  writeFileSync(readyFile, 'left over')
  const demo = startIn(dir, '--data', 'data', '--port', '0', '--ready-file', readyFile, '--executor', 'host', '--depth', '1')
  await until(() => !existsSync(readyFile) || statSync(readyFile).size > 20, { what: 'the old ready file to go' })
  first = await readyDemo(demo, readyFile)
  assert.deepEqual(readDemoFile(join(data, 'network.json')), first)
  assert.equal(statSync(join(data, 'network.json')).mode & 0o077, 0, 'passwords are for their owner only')

  for (const { handle, did, password } of Object.values(first.accounts)) {
    const session = await xrpc(first.pds, 'com.atproto.server.createSession', { input: { identifier: handle, password } })
    assert.equal(z.object({ did: z.string() }).parse(session).did, did)
    assert.ok(demo.out().includes(password), `${handle}'s password is printed`)
  }
  assert.equal((await fetch(`${first.server}/healthz`)).status, 200)
  assert.deepEqual(
    first.repos.map(repo => [repo.name, Object.keys(repo.pulls).length]),
    [
      ['orchard', 9],
      ['almanac', 1],
    ],
  )
  for (const repo of first.repos) {
    const shown = pulls.parse(await xrpc(first.server, 'dev.knotless.listPulls', { params: { repo: repo.uri } }))
    assert.equal(shown.pulls.length, Object.keys(repo.pulls).length, `the server shows the pulls of ${repo.name}`)
  }
  assert.ok(demo.out().includes(`${first.server}/alice.test/orchard/queue/main`))
  const pull = first.repos[0]?.pulls['frost-two-degrees']?.uri.split('/').at(-1)
  const page = `${first.server}/alice.test/orchard/pulls/bob.test/${pull}`
  await until(async () => (await (await fetch(page)).text()).includes('pre class="diff"'), { what: "a pull's page with its changes" })
  assert.equal((await fetch(first.faults)).status, 200)
  const uri = first.repos[0]?.pulls['frost-two-degrees']?.uri ?? ''
  const status = z.object({ gateway: z.object({ delegated: z.boolean() }) })
  const { gateway } = status.parse(await xrpc(first.server, 'dev.knotless.getMergeStatus', { params: { pull: uri } }))
  assert.equal(gateway.delegated, true)
  assert.match(demo.out(), /alice\.test lets the server write for her, by a grant of two weeks that each start renews: http.*\/settings/)

  await until(() => demo.out().includes('Ctrl-C stops everything'), { what: 'the demo to say all' })
  assert.match(
    demo.out(),
    /runner\.test lands what is queued in the orchard, and runs its checks on this machine; its log is .*runner\.log/,
  )
  assert.match(demo.out(), /Those checks are not isolated/)
  const lander = z.object({ lander: z.object({ running: z.boolean(), executor: z.string(), depth: z.number(), lastSeen: z.string() }) })
  await until(
    async () => {
      const queue = await xrpc(first.server, 'dev.knotless.getQueue', { params: { repo: first.repos[0]?.uri ?? '' } })
      const { success, data: shown } = lander.safeParse(queue)
      return success && shown.lander.running && shown.lander.executor === 'host' && shown.lander.depth === 1
    },
    { timeout: 20_000, what: 'the runner to be seen on the server' },
  )

  const second = start('--data', data, '--port', '0')
  assert.equal(await second.ended, 1)
  assert.match(second.err(), /^Another demo runs on .*--data\.\n$/)

  const document = z.object({ id: z.string() }).parse(await (await fetch(`${first.server}/.well-known/did.json`)).json())
  assert.equal(document.id, first.serverDid)

  demo.child.kill('SIGKILL')
  await demo.ended
  await allGone(first)
  assert.ok(!existsSync(readyFile), 'the ready file is there only while everything answers')
})

test('a second start finds everything as it was, at the same addresses; a runner that ends is said; when the server dies the demo exits 1', async () => {
  const demo = start('--data', data, '--port', '0', '--ready-file', readyFile, '--executor', 'host')
  assert.deepEqual(await readyDemo(demo, readyFile), first)
  const [main = 0] = descendants(demo.child.pid ?? 0)
  const [server = 0, ...others] = descendants(main)
  const runner = others.find(pid => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('\0runner\0')) ?? 0
  process.kill(runner, 'SIGKILL')
  await until(() => demo.err().includes('everything else goes on'), { what: 'the demo to say that its runner ended' })
  assert.match(demo.err(), /The runner ended \(SIGKILL\); its log is .*runner\.log/)
  assert.equal((await fetch(`${first.server}/healthz`)).status, 200)
  process.kill(server, 'SIGKILL')
  assert.equal(await demo.ended, 1)
  assert.match(demo.err(), /The server ended \(SIGKILL\); its log is .*server\.log/)
  await allGone(first)
})

test('--reset begins afresh, --empty without repositories; SIGTERM stops it with exit code 0', async () => {
  const kept = join(data, 'not-ours.txt')
  writeFileSync(kept, 'something of somebody')
  const demo = start('--data', data, '--port', '0', '--reset', '--empty', '--ready-file', readyFile, '--batch', '4', '--no-delegation')
  const file = await readyDemo(demo, readyFile)
  assert.notEqual(file.accounts.alice.did, first.accounts.alice.did)
  assert.deepEqual(file.repos, [])
  // The file is there before the words.
  await until(() => demo.out().includes('Ctrl-C stops everything'), { what: 'the demo to say all' })
  assert.match(demo.out(), /Without a runner what is queued waits\./)
  assert.match(demo.out(), /Until alice\.test gives the delegation on [^ ]+\/settings, nothing can be queued/)
  demo.child.kill('SIGTERM')
  assert.equal(await demo.ended, 0)
  assert.equal(demo.err(), '')
  assert.ok(existsSync(kept), 'what the demo did not make is left alone')
  await allGone(file)
})

/** A port with free ones where the demo's other parts go. */
async function freeBlock(): Promise<number> {
  for (;;) {
    const port = await freePort()
    const all = await Promise.all([6, 7, 8].map(below => portIsFree(port - below)))
    if (all.every(Boolean)) return port
  }
}

test('a port in use gets one line that says which and what to do', async () => {
  const port = await freeBlock()
  for (const [below, name] of [
    [0, 'the server'],
    [6, 'Jetstream'],
  ] as const) {
    const taken = createServer()
    await new Promise<void>(resolve => taken.listen(port - below, '127.0.0.1', resolve))
    const demo = start('--data', join(dir, 'other'), '--port', String(port))
    const code = await demo.ended
    await new Promise(resolve => taken.close(resolve))
    assert.equal(code, 1)
    assert.match(demo.err(), new RegExp(`^port ${port - below} \\(${name}\\) is in use: .*--port 0.*\\n$`))
  }
})
