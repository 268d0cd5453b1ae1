/** The server killed with -9 in the middle of a git push and of a createCommit: started again, account, mirror, log and index agree. */
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { giveDelegation } from '../../src/devnet/give-delegation.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { freePort } from '../../src/devnet/ports.ts'
import { readRefs } from '../../src/git/packed-refs.ts'
import { readConfig } from '../../src/server/config.ts'
import { createServer } from '../../src/server/server.ts'
import { until } from '../support/until.ts'
import { type GatewayWorld, makePeople, type Planted, plantOn, post, tokenFor } from './gateway-world.ts'
import { git, gitOk } from './git-world.ts'

const root = resolve(import.meta.dirname, '../..')
const program = `import { runServe } from ${JSON.stringify(join(root, 'src/server/main.ts'))}; process.exitCode = await runServe(process.env)`
const put = 'com.atproto.repo.putRecord'

let network: Network
let people: GatewayWorld['people']
let dir: string
let env: Record<string, string>
let url: string
let aud: string
let child: ChildProcess

async function start(): Promise<void> {
  child = spawn(process.execPath, ['--input-type=module', '-e', program], { env: { PATH: process.env.PATH, ...env }, stdio: 'ignore' })
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
  dir = mkdtempSync(join(tmpdir(), 'knotless-crash-push-'))
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

/** A repository that is served, and a clone of it with one commit more. */
async function plant(name: string): Promise<{ repo: Planted; clone: string; made: string }> {
  const repo = await plantOn({ people, dir, indexed: async () => undefined }, name)
  const address = `${url}/alice.test/${name}.git`
  const served = async () => (await fetch(`${address}/info/refs?service=git-upload-pack`)).status === 200
  await until(served, { timeout: 60_000, what: `${name} to be served` })
  const clone = join(dir, `clone-${name}`)
  await gitOk(['clone', '-q', address, clone])
  await gitOk(['commit', '-q', '--allow-empty', '-m', 'More'], { cwd: clone })
  return { repo, clone, made: await gitOk(['rev-parse', 'HEAD'], { cwd: clone }) }
}

async function push({ repo, clone }: { repo: Planted; clone: string }) {
  const token = await tokenFor(people.bob, { aud, lxm: 'dev.knotless.gitPush' })
  return await git(['push', '-q', `${url.replace('//', `//bob:${token}@`)}/alice.test/${repo.name}.git`, 'HEAD:main'], { cwd: clone })
}

const planted: { repo: Planted; to: string; written: boolean }[] = []

for (const [at, { when, written }] of [
  { when: 'while its pack goes up', written: false },
  { when: 'when its write was sent and not made', written: false },
  { when: 'when its write was made and the answer lost', written: true },
].entries()) {
  test(`LND-11 GWY-15 a push is asked for again once the server, killed ${when}, is back: it is made once`, async () => {
    const one = await plant(`push-${at}`)
    const method = at === 0 ? 'com.atproto.repo.uploadBlob' : put
    const held = network.faults.add({ fault: 'stall', method, account: people.alice.did })
    if (written) network.faults.add({ fault: 'lose', method: put, account: people.alice.did })
    const unheard = push(one)
    await until(() => held.hits() > 0, { what: 'the step' })
    if (written) {
      const looking = network.faults.add({ fault: 'stall', method: 'com.atproto.repo.getRecord', account: people.alice.did })
      held.clear()
      await until(() => looking.hits() > 0, { what: 'the server to look whether it was made' })
    }
    await kill()
    network.faults.clear()
    assert.notEqual((await unheard).code, 0)
    assert.equal((await one.repo.refs()).get('main'), written ? one.made : one.repo.tip)
    await start()
    const again = await push(one)
    assert.equal(again.code, 0, again.err)
    assert.equal((await one.repo.refs()).get('main'), one.made)
    planted.push({ repo: one.repo, to: one.made, written })
  })
}

test('LND-11 a createCommit whose write was made and not heard of is there once, and asked again it says that the branch moved', async () => {
  const { repo } = await plant('made')
  const held = network.faults.add({ fault: 'stall', method: put, account: people.alice.did })
  network.faults.add({ fault: 'lose', method: put, account: people.alice.did })
  const input = { repo: repo.uri, branch: 'main', base: repo.tip, message: 'A', changes: [{ path: 'a.txt', content: 'a' }] }
  const lxm = 'dev.knotless.createCommit'
  const commit = async () => post({ url }, lxm, input, await tokenFor(people.bob, { aud, lxm }))
  const unheard = commit().catch(() => undefined)
  await until(() => held.hits() > 0, { what: 'the write to be sent' })
  const looking = network.faults.add({ fault: 'stall', method: 'com.atproto.repo.getRecord', account: people.alice.did })
  held.clear()
  await until(() => looking.hits() > 0, { what: 'the server to look whether it was made' })
  await kill()
  network.faults.clear()
  assert.equal(await unheard, undefined)
  const to = (await repo.refs()).get('main') ?? ''
  assert.notEqual(to, repo.tip)
  await start()
  assert.equal((await commit()).body.error, 'BranchMoved')
  assert.equal((await repo.refs()).get('main'), to)
  planted.push({ repo, to, written: true })
})

test('GWY-6 after that the log says of each write what became of it, mirrors stand at the branches, nothing is left over, and the index agrees', async () => {
  await kill()
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'src/cli/main.ts'), 'index', 'compare'], {
    env: { PATH: process.env.PATH, ...env },
  }).catch((error: { stdout?: string; stderr?: string }) => assert.fail(`${error.stdout}${error.stderr}`))
  assert.notEqual(stdout, '')
  const read = readConfig({ ...env, PORT: String(await freePort()) })
  assert.ok(read.ok)
  const server = await createServer(read.config, { now: () => Date.now() + 120_000 })
  try {
    await server.start()
    const { audit, mirrors, indexer } = server.context
    await until(() => audit.open(10).length === 0, { timeout: 60_000, what: 'the log to be settled' })
    await indexer.settled()
    const lines = audit.list(people.alice.did, { limit: 100 })
    for (const { repo, to } of planted) {
      const about = lines.filter(line => line.repo === repo.uri)
      assert.deepEqual(
        about.filter(line => line.outcome === 'written').map(line => line.to),
        [to],
      )
      assert.ok(about.every(line => line.outcome === 'written' || line.outcome === 'refused'))
      const mirror = await mirrors.of(repo.uri)
      await mirror.exclusive(async () => assert.deepEqual(await readRefs(mirror), new Map([['refs/heads/main', to]])))
      const left = readdirSync(join(mirror.dir, 'quarantine')).filter(name => !name.startsWith(`${process.pid}-`))
      assert.deepEqual(left, [], repo.name)
    }
  } finally {
    await server.stop()
  }
})
