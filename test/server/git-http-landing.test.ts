import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { DevAccount } from '../../src/devnet/account.ts'
import { readCommits } from '../../src/git/commit-objects.ts'
import { squashCommit } from '../../src/git/squash.ts'
import { readRefusedLine } from '../../src/queue/words/gateway.ts'
import { git as gitIn } from '../git/support.ts'
import { auditOf, type GatewayWorld, type OpenedPull, type Planted, startGatewayWorld } from './gateway-world.ts'
import { addressOf, tokenFor } from './git-push-world.ts'
import { git, type Ran } from './git-world.ts'

let world: GatewayWorld
before(async () => {
  world = await startGatewayWorld()
})
after(() => world?.end())

/** The squash of a pull as its lander builds it. */
async function squash(repo: Planted, pull: OpenedPull, parent: string): Promise<string> {
  const tree = gitIn(repo.gitDir, ['merge-tree', '--write-tree', parent, pull.head])
  const [head] = await readCommits({ dir: repo.gitDir }, [pull.head])
  assert.ok(head)
  const text = { title: 'A change', branch: pull.branch, pull: pull.uri }
  const bytes = squashCommit({ ...text, tree, parent, head, committer: world.people.rigby.did, time: Math.floor(Date.now() / 1000) })
  return gitIn(repo.gitDir, ['hash-object', '-t', 'commit', '-w', '--stdin'], bytes)
}

async function land(repo: Planted, by: DevAccount, ...refs: string[]): Promise<Ran> {
  const url = addressOf(world, repo.name, { name: 'x', password: await tokenFor(world, by) })
  return git([`--git-dir=${repo.gitDir}`, '-c', 'http.userAgent=knotless/0', 'push', '--atomic', url, ...refs])
}

/** What the lines for programs say. */
function refusedIn(err: string) {
  return err.split('\n').flatMap(line => readRefusedLine(line.replace(/^remote: /, '')) ?? [])
}

test('GWY-3 GWY-4 GWY-8 a named runner lands a queued pull by git push, and of anything else git prints what is wrong with it', async () => {
  const { bob, rigby, alice } = world.people
  const record = { runners: [{ did: rigby.did }], protections: [{ branch: 'main', queue: true }] }
  const repo = await world.plant('landing', { record })
  const pull = await repo.openPull({ branch: 'a', files: { 'a.txt': 'a\n' } })
  const tip = await squash(repo, pull, repo.tip)

  const early = await land(repo, rigby, `${tip}:refs/heads/main`)
  assert.match(early.err, /! \[remote rejected\] [0-9a-f]+ -> main \(Not landed: Change a is not queued\)/)
  assert.match(early.err, /^remote: main: Nothing is lost; the queue builds again without it\. *$/m)
  // GWY-8: by code, so that the lander knows what to do about it.
  assert.deepEqual(refusedIn(early.err), [{ code: 'not-queued', ref: 'refs/heads/main', pull: pull.uri, git: undefined }])

  const queued = {
    repo: repo.uri,
    subject: pull.uri,
    state: 'queued',
    head: pull.head,
    branch: 'main',
    createdAt: new Date().toISOString(),
  }
  await bob.create('dev.knotless.queue', queued)
  const bare = await land(repo, rigby, `${pull.head}:refs/heads/main`)
  assert.match(bare.err, /Not landed: the push is not a batch of queued pulls/)
  assert.deepEqual(refusedIn(bare.err), [{ code: 'not-a-batch', ref: 'refs/heads/main', pull: undefined, git: undefined }])
  assert.match((await land(repo, bob, `${tip}:refs/heads/main`)).err, /Not pushed: main takes pulls only through the queue/)
  const url = addressOf(world, repo.name, { name: 'x', password: await tokenFor(world, rigby) })
  const person = await git([`--git-dir=${repo.gitDir}`, 'push', url, `${pull.head}:refs/heads/main`])
  assert.match(person.err, /^remote: main: /m)
  assert.deepEqual(refusedIn(person.err), [])
  assert.equal((await repo.refs()).get('main'), repo.tip)

  const landed = await land(repo, rigby, `${tip}:refs/heads/main`, ':refs/heads/a')
  assert.equal(landed.code, 0, landed.err)
  assert.deepEqual(await repo.refs(), new Map([['main', tip]]))
  const written = auditOf(world.server, alice).filter(line => line.repo === repo.uri && line.outcome === 'written')
  assert.deepEqual(written.map(line => line.ref).sort(), ['refs/heads/a', 'refs/heads/main'])
})
