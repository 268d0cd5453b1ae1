/** `knotless runner` as a program: one pass, a dry run, its addresses, its signals and what it says to wrong usage. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { z } from 'zod'
import { freePort } from '../../src/devnet/ports.ts'
import type { OpenedPull, Planted } from '../server/gateway-world.ts'
import { until } from '../support/until.ts'
import { openParts, queue, type RunnerWorld, startRunnerWorld } from './runner-world.ts'

const program = resolve(import.meta.dirname, '../../src/cli/main.ts')
const line = z.looseObject({ event: z.string() })

let world: RunnerWorld
let repo: Planted
let pull: OpenedPull
before(async () => {
  world = await startRunnerWorld()
  repo = await world.orchard('programs')
  pull = await repo.openPull({ branch: 'a', files: { 'a.txt': 'a\n' } })
  await queue(world, repo, pull)
})
after(() => world?.end())

interface Ended {
  code: number | null
  out: string
  err: string
}

function start(flags: readonly string[], env: Record<string, string | undefined> = {}): { child: ChildProcess; ended: Promise<Ended> } {
  const args = [program, 'runner', '--repo', `${world.people.alice.handle}/${repo.name}`, ...flags]
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, ...world.env(), KNOTLESS_DATA: join(world.dir, 'program'), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]).then(([out, err]) => ({
    code: child.exitCode,
    out,
    err,
  }))
  return { child, ended }
}

const host = ['--queue', '--executor', 'host', '--i-trust-every-author']

function events(out: string): string[] {
  return out
    .split('\n')
    .filter(row => row.startsWith('{'))
    .map(row => line.parse(JSON.parse(row)).event)
}

test('wrong usage ends with 2 and one line, a folder in use with 1', async () => {
  const bare = await start(host, { KNOTLESS_HANDLE: undefined }).ended
  assert.equal(bare.code, 2)
  assert.match(bare.err, /^KNOTLESS_HANDLE is missing: it wants [^\n]*\n$/)
  const wrong = await start(host, { KNOTLESS_PASSWORD: 'not it' }).ended
  assert.equal(wrong.code, 1)
  assert.match(wrong.err, /^the runner could not log in: [^\n]*\n$/)
  assert.ok(!wrong.err.includes('not it'))
  const nobody = await start(host, { KNOTLESS_HANDLE: 'nobody.test' }).ended
  assert.equal(nobody.code, 1)
  assert.match(nobody.err, /^KNOTLESS_HANDLE: there is no such account/)
  const help = await start(['--help']).ended
  assert.equal(help.code, 0)
  assert.match(help.out, /^Usage: knotless runner /)
})

test('WHO-5 without a container engine it does not start, and says where it looked', async () => {
  const refused = await start(['--queue', '--socket', '/nowhere/engine.sock']).ended
  assert.equal(refused.code, 1)
  assert.match(refused.err, /no container engine answers \(looked at \/nowhere\/engine\.sock\)/)
})

test('a dry run says what a pass would do, and writes nothing', async () => {
  await world.network.settled()
  const before = world.network.tip()
  const { code, out } = await start([...host, '--dry-run']).ended
  assert.equal(code, 0, out)
  assert.ok(events(out).includes('would check'), out)
  await world.network.settled()
  assert.equal(world.network.tip(), before, 'something was written')
})

test('with --once a pass that fails ends with 1', async () => {
  const fault = world.network.faults.add({ fault: 'refuse', method: 'com.atproto.repo.getRecord', account: world.people.alice.did })
  try {
    const { code, out } = await start([...host, '--once']).ended
    assert.equal(code, 1, out)
    assert.ok(fault.hits() > 0)
    assert.ok(events(out).includes('a pass failed'), out)
  } finally {
    world.network.faults.clear()
  }
})

test('MOV-5 with --once one pass is made, what it began lands, and it ends with 0', async () => {
  const { code, out, err } = await start([...host, '--once', '--ready-file', '/nowhere/ready']).ended
  assert.deepEqual([code, err], [0, ''], 'a file that cannot be written ends nothing')
  const said = events(out)
  for (const event of ['built', 'checking', 'landed']) assert.ok(said.includes(event), out)
  assert.notEqual((await repo.refs()).get('main'), repo.tip)
})

test('a running one answers /healthz and /metrics, holds its folder, and stops in order on SIGTERM', async () => {
  const port = await freePort()
  const { child, ended } = start([...host, '--listen', String(port), '--log', 'json'])
  const at = `http://127.0.0.1:${port}`
  await until(
    () =>
      fetch(`${at}/healthz`).then(
        answer => answer.ok,
        () => false,
      ),
    { what: 'the runner to be ready' },
  )
  const metrics = await (await fetch(`${at}/metrics`)).text()
  assert.match(metrics, /knotless_runner_passes_total\{outcome="made"\} [1-9]/)
  assert.equal((await fetch(`${at}/secrets`)).status, 404)
  assert.equal((await fetch(`${at}/healthz`, { method: 'POST' })).status, 405)
  const second = await start(host).ended
  assert.equal(second.code, 1)
  assert.match(second.err, /another runner holds that folder/)
  child.kill('SIGTERM')
  assert.equal((await ended).code, 0)
  const landers = await world.people.rigby.list('dev.knotless.lander')
  assert.equal(typeof landers.find(({ value }) => value.repo === repo.uri)?.value.stoppedAt, 'string')
})

test('MOV-5 MOV-6 a second signal ends what runs at once, leaves no process and no folder of it, and its check says that it has no verdict', async () => {
  const { rigby } = world.people
  const came = world.gates.came('test')
  world.gates.hold('test')
  await queue(world, repo, await repo.openPull({ branch: 'b', files: { 'b.txt': 'b\n' } }))
  const { child, ended } = start([...host, '--log', 'json'])
  await until(() => world.gates.came('test') > came, { timeout: 30_000, what: 'the run to begin' })
  child.kill('SIGTERM')
  const again = Date.now() + 1_200
  await until(() => Date.now() > again)
  child.kill('SIGTERM')
  const { code, out, err } = await ended
  assert.deepEqual([code, err], [0, ''], out)
  assert.deepEqual(readdirSync(join(world.dir, 'program', 'runs')), [])
  const checks = (await rigby.list('dev.knotless.check')).filter(({ value }) => value.repo === repo.uri && value.finishedAt === undefined)
  assert.deepEqual(checks, [])
  const last = (await rigby.list('dev.knotless.check')).filter(({ value }) => value.repo === repo.uri && value.verdict === 'restart')
  assert.equal(last.length, 1)
  world.gates.release('test')
})

test('CHK-13 STO-2 an upload is waited for as long as its bytes may take, not as long as an answer', async () => {
  const opened = await openParts(world, [repo])
  const slow = world.network.faults.add({
    fault: 'stall',
    method: 'com.atproto.repo.uploadBlob',
    account: world.people.rigby.did,
    ms: 5_500,
  })
  try {
    const done = await opened.parts.ctx.writer.uploadBlob(Buffer.alloc(2 ** 20, 'x'), 'application/octet-stream')
    assert.ok(done.ok, JSON.stringify(done))
    assert.equal(slow.hits(), 1)
  } finally {
    slow.clear()
    await opened.close()
  }
})
