/** The server killed with -9 at each step of a landing in turn, and started again: branch, records, mirror and log agree, and nothing landed twice. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { giveDelegation } from '../../src/devnet/give-delegation.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { freePort } from '../../src/devnet/ports.ts'
import { readRefs } from '../../src/git/packed-refs.ts'
import { readConfig } from '../../src/server/config.ts'
import { createServer } from '../../src/server/server.ts'
import { git } from '../git/support.ts'
import { until } from '../support/until.ts'
import { type Answer, type GatewayWorld, makePeople, type OpenedPull, type Planted, plantOn, post, tokenFor } from './gateway-world.ts'

const main = resolve(import.meta.dirname, '../../src/server/main.ts')
const script = `import { runServe } from ${JSON.stringify(main)}; process.exitCode = await runServe(process.env)`
const method = 'dev.knotless.mergePull'

let network: Network
let people: GatewayWorld['people']
let dir: string
let env: Record<string, string>
let url: string
let aud: string
let child: ChildProcess

async function start(): Promise<void> {
  child = spawn(process.execPath, ['--input-type=module', '-e', script], { env: { PATH: process.env.PATH, ...env }, stdio: 'ignore' })
  const ready = () =>
    fetch(`${url}/healthz`).then(
      answer => answer.ok,
      () => false,
    )
  await until(ready, { timeout: 60_000, what: 'the server to be ready' })
}

async function kill(): Promise<void> {
  const gone = new Promise(done => child.once('exit', done))
  child.kill('SIGKILL')
  await gone
}

before(async () => {
  dir = mkdtempSync(join(tmpdir(), 'knotless-crash-'))
  network = await startNetwork()
  people = await makePeople(network)
  const port = String(await freePort())
  url = `http://127.0.0.1:${port}`
  env = {
    KNOTLESS_PUBLIC_URL: url,
    PORT: port,
    KNOTLESS_DB: join(dir, 'knotless.sqlite'),
    KNOTLESS_DATA: dir,
    KNOTLESS_JETSTREAM: network.jetstreamUrl,
    KNOTLESS_PLC: network.plcUrl,
    KNOTLESS_HANDLE_RESOLVER: network.pdsUrl,
    KNOTLESS_ALLOW_LOOPBACK: '1',
    KNOTLESS_SECRET: 'a secret of this test, of 32 letters and more',
    KNOTLESS_RATE_LIMIT: '100000',
    KNOTLESS_LOG: 'silent',
  }
  const read = readConfig(env)
  assert.ok(read.ok)
  aud = read.config.did
  await start()
  await giveDelegation(url, people.alice)
})
after(async () => {
  child?.kill('SIGKILL')
  await network?.stop()
  rmSync(dir, { recursive: true, force: true, maxRetries: 3 })
})

const known = (uri: string) => fetch(`${url}/xrpc/dev.knotless.getMergeStatus?${new URLSearchParams({ pull: uri })}`)

async function plant(name: string): Promise<{ repo: Planted; pull: OpenedPull }> {
  // A repository is known by its pull, which waits for it.
  const indexed = async (uri: string) => {
    if (!uri.includes('dev.knotless.pull')) return
    await until(async () => (await known(uri)).ok, { timeout: 60_000, what: `${uri} to be known` })
  }
  const repo = await plantOn({ people, dir, indexed }, name)
  return { repo, pull: await repo.openPull({ branch: 'topic', files: { 'a.txt': 'a\n' }, body: 'Whole.' }) }
}

async function merge(pull: OpenedPull): Promise<Answer> {
  return await post({ url }, method, { pull: pull.uri, head: pull.head }, await tokenFor(people.bob, { aud, lxm: method }))
}

/** Merges until the server is killed; what it would have answered nobody hears. */
function mergeUnheard(pull: OpenedPull): void {
  merge(pull).catch(() => undefined)
}

const ofAlice = () => ({ account: people.alice.did })

/** Each leads the server to a step of the landing and leaves it there. */
const steps: readonly { name: string; written: boolean; reach(pull: OpenedPull, repo: Planted): Promise<void> }[] = [
  {
    name: 'while it reads',
    written: false,
    async reach(pull) {
      const fault = network.faults.add({ fault: 'stall', method: 'com.atproto.sync.getLatestCommit', ...ofAlice() })
      mergeUnheard(pull)
      await until(() => fault.hits() > 0)
    },
  },
  {
    name: 'while the pack goes up',
    written: false,
    async reach(pull) {
      const fault = network.faults.add({ fault: 'stall', method: 'com.atproto.repo.uploadBlob' })
      mergeUnheard(pull)
      await until(() => fault.hits() > 0)
    },
  },
  {
    name: 'when the write was sent and not made',
    written: false,
    async reach(pull) {
      const fault = network.faults.add({ fault: 'stall', method: 'com.atproto.repo.applyWrites', ...ofAlice() })
      mergeUnheard(pull)
      await until(() => fault.hits() > 0)
    },
  },
  {
    name: 'when the write was made and its answer lost',
    written: true,
    async reach(pull, repo) {
      const held = network.faults.add({ fault: 'stall', method: 'com.atproto.repo.applyWrites', ...ofAlice() })
      network.faults.add({ fault: 'lose', method: 'com.atproto.repo.applyWrites', ...ofAlice() })
      mergeUnheard(pull)
      await until(() => held.hits() > 0)
      const looking = network.faults.add({ fault: 'stall', method: 'com.atproto.repo.getRecord', ...ofAlice() })
      held.clear()
      await until(() => looking.hits() > 0, { what: 'the server to look whether it was made' })
      assert.ok(repo.uri)
    },
  },
  {
    name: 'as soon as the branch has moved',
    written: true,
    async reach(pull, repo) {
      mergeUnheard(pull)
      await until(async () => (await repo.refs()).get('main') !== repo.tip, { what: 'the branch to move' })
    },
  },
]

const landed: { repo: Planted; pull: OpenedPull; commit: string }[] = []

for (const step of steps) {
  test(`LND-11 GWY-15 killed ${step.name}: started again, the pull has landed once or not at all, and asking again gives one landing`, async () => {
    const { repo, pull } = await plant(`step-${landed.length}`)
    await step.reach(pull, repo)
    await kill()
    network.faults.clear()
    assert.equal((await repo.states(pull.uri)).length, step.written ? 1 : 0)
    assert.equal((await repo.refs()).get('main') !== repo.tip, step.written)
    await start()

    const answer = await merge(pull)
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    const refs = await repo.refs()
    assert.deepEqual([...refs.keys()], ['main'], 'the spent branch is gone with it')
    assert.equal(refs.get('main'), answer.body.commit)
    const [state, ...more] = await repo.states(pull.uri)
    assert.equal(more.length, 0)
    assert.equal(state?.uri, answer.body.uri)
    assert.equal(state?.value.commit, answer.body.commit)
    assert.deepEqual(await merge(pull), answer)
    landed.push({ repo, pull, commit: String(answer.body.commit) })
  })
}

test('GWY-6 after all that the log says of every write what became of it, and the mirrors are at the branches', async () => {
  await kill()
  const read = readConfig({ ...env, PORT: String(await freePort()) })
  assert.ok(read.ok)
  // Later, when nothing that an earlier run sent can be on its way any more.
  const server = await createServer(read.config, { now: () => Date.now() + 120_000 })
  try {
    await server.start()
    const { audit, mirrors, indexer } = server.context
    await until(() => audit.open(10).length === 0, { timeout: 60_000, what: 'the log to be settled' })
    await indexer.settled()
    const lines = audit.list(people.alice.did, { limit: 100 })
    for (const { repo, pull, commit } of landed) {
      const about = lines.filter(line => line.repo === repo.uri && line.ref === 'refs/heads/main')
      assert.deepEqual(
        about.filter(line => line.outcome === 'written').map(line => line.to),
        [commit],
      )
      for (const line of about) assert.ok(line.outcome === 'written' || line.outcome === 'refused', `${line.outcome}: ${line.reason}`)
      const mirror = await mirrors.of(repo.uri)
      assert.deepEqual(await readRefs(mirror), new Map([['refs/heads/main', commit]]))
      assert.equal(git(mirror.dir, ['rev-list', '--count', commit]), '2', `${pull.uri} landed once`)
    }
    const sent = lines.filter(line => line.outcome === 'refused')
    assert.ok(sent.length > 0 && sent.every(line => /stopped in the middle/.test(line.reason)), 'what was sent and not made is said to be')
  } finally {
    await server.stop()
  }
})
