import assert from 'node:assert/strict'
import { after, before, type TestContext, test } from 'node:test'
import type { DevAccount } from '../../src/devnet/account.ts'
import { giveDelegation } from '../../src/devnet/give-delegation.ts'
import { tidAt } from '../../src/queue/tid.ts'
import { commit, git, newRepo } from '../git/support.ts'
import { until } from '../support/until.ts'
import { type Demo, startDemo } from './demo.ts'
import { tokenOn } from './visitor.ts'

let demo: Demo
let people: Demo['people']
let samples: Demo['samples']
let server: Demo['server']
const now = () => new Date().toISOString()

before(async () => {
  demo = await startDemo()
  ;({ people, samples, server } = demo)
  await giveDelegation(server.url, people.alice)
})
after(() => demo?.end())

function pathOf(uri: string, repo = 'alice.test/orchard'): string {
  const [, , author, , key] = uri.split('/')
  return `/${repo}/pulls/${author}/${key}`
}

/** Clicks Add on a pull's page, without script. Gives the status and what the box then says. */
async function add(account: DevAccount, uri: string, repo?: string): Promise<{ status: number; says: string }> {
  const visitor = await demo.as(account)
  const path = pathOf(uri, repo)
  const page = await until(async () => {
    const answer = await visitor.get(`${server.url}${path}`)
    return answer.status === 200 && answer
  })
  const answer = await visitor.post(`${server.url}${path}/queue`, { _csrf: tokenOn(page.text) })
  const box = /<section class="box"[\s\S]*?<\/section>/.exec(answer.text)?.[0] ?? ''
  return { status: answer.status, says: box.replace(/<[^>]+>/g, '').replace(/\s+/g, ' ') }
}

async function openPull(by: DevAccount, repo: string, head: { repo: string; branch: string }): Promise<string> {
  const fields = { repo, branch: 'main', head, title: 'From elsewhere', createdAt: now() }
  return (await by.create('dev.knotless.pull', fields, demo.key())).uri
}

async function strangeFork(t: TestContext, name: string): Promise<string> {
  const dir = newRepo(t)
  commit(dir, 'main', { 'strange.txt': `${name}\n` })
  return demo.push(people.mallory, name, dir, ['main'])
}

test('ADM-5 adding a pull without common history says so, and blames no server', async t => {
  const repo = await strangeFork(t, 'strange')
  const { status, says } = await add(people.alice, await openPull(people.mallory, samples.orchard.uri, { repo, branch: 'main' }))
  assert.equal(status, 422)
  assert.match(says, /Not queued: it cannot be merged with main\. The two branches have no history in common\./)
})

test('ADM-5 adding a pull whose fork lies names the fork and what is wrong with it', async t => {
  const repo = await strangeFork(t, 'lying')
  const uri = await openPull(people.mallory, samples.orchard.uri, { repo, branch: 'main' })
  const honest = await people.mallory.get('dev.knotless.refs', 'lying')
  assert.ok(honest !== undefined)
  for (const [refs, reason] of [
    [[{ name: 'refs/heads/main', commit: 'f'.repeat(40), generation: 1 }], /which no pack of the repository holds/],
    [[{ name: 'HEAD', commit: 'f'.repeat(40), generation: 1 }], /HEAD.* is no name for a branch or tag/],
  ] as const) {
    await people.mallory.put('dev.knotless.refs', 'lying', { ...honest.value, refs, updatedAt: now() })
    const { status, says } = await add(people.alice, uri)
    assert.equal(status, 422)
    assert.match(says, /Not queued: (the git state of mallory\.test\/lying could not be taken|its branch)/)
    assert.match(says, reason)
  }
})

test('ADM-5 adding a pull from a repository that is not there names that one, and not the one that it is onto', async () => {
  const repo = `at://${people.mallory.did}/dev.knotless.repo/nothing`
  const { status, says } = await add(people.alice, await openPull(people.mallory, samples.orchard.uri, { repo, branch: 'topic' }))
  assert.equal(status, 422)
  assert.match(says, /Not queued: its branch topic no longer exists in mallory\.test\/nothing\./)
})

test('HON-4 a pull that names the old address is added by the new owner, onto the branch as it is at the new one', async t => {
  await giveDelegation(server.url, people.bob)
  const dir = newRepo(t)
  commit(dir, 'main', { 'a.txt': 'one\n' })
  git(dir, ['branch', 'topic', 'main'])
  commit(dir, 'topic', { 'a.txt': 'one\n', 'b.txt': 'two\n' })
  const record = { defaultBranch: 'main', collaborators: [], runners: [{ did: people.runner.did }], createdAt: now() }
  await people.alice.put('dev.knotless.repo', 'glade', record)
  const old = await demo.push(people.alice, 'glade', dir, ['main', 'topic'])
  const uri = await openPull(people.carol, old, { repo: old, branch: 'topic' })
  const fresh = `at://${people.bob.did}/dev.knotless.repo/glade`
  await people.bob.put('dev.knotless.repo', 'glade', { ...record, transferredFrom: old, createdAt: now() })
  await people.alice.put('dev.knotless.repo', 'glade', { ...record, transferredTo: { repo: fresh, at: tidAt(Date.now()) } })
  commit(dir, 'main', { 'a.txt': 'one\n', 'c.txt': 'three\n' })
  await demo.push(people.bob, 'glade', dir, ['main', 'topic'])
  await until(async () => (await fetch(`${server.url}/bob.test/glade`)).status === 200)
  const done = await add(people.bob, uri, 'bob.test/glade')
  assert.deepEqual([done.status, done.says], [303, ''])
  const entries = (await people.bob.list('dev.knotless.queue')).filter(({ value }) => value.subject === uri)
  assert.deepEqual(
    entries.map(({ value }) => value.state),
    ['queued'],
  )
})
