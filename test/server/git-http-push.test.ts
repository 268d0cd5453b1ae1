import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { until } from '../support/until.ts'
import { auditOf, type GatewayWorld, type PlantOptions, startGatewayWorld } from './gateway-world.ts'
import { type Clone, cloneOf } from './git-push-world.ts'

let world: GatewayWorld
let dir: string
before(async () => {
  dir = mkdtempSync(join(tmpdir(), 'knotless-git-push-'))
  world = await startGatewayWorld()
})
after(async () => {
  await world?.end()
  rmSync(dir, { recursive: true, force: true })
})

let count = 0

async function grove(options?: PlantOptions) {
  const planted = await world.plant(`grove-${++count}`, options)
  return { ...planted, clone: await cloneOf(world, planted.name, dir) }
}

/** What git printed, without where it pushed to and that it failed. */
function said(ran: { err: string }): string[] {
  const lines = ran.err.split('\n').map(line => line.trim())
  return lines.filter(line => line !== '' && !line.startsWith('To ') && !line.startsWith('error: failed to push'))
}

async function tagAt(name: string, tag: string): Promise<string | undefined> {
  const found = await world.people.alice.get('dev.knotless.refs', name)
  const refs = found?.value.refs
  assert.ok(Array.isArray(refs))
  return refs.find((row: { name: string }) => row.name === `refs/tags/${tag}`)?.commit
}

/** Makes a topic branch of one commit at the server, by bob. */
async function topicOf(clone: Clone, name = 'topic'): Promise<string> {
  await clone.git('checkout', '-q', '-b', name, 'origin/main')
  const made = await clone.commit({ 'topic.txt': `${name}\n` })
  const ran = await clone.push(world.people.bob, `HEAD:refs/heads/${name}`)
  assert.equal(ran.code, 0, ran.err)
  return made
}

test('GWY-5 a collaborator and the owner push onto a free branch, a clone has it, and the log says who', async () => {
  const { clone, name, uri, refs } = await grove()
  for (const by of [world.people.bob, world.people.alice]) {
    const made = await clone.commit({ 'trees/pear.txt': `${by.handle}\n` })
    const ran = await clone.push(by, 'HEAD:main')
    assert.equal(ran.code, 0, ran.err)
    assert.equal((await refs()).get('main'), made)
    const again = await cloneOf(world, name, dir)
    assert.equal(await again.git('rev-parse', 'HEAD'), made)
  }
  const lines = auditOf(world.server, world.people.alice).filter(one => one.repo === uri)
  assert.deepEqual(
    lines.map(line => [line.caller, line.ref, line.door]),
    [world.people.bob, world.people.alice].map(by => [by.did, 'refs/heads/main', 'push']),
  )
})

test('a push of what is there already writes nothing', async () => {
  const { clone, uri } = await grove()
  const ran = await clone.push(world.people.bob, 'HEAD:main')
  assert.equal(ran.code, 0)
  assert.match(ran.err, /^Everything up-to-date$/m)
  assert.deepEqual(
    auditOf(world.server, world.people.alice).filter(one => one.repo === uri),
    [],
  )
})

test('GWY-2 git prints the rule that stops a push onto a queue-only branch, and what to do', async () => {
  const { clone, uri, tip, refs } = await grove({
    record: { protections: [{ branch: 'main', queue: true }], runners: [{ did: world.people.rigby.did }] },
  })
  await clone.commit({ 'a.txt': 'one\n' })
  const ran = await clone.push(world.people.bob, 'HEAD:main')
  assert.equal(ran.code, 1)
  assert.deepEqual(said(ran), [
    'remote: main: Open a pull onto main and add it to the merge queue.',
    '! [remote rejected] HEAD -> main (Not pushed: main takes pulls only through the queue)',
  ])
  assert.equal((await refs()).get('main'), tip)
  const [line] = auditOf(world.server, world.people.alice).filter(one => one.repo === uri)
  assert.equal(line?.code, 'queue-only')
})

test('GWY-5 the default branch is not forced or deleted, whatever the client asks', async () => {
  const { clone, tip, refs } = await grove()
  await clone.git('checkout', '-q', '--orphan', 'other')
  await clone.commit({ 'a.txt': 'one\n' })
  const plain = await clone.push(world.people.bob, 'HEAD:main')
  assert.match(plain.err, /! \[rejected\] +HEAD -> main \(non-fast-forward\)/)
  const forced = await clone.push(world.people.bob, '--force', 'HEAD:main')
  assert.deepEqual(said(forced), [
    'remote: main: Put your commits on top of its tip instead.',
    '! [remote rejected] HEAD -> main (Not pushed: main is the default branch, which is never forced here)',
  ])
  const deleted = await clone.push(world.people.bob, ':main')
  assert.deepEqual(said(deleted), [
    'remote: main: It stays as it is.',
    '! [remote rejected] main (Not pushed: main is the default branch, which is never deleted here)',
  ])
  assert.equal((await refs()).get('main'), tip)
})

test('GWY-5 a free branch is forced and deleted', async () => {
  const { clone, refs } = await grove()
  await topicOf(clone)
  await clone.git('commit', '-q', '--amend', '-m', 'Another')
  const amended = await clone.git('rev-parse', 'HEAD')
  const forced = await clone.push(world.people.bob, '--force', 'HEAD:topic')
  assert.equal(forced.code, 0, forced.err)
  assert.equal((await refs()).get('topic'), amended)
  const deleted = await clone.push(world.people.bob, ':topic')
  assert.equal(deleted.code, 0, deleted.err)
  assert.match(deleted.err, /- \[deleted\] +topic/)
  assert.equal((await refs()).has('topic'), false)
})

test('GWY-5 a force that was made against an old commit is told that the branch moved', async () => {
  const { clone, name, refs } = await grove()
  const first = await topicOf(clone)
  const other = await cloneOf(world, name, dir)
  await other.git('checkout', '-q', 'topic')
  const theirs = await other.commit({ 'theirs.txt': 'x\n' })
  await clone.git('commit', '-q', '--amend', '-m', 'Another')
  const lease = await clone.push(world.people.bob, `--force-with-lease=topic:${first}`, 'HEAD:topic')
  assert.equal(lease.code, 0, lease.err)
  const late = await other.push(world.people.bob, 'HEAD:topic')
  assert.match(late.err, /! \[rejected\] +HEAD -> topic \(fetch first\)/)
  assert.notEqual((await refs()).get('topic'), theirs)
})

test('GWY-5 with --atomic one refused branch keeps all where they are, without it the others go', async () => {
  const { clone, tip, refs } = await grove()
  await clone.git('checkout', '-q', '--orphan', 'other')
  const made = await clone.commit({ 'a.txt': 'one\n' })
  const atomic = await clone.push(world.people.bob, '--atomic', '--force', 'HEAD:main', 'HEAD:refs/heads/good')
  assert.equal(atomic.code, 1)
  assert.deepEqual(said(atomic), [
    'remote: main: Put your commits on top of its tip instead.',
    'remote: good: It was asked to be all or nothing; nothing was written.',
    '! [remote rejected] HEAD -> main (Not pushed: main is the default branch, which is never forced here)',
    '! [remote rejected] HEAD -> good (Not pushed: another ref of the same push was refused)',
  ])
  assert.equal((await refs()).has('good'), false)
  const each = await clone.push(world.people.bob, '--force', 'HEAD:main', 'HEAD:refs/heads/good')
  assert.equal(each.code, 1)
  assert.match(each.err, /\* \[new branch\] +HEAD -> good/)
  assert.match(each.err, /! \[remote rejected\] HEAD -> main \(Not pushed: main is the default branch/)
  assert.equal((await refs()).get('good'), made)
  assert.equal((await refs()).get('main'), tip)
})

test('GWY-5 tags are made by collaborators, and moved and deleted by the owner alone', async () => {
  const { clone, name, tip } = await grove()
  const { alice, bob } = world.people
  await clone.git('tag', '-a', 'v1', '-m', 'The first')
  assert.equal((await clone.push(bob, 'v1')).code, 0)
  const first = await clone.git('rev-parse', 'v1')
  assert.equal(await tagAt(name, 'v1'), first, 'an annotated tag is kept as it is')
  await clone.git('tag', '-f', 'v1', tip)
  const moved = await clone.push(bob, '--force', 'v1')
  assert.match(moved.err, /! \[remote rejected\] v1 -> v1 \(Not pushed: only alice\.test may move or delete the tag v1\)/)
  assert.match(moved.err, /^remote: v1: Make a new tag instead\. *$/m)
  assert.match((await clone.push(bob, ':refs/tags/v1')).err, /only alice\.test may move or delete the tag v1/)
  assert.equal(await tagAt(name, 'v1'), first)
  assert.equal((await clone.push(alice, '--force', 'v1')).code, 0)
  assert.equal(await tagAt(name, 'v1'), tip)
  assert.equal((await clone.push(alice, ':refs/tags/v1')).code, 0)
  assert.equal(await tagAt(name, 'v1'), undefined)
})

test('GWY-6 a stranger’s push is refused before its pack is read, with an audit line', async () => {
  const { clone, uri, tip, refs } = await grove()
  await clone.commit({ 'a.txt': 'one\n' })
  const ran = await clone.push(world.people.mallory, 'HEAD:main', 'HEAD:refs/heads/mine')
  assert.equal(ran.code, 1)
  assert.deepEqual(said(ran), [
    'remote: main, mine: Ask one of them.',
    '! [remote rejected] HEAD -> main (Not pushed: only alice.test and bob.test can do that here)',
    '! [remote rejected] HEAD -> mine (Not pushed: only alice.test and bob.test can do that here)',
  ])
  assert.deepEqual([...(await refs())], [['main', tip]])
  const lines = auditOf(world.server, world.people.alice).filter(one => one.repo === uri)
  assert.deepEqual(
    lines.map(line => [line.caller, line.ref, line.code]),
    [
      [world.people.mallory.did, 'refs/heads/main', 'not-allowed'],
      [world.people.mallory.did, 'refs/heads/mine', 'not-allowed'],
    ],
  )
})

test('a collaborator who was named a moment ago pushes before the index heard of it', async t => {
  const planted = await grove()
  world.network.faults.add({ fault: 'hold' })
  t.after(() => world.network.faults.clear())
  await planted.edit({ collaborators: [{ did: world.people.bob.did }, { did: world.people.carol.did }] })
  await planted.clone.commit({ 'a.txt': 'one\n' })
  const ran = await planted.clone.push(world.people.carol, 'HEAD:main')
  assert.equal(ran.code, 0, ran.err)
})

test('HON-5 a collaborator of yesterday is refused, though the index has not heard of it', async t => {
  const planted = await grove()
  world.network.faults.add({ fault: 'hold' })
  t.after(() => world.network.faults.clear())
  await planted.edit({ collaborators: [] })
  await planted.clone.commit({ 'a.txt': 'one\n' })
  const ran = await planted.clone.push(world.people.bob, 'HEAD:main')
  assert.match(ran.err, /Not pushed: only alice\.test can do that here/)
})

test('GWY-5 of two pushes at the same instant one wins, and the other is told that the branch moved', async () => {
  const { clone, name, refs } = await grove()
  const other = await cloneOf(world, name, dir)
  const made = [await clone.commit({ 'a.txt': 'one\n' }), await other.commit({ 'b.txt': 'two\n' })]
  const ran = await Promise.all([clone.push(world.people.bob, 'HEAD:main'), other.push(world.people.alice, 'HEAD:main')])
  const lost = ran.filter(one => one.code !== 0)
  assert.equal(lost.length, 1, JSON.stringify(ran))
  assert.match(lost[0]?.err ?? '', /Not pushed: main moved meanwhile, to [0-9a-f]{7}|fetch first/)
  assert.equal((await refs()).get('main'), made[ran.findIndex(one => one.code === 0)])
})

test('what was pushed is in the index, the mirror and the account at once', async () => {
  const { clone, uri, name, refs } = await grove()
  const made = await clone.commit({ 'a.txt': 'one\n' })
  assert.equal((await clone.push(world.people.bob, 'HEAD:main')).code, 0)
  await until(() => world.server.context.repositories.viewOf(uri)?.view.branches.get('main')?.tip === made)
  assert.equal((await refs()).get('main'), made)
  const mirrors = join(world.server.dir, 'mirrors')
  const left = readdirSync(mirrors, { recursive: true })
    .map(String)
    .filter(path => /quarantine\/[^/]+$/.test(path))
  assert.deepEqual(left, [], `nothing is left of pushes to ${name} and all others`)
})

test('a push from a shallow clone is taken, since its history is here', async () => {
  const { clone, name, refs } = await grove()
  await clone.commit({ 'a.txt': 'one\n' })
  await clone.push(world.people.bob, 'HEAD:main')
  const shallow = await cloneOf(world, name, dir, '--depth', '1')
  const made = await shallow.commit({ 'b.txt': 'two\n' })
  const ran = await shallow.push(world.people.bob, 'HEAD:main')
  assert.equal(ran.code, 0, ran.err)
  assert.equal((await refs()).get('main'), made)
})

test('push options are refused by git itself, since none are taken', async () => {
  const { clone } = await grove()
  await clone.commit({ 'a.txt': 'one\n' })
  const ran = await clone.push(world.people.bob, '-o', 'ci.skip', 'HEAD:main')
  assert.match(ran.err, /the receiving end does not support push options/)
})

test('GWY-1 without a delegation git prints who has to give it and where', async t => {
  const bare = await startGatewayWorld({ delegate: false })
  t.after(() => bare.end())
  const planted = await bare.plant('bare')
  const clone = await cloneOf(bare, 'bare', dir)
  await clone.commit({ 'a.txt': 'one\n' })
  const ran = await clone.push(bare.people.bob, 'HEAD:main')
  assert.deepEqual(said(ran), [
    `remote: main: Ask alice.test to give the delegation in their settings (${bare.server.url}/settings#delegation).`,
    '! [remote rejected] HEAD -> main (Not pushed: this server may not write for alice.test, as no delegation was given)',
  ])
  assert.equal((await planted.refs()).get('main'), planted.tip)
})
