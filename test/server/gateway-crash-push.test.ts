/** The server killed with -9 in the middle of a git push and of a createCommit: started again, account, mirror, log and index agree. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { after, afterEach, before, test } from 'node:test'
import { promisify } from 'node:util'
import { freePort } from '../../src/devnet/ports.ts'
import { readRefs } from '../../src/git/packed-refs.ts'
import { readConfig } from '../../src/server/config.ts'
import { createServer } from '../../src/server/server.ts'
import { until } from '../support/until.ts'
import { type Crashing, startCrashing } from './crashing.ts'
import { type Planted, plantOn, post, tokenFor } from './gateway-world.ts'
import { git, gitOk } from './git-world.ts'

const cli = resolve(import.meta.dirname, '../../src/cli/main.ts')
const put = 'com.atproto.repo.putRecord'

let world: Crashing
before(async () => {
  world = await startCrashing()
})
afterEach(() => world.recover())
after(() => world?.end())

/** A repository that is served, and a clone of it with one commit more. */
async function plant(name: string): Promise<{ repo: Planted; clone: string; made: string }> {
  const repo = await plantOn({ people: world.people, dir: world.dir, indexed: async () => undefined }, name)
  const address = `${world.url}/alice.test/${name}.git`
  const served = async () => (await fetch(`${address}/info/refs?service=git-upload-pack`)).status === 200
  await until(served, { timeout: 60_000, what: `${name} to be served` })
  const clone = join(world.dir, `clone-${name}`)
  await gitOk(['clone', '-q', address, clone])
  await gitOk(['commit', '-q', '--allow-empty', '-m', 'More'], { cwd: clone })
  return { repo, clone, made: await gitOk(['rev-parse', 'HEAD'], { cwd: clone }) }
}

async function push({ repo, clone }: { repo: Planted; clone: string }) {
  const token = await tokenFor(world.people.bob, { aud: world.did, lxm: 'dev.knotless.gitPush' })
  return await git(['push', '-q', `${world.url.replace('//', `//bob:${token}@`)}/alice.test/${repo.name}.git`, 'HEAD:main'], { cwd: clone })
}

const planted: { repo: Planted; to: string; written: boolean }[] = []

for (const [at, { when, written }] of [
  { when: 'while its pack goes up', written: false },
  { when: 'when its write was sent and not made', written: false },
  { when: 'when its write was made and the answer lost', written: true },
].entries()) {
  test(`LND-11 GWY-15 a push is asked for again once the server, killed ${when}, is back: it is made once`, async () => {
    const one = await plant(`push-${at}`)
    let unheard = Promise.resolve({ code: 0, err: '' })
    const ask = () => {
      unheard = push(one)
    }
    if (written) await world.loseAnswer(put, ask)
    else {
      const method = at === 0 ? 'com.atproto.repo.uploadBlob' : put
      const held = world.network.faults.add({ fault: 'stall', method, account: world.people.alice.did })
      ask()
      await until(() => held.hits() > 0, { what: 'the step' })
    }
    await world.kill()
    world.network.faults.clear()
    assert.notEqual((await unheard).code, 0)
    assert.equal((await one.repo.refs()).get('main'), written ? one.made : one.repo.tip)
    await world.start()
    const again = await push(one)
    assert.equal(again.code, 0, again.err)
    assert.equal((await one.repo.refs()).get('main'), one.made)
    planted.push({ repo: one.repo, to: one.made, written })
  })
}

test('LND-11 a createCommit whose write was made and not heard of is there once, and asked again it says that the branch moved', async () => {
  const { repo } = await plant('made')
  const input = { repo: repo.uri, branch: 'main', base: repo.tip, message: 'A', changes: [{ path: 'a.txt', content: 'a' }] }
  const lxm = 'dev.knotless.createCommit'
  const commit = async () => post(world, lxm, input, await tokenFor(world.people.bob, { aud: world.did, lxm }))
  let unheard: Promise<unknown> = Promise.resolve()
  await world.loseAnswer(put, () => {
    unheard = commit().catch(() => undefined)
  })
  await world.kill()
  world.network.faults.clear()
  assert.equal(await unheard, undefined)
  const to = (await repo.refs()).get('main') ?? ''
  assert.notEqual(to, repo.tip)
  await world.start()
  assert.equal((await commit()).body.error, 'BranchMoved')
  assert.equal((await repo.refs()).get('main'), to)
  planted.push({ repo, to, written: true })
})

test('GWY-6 after that the log says of each write what became of it, mirrors stand at the branches, nothing is left over, and the index agrees', async () => {
  await world.kill()
  const { stdout } = await promisify(execFile)(process.execPath, [cli, 'index', 'compare'], {
    env: { PATH: process.env.PATH, ...world.env },
  }).catch((error: { stdout?: string; stderr?: string }) => assert.fail(`${error.stdout}${error.stderr}`))
  assert.notEqual(stdout, '')
  const read = readConfig({ ...world.env, PORT: String(await freePort()) })
  assert.ok(read.ok)
  const server = await createServer(read.config, { now: () => Date.now() + 120_000 })
  try {
    await server.start()
    const { audit, mirrors, indexer } = server.context
    await until(() => audit.open(10).length === 0, { timeout: 60_000, what: 'the log to be settled' })
    await indexer.settled()
    const lines = audit.list(world.people.alice.did, { limit: 100 })
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
