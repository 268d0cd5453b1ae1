/** The server killed with -9 at each step of a landing in turn, and started again: branch, records, mirror and log agree, and nothing landed twice. */
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { freePort } from '../../src/devnet/ports.ts'
import { readRefs } from '../../src/git/packed-refs.ts'
import { readConfig } from '../../src/server/config.ts'
import { createServer } from '../../src/server/server.ts'
import { git } from '../git/support.ts'
import { until } from '../support/until.ts'
import { type Crashing, startCrashing } from './crashing.ts'
import { type Answer, type OpenedPull, type Planted, plantOn, post, tokenFor } from './gateway-world.ts'

const method = 'dev.knotless.mergePull'

let world: Crashing
before(async () => {
  world = await startCrashing()
})
afterEach(() => world.recover())
after(() => world?.end())

const known = (uri: string) => fetch(`${world.url}/xrpc/dev.knotless.getMergeStatus?${new URLSearchParams({ pull: uri })}`)

async function plant(name: string): Promise<{ repo: Planted; pull: OpenedPull }> {
  // A repository is known by its pull, which waits for it.
  const indexed = async (uri: string) => {
    if (!uri.includes('dev.knotless.pull')) return
    await until(async () => (await known(uri)).ok, { timeout: 60_000, what: `${uri} to be known` })
  }
  const repo = await plantOn({ people: world.people, dir: world.dir, indexed }, name)
  return { repo, pull: await repo.openPull({ branch: 'topic', files: { 'a.txt': 'a\n' }, body: 'Whole.' }) }
}

async function merge(pull: OpenedPull): Promise<Answer> {
  const token = await tokenFor(world.people.bob, { aud: world.did, lxm: method })
  return await post(world, method, { pull: pull.uri, head: pull.head }, token)
}

/** Merges until the server is killed; what it would have answered nobody hears. */
function mergeUnheard(pull: OpenedPull): void {
  merge(pull).catch(() => undefined)
}

const ofAlice = () => ({ account: world.people.alice.did })

/** Each leads the server to a step of the landing and leaves it there. */
const steps: readonly { name: string; written: boolean; reach(pull: OpenedPull, repo: Planted): Promise<void> }[] = [
  {
    name: 'while it reads',
    written: false,
    async reach(pull) {
      const fault = world.network.faults.add({ fault: 'stall', method: 'com.atproto.sync.getLatestCommit', ...ofAlice() })
      mergeUnheard(pull)
      await until(() => fault.hits() > 0)
    },
  },
  {
    name: 'while the pack goes up',
    written: false,
    async reach(pull) {
      const fault = world.network.faults.add({ fault: 'stall', method: 'com.atproto.repo.uploadBlob' })
      mergeUnheard(pull)
      await until(() => fault.hits() > 0)
    },
  },
  {
    name: 'when the write was sent and not made',
    written: false,
    async reach(pull) {
      const fault = world.network.faults.add({ fault: 'stall', method: 'com.atproto.repo.applyWrites', ...ofAlice() })
      mergeUnheard(pull)
      await until(() => fault.hits() > 0)
    },
  },
  {
    name: 'when the write was made and its answer lost',
    written: true,
    reach: pull => world.loseAnswer('com.atproto.repo.applyWrites', () => mergeUnheard(pull)),
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
    await world.kill()
    world.network.faults.clear()
    assert.equal((await repo.states(pull.uri)).length, step.written ? 1 : 0)
    assert.equal((await repo.refs()).get('main') !== repo.tip, step.written)
    await world.start()

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
  await world.kill()
  const read = readConfig({ ...world.env, PORT: String(await freePort()) })
  assert.ok(read.ok)
  // Later, when nothing that an earlier run sent can be on its way any more.
  const server = await createServer(read.config, { now: () => Date.now() + 120_000 })
  try {
    await server.start()
    const { audit, mirrors, indexer } = server.context
    await until(() => audit.open(10).length === 0, { timeout: 60_000, what: 'the log to be settled' })
    await indexer.settled()
    const lines = audit.list(world.people.alice.did, { limit: 100 })
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
