/**
 * Runner and server killed with -9 at random moments while pulls land, and started again: nothing is lost, nothing lands twice, no check is left running,
 * the repository is whole, and the branch was green at every tip. `npm run kills -- --landings 200 --seed N` for more than the ten of every run.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { giveDelegation } from '../../src/devnet/give-delegation.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { freePort } from '../../src/devnet/ports.ts'
import { git } from '../git/support.ts'
import { baseFiles, type GatewayWorld, makePeople, type OpenedPull, type Planted, plantOn } from '../server/gateway-world.ts'
import { until } from '../support/until.ts'
import { workflow } from './runner-world.ts'

const landings = Number(process.env.KNOTLESS_LANDINGS ?? 10)
const seed = Number(process.env.KNOTLESS_SEED ?? Math.floor(Math.random() * 2 ** 31))
const program = resolve(import.meta.dirname, '../../src/cli/main.ts')
/** Pulls that are queued together, and kills while they land at most. */
const WAVE = 5
const MOST_KILLS = 6

let network: Network
let people: GatewayWorld['people']
let dir: string
let url: string
const children = new Map<'server' | 'runner', ChildProcess>()

/** A small generator of numbers from 0 to 1, the same for the same seed. */
function numbers(from: number): () => number {
  let state = from >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

let port = 0

function start(what: 'server' | 'runner', repo?: Planted): void {
  const common = {
    PATH: process.env.PATH,
    KNOTLESS_JETSTREAM: network.jetstreamUrl,
    KNOTLESS_PLC: network.plcUrl,
    KNOTLESS_HANDLE_RESOLVER: network.pdsUrl,
    KNOTLESS_ALLOW_LOOPBACK: '1',
  }
  const server = {
    KNOTLESS_PUBLIC_URL: url,
    PORT: String(port),
    KNOTLESS_DB: join(dir, 'server', 'knotless.sqlite'),
    KNOTLESS_DATA: join(dir, 'server'),
    KNOTLESS_SECRET: 'a secret of this test, of 32 letters and more',
    KNOTLESS_RATE_LIMIT: '100000',
    KNOTLESS_LOG: 'silent',
  }
  const runner = {
    KNOTLESS_HANDLE: people.rigby.handle,
    KNOTLESS_PASSWORD: people.rigby.password,
    KNOTLESS_APPVIEW: url,
    KNOTLESS_DATA: join(dir, 'runner'),
  }
  const flags = [
    '--repo',
    `${people.alice.handle}/${repo?.name}`,
    '--queue',
    '--executor',
    'host',
    '--i-trust-every-author',
    '--batch',
    '3',
    '--notice',
    '2s',
    '--sweep',
    '10s',
  ]
  const args = what === 'server' ? [program, 'serve'] : [program, 'runner', ...flags]
  const env = { ...common, ...(what === 'server' ? server : runner) }
  children.set(what, spawn(process.execPath, args, { env, stdio: 'ignore' }))
}

async function kill(what: 'server' | 'runner'): Promise<void> {
  const child = children.get(what)
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise(done => child.once('exit', done))
  child.kill('SIGKILL')
  await gone
}

async function serverReady(): Promise<void> {
  const ready = () =>
    fetch(`${url}/healthz`).then(
      answer => answer.ok,
      () => false,
    )
  await until(ready, { timeout: 60_000, what: 'the server to be ready' })
}

before(async () => {
  dir = mkdtempSync(join(tmpdir(), 'knotless-kills-'))
  for (const name of ['gates', 'server']) mkdirSync(join(dir, name))
  network = await startNetwork()
  people = await makePeople(network)
  port = await freePort()
  url = `http://127.0.0.1:${port}`
  start('server')
  await serverReady()
  await giveDelegation(url, people.alice)
})
after(async () => {
  for (const what of ['runner', 'server'] as const) await kill(what)
  await network?.stop()
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
})

const known = (uri: string) => fetch(`${url}/xrpc/dev.knotless.getMergeStatus?${new URLSearchParams({ pull: uri })}`)

async function plant(): Promise<Planted> {
  const indexed = async (uri: string) => {
    if (!uri.includes('dev.knotless.pull')) return
    const isKnown = () =>
      known(uri).then(
        answer => answer.ok,
        () => false,
      )
    await until(isKnown, { timeout: 60_000, what: `${uri} to be known` })
  }
  const files = { ...baseFiles, '.knotless/workflows/test.yml': workflow('test', join(dir, 'gates')) }
  return await plantOn({ people, dir, indexed }, 'kept', { record: { runners: [{ did: people.rigby.did }] }, files })
}

/** How each pull ended, by the records of the runner's account. */
async function outcomes(pulls: readonly OpenedPull[]): Promise<Map<string, { merged: string[]; ejected: number }>> {
  const states = await people.rigby.list('dev.knotless.state')
  const queue = await people.rigby.list('dev.knotless.queue')
  return new Map(
    pulls.map(({ uri }) => {
      const merged = states
        .filter(({ value }) => value.subject === uri && value.state === 'merged')
        .map(({ value }) => String(value.commit))
      return [uri, { merged, ejected: queue.filter(({ value }) => value.subject === uri && value.state === 'ejected').length }]
    }),
  )
}

test(`LND-8 LND-11 MOV-6 after kill -9 of runner and server at random over ${landings} landings nothing is lost and nothing landed twice (seed ${seed})`, async () => {
  const next = numbers(seed)
  const repo = await plant()
  start('runner', repo)
  const pulls: OpenedPull[] = []
  const bad = new Set<string>()
  let kills = 0
  while (pulls.length < landings) {
    const wave: OpenedPull[] = []
    for (let n = 0; n < WAVE; n++) {
      const at = pulls.length + n
      // One in ten fails alone.
      const fails = at % 10 === 7
      const pull = await repo.openPull({ branch: `p${at}`, files: { [`p${at}.txt`]: '', ...(fails ? { 'fails-test': `${at}` } : {}) } })
      if (fails) bad.add(pull.uri)
      wave.push(pull)
    }
    for (const pull of wave) {
      const record = {
        repo: repo.uri,
        subject: pull.uri,
        state: 'queued',
        head: pull.head,
        branch: 'main',
        createdAt: new Date().toISOString(),
      }
      await people.bob.create('dev.knotless.queue', record)
    }
    pulls.push(...wave)
    const settled = async () => [...(await outcomes(wave)).values()].every(({ merged, ejected }) => merged.length + ejected > 0)
    for (let round = 0; ; round++) {
      // So many records more, then something dies.
      const moment = round < MOST_KILLS ? network.tip() + 1 + Math.floor(next() * 25) : Number.POSITIVE_INFINITY
      const how = await until(async () => ((await settled()) ? 'settled' : network.tip() >= moment ? 'moment' : false), {
        timeout: 120_000,
        what: `the wave to go on (seed ${seed}, after ${kills} kills)`,
      })
      if (how === 'settled') break
      const what = next() < 0.6 ? 'runner' : 'server'
      await kill(what)
      kills++
      start(what, repo)
      if (what === 'server') await serverReady()
    }
  }
  assert.ok(kills > 0, 'nothing was killed')

  const found = await outcomes(pulls)
  for (const [uri, { merged, ejected }] of found) {
    if (bad.has(uri)) assert.deepEqual({ merged, ejected }, { merged: [], ejected: 1 }, uri)
    else assert.deepEqual({ merged: merged.length, ejected }, { merged: 1, ejected: 0 }, uri)
  }
  const tip = (await repo.refs()).get('main') ?? ''
  const mirror = join(dir, 'check.git')
  git(dir, ['init', '--quiet', '--bare', mirror])
  const address = `${url}/${people.alice.did}/${repo.name}.git`
  execFileSync('git', [`--git-dir=${mirror}`, 'fetch', '--quiet', address, '+refs/heads/*:refs/heads/*'], { stdio: 'ignore' })
  assert.equal(git(mirror, ['rev-parse', 'main']), tip)
  git(mirror, ['fsck', '--strict', '--full'])
  const line = git(mirror, ['rev-list', '--first-parent', `${repo.tip}..main`]).split('\n')
  const landed = [...found.values()].flatMap(({ merged }) => merged)
  assert.deepEqual(new Set(line), new Set(landed), 'every commit on the branch is one pull, and each pull is there once')
  assert.equal(line.length, landed.length)
  for (const id of line) assert.equal(git(mirror, ['ls-tree', '--name-only', id, 'fails-test']), '', `the branch was red at ${id}`)
  const going = async () => {
    const checks = await people.rigby.list('dev.knotless.check')
    return checks.filter(({ value }) => value.status === 'queued' || value.status === 'running')
  }
  // The push that landed last has its own runs.
  await until(async () => (await going()).length === 0, { timeout: 60_000, what: 'every check to have ended' })
})
