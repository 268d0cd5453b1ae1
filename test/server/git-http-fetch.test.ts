import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { commit, git as gitIn, newRepo } from '../git/support.ts'
import { type GitWorld, git, gitOk, startGitWorld } from './git-world.ts'
import { Visitor } from './visitor.ts'

let world: GitWorld
before(async () => {
  world = await startGitWorld()
})
after(() => world?.end())

let count = 0
const place = () => join(world.dir, `clone-${++count}`)

/** A repository of three commits on main and one on topic. */
async function grove(t: TestContext, record?: Record<string, unknown>): Promise<{ url: string; dir: string; name: string }> {
  const dir = newRepo(t)
  for (const n of [1, 2, 3]) commit(dir, 'main', { 'tree.txt': `${n}\n`, 'sub/leaf.txt': `leaf ${n}\n` })
  gitIn(dir, ['branch', 'topic', 'main'])
  commit(dir, 'topic', { 'tree.txt': 'topic\n' })
  const name = `grove-${++count}`
  return { url: await world.plant(name, dir, ['refs/heads/main', 'refs/heads/topic'], record), dir, name }
}

for (const version of ['0', '1', '2']) {
  test(`a clone by protocol version ${version} has every branch and checks out the default branch`, async t => {
    const { url, dir } = await grove(t)
    const to = place()
    await gitOk(['-c', `protocol.version=${version}`, 'clone', '-q', url, to])
    assert.equal(readFileSync(join(to, 'sub/leaf.txt'), 'utf8'), 'leaf 3\n')
    assert.equal(await gitOk(['rev-parse', 'HEAD', 'origin/topic'], { cwd: to }), gitIn(dir, ['rev-parse', 'main', 'topic']))
    assert.equal(await gitOk(['symbolic-ref', 'HEAD'], { cwd: to }), 'refs/heads/main')
  })
}

test('a clone checks out the default branch of the record, whatever the mirror began with', async t => {
  const { url, dir } = await grove(t, { defaultBranch: 'topic' })
  const to = place()
  await gitOk(['clone', '-q', url, to])
  assert.equal(await gitOk(['symbolic-ref', 'HEAD'], { cwd: to }), 'refs/heads/topic')
  assert.equal(await gitOk(['rev-parse', 'HEAD'], { cwd: to }), gitIn(dir, ['rev-parse', 'topic']))
})

test('the address of the page clones as well, and so does the DID', async t => {
  const { url, name } = await grove(t)
  for (const address of [url.slice(0, -'.git'.length), `${url}/`, `${world.server.url}/${world.alice.did}/${name}.git`]) {
    await gitOk(['clone', '-q', address, place()])
  }
})

test('shallow, partial and incremental clones bring what was asked for and no more', async t => {
  const { url, dir, name } = await grove(t)
  const shallow = place()
  await gitOk(['clone', '-q', '--depth', '1', url, shallow])
  assert.equal(await gitOk(['rev-list', '--count', 'HEAD'], { cwd: shallow }), '1')
  await gitOk(['fetch', '-q', '--unshallow'], { cwd: shallow })
  assert.equal(await gitOk(['rev-list', '--count', 'HEAD'], { cwd: shallow }), '3')

  const partial = place()
  await gitOk(['clone', '-q', '--no-checkout', '--filter=blob:none', url, partial])
  const missing = await gitOk(['rev-list', '--objects', '--missing=print', 'HEAD'], { cwd: partial })
  assert.equal(missing.split('\n').filter(line => line.startsWith('?')).length, 6)
  await gitOk(['checkout', '-q', 'main'], { cwd: partial })
  assert.equal(readFileSync(join(partial, 'tree.txt'), 'utf8'), '3\n')

  const whole = place()
  await gitOk(['clone', '-q', url, whole])
  const next = commit(dir, 'main', { 'tree.txt': '4\n' })
  await world.pushStraight(name, dir, ['refs/heads/main'])
  const trace = join(world.dir, `trace-${++count}`)
  await gitOk(['fetch', '-q'], { cwd: whole, env: { GIT_TRACE_PACKET: trace } })
  assert.equal(await gitOk(['rev-parse', 'origin/main'], { cwd: whole }), next)
  assert.match(readFileSync(trace, 'utf8'), /have [0-9a-f]{40}/)
})

test('a clone has what was pushed straight to the owner’s account a moment ago, before the stream tells of it', async t => {
  const { url, dir, name } = await grove(t)
  const fault = world.network.faults.add({ fault: 'hold' })
  t.after(() => world.network.faults.clear())
  const next = commit(dir, 'main', { 'tree.txt': 'straight\n' })
  await world.pushStraight(name, dir, ['refs/heads/main'])
  for (const version of ['0', '2']) {
    const listed = await gitOk(['-c', `protocol.version=${version}`, 'ls-remote', url, 'refs/heads/main'])
    assert.equal(listed.split('\t')[0], next, `version ${version}`)
  }
  assert.ok(fault)
})

test('a branch deleted a moment ago is not there any more', async t => {
  const { url, dir, name } = await grove(t)
  gitIn(dir, ['update-ref', '-d', 'refs/heads/topic'])
  await world.pushStraight(name, dir, ['refs/heads/topic'])
  assert.doesNotMatch(await gitOk(['ls-remote', url]), /topic/)
})

test('STO-9 while the account’s server does not answer, a clone gets what the mirror has', async t => {
  const { url, dir } = await grove(t)
  world.network.faults.add({ fault: 'refuse', method: 'com.atproto.repo.getRecord', account: world.alice.did, status: 503, error: 'Down' })
  t.after(() => world.network.faults.clear())
  const to = place()
  await gitOk(['clone', '-q', url, to])
  assert.equal(await gitOk(['rev-parse', 'HEAD'], { cwd: to }), gitIn(dir, ['rev-parse', 'main']))
})

test('a repository whose git state cannot be had, and was not before, is refused in words', async t => {
  const name = `unread-${++count}`
  world.network.faults.add({ fault: 'refuse', method: 'com.atproto.repo.getRecord', account: world.alice.did, status: 503, error: 'Down' })
  t.after(() => world.network.faults.clear())
  await world.alice.put('dev.knotless.repo', name, {
    defaultBranch: 'main',
    collaborators: [],
    runners: [],
    createdAt: new Date().toISOString(),
  })
  await world.network.settled()
  await world.server.context.indexer.settled()
  const ran = await git(['clone', '-q', `${world.server.url}/alice.test/${name}.git`, place()])
  assert.match(
    ran.err,
    /^remote: The git state of this repository cannot be had now\. The account’s server does not answer\. Try again in a minute\.$/m,
  )
  assert.match(ran.err, /returned error: 503/)
})

test('a repository that nothing was pushed to clones as an empty one, on its default branch', async t => {
  const url = await world.plant(`empty-${++count}`, newRepo(t), [], { defaultBranch: 'trunk' })
  const to = place()
  const ran = await git(['clone', url, to])
  assert.equal(ran.code, 0, ran.err)
  assert.match(ran.err, /You appear to have cloned an empty repository/)
  assert.equal(await gitOk(['symbolic-ref', 'HEAD'], { cwd: to }), 'refs/heads/trunk')
})

test('what is not here is said in a sentence that git shows', async () => {
  for (const path of ['nobody.test/orchard', 'alice.test/nothing', `${world.bob.did}/nothing`, 'not a name/nothing']) {
    const ran = await git(['clone', '-q', `${world.server.url}/${encodeURI(path)}.git`, place()])
    const said = `There is no repository ${path} here. Check the spelling, or ask its owner whether it moved.`
    assert.ok(ran.err.includes(`remote: ${said}`), ran.err)
    assert.match(ran.err, /not found/)
  }
})

test('a browser that opens a clone address sees the repository’s page', async t => {
  const { name } = await grove(t)
  const visitor = new Visitor()
  const answer = await visitor.get(`${world.server.url}/alice.test/${name}.git`)
  assert.equal(answer.status, 302)
  assert.equal(answer.headers.location, `/alice.test/${name}`)
  assert.equal((await visitor.send('HEAD', `${world.server.url}/alice.test/${name}.git`, {})).status, 302)
  const page = await visitor.get(`${world.server.url}/alice.test/${name}`)
  assert.ok(page.text.includes(`git clone ${world.server.url}/alice.test/${name}.git`), 'the page says how it is cloned')
  assert.equal((await visitor.get(`${world.server.url}/alice.test/nothing.git`)).status, 404)
})

test('git of before smart HTTP, and anybody who asks for no service, is told so', async t => {
  const { url } = await grove(t)
  for (const query of ['', '?service=git-archive', '?service=']) {
    const answer = await fetch(`${url}/info/refs${query}`)
    assert.equal(answer.status, 400)
    assert.match(await answer.text(), /smart protocol/)
  }
  const wrong = await fetch(`${url}/git-upload-pack`, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '0000' })
  assert.equal(wrong.status, 415)
  assert.match(wrong.headers.get('content-type') ?? '', /^text\/plain/)
})

const uploadPack = { method: 'POST', headers: { 'content-type': 'application/x-git-upload-pack-request', 'git-protocol': 'version=2' } }

test('STO-11 a request that unpacks to more than a fetch needs is refused, as is one that is sent so', async t => {
  const { url } = await grove(t)
  const line = '0032have 1111111111111111111111111111111111111111\n'
  const many = Buffer.from(`0012command=fetch0001${line.repeat(2 ** 20)}`)
  const bomb = gzipSync(many, { level: 9 })
  assert.ok(bomb.length < many.length / 200)
  const zipped = await fetch(`${url}/git-upload-pack`, {
    ...uploadPack,
    headers: { ...uploadPack.headers, 'content-encoding': 'gzip' },
    body: bomb,
  })
  assert.equal(zipped.status, 413)
  assert.match(await zipped.text(), /larger than 8 MiB/)
  const plain = await fetch(`${url}/git-upload-pack`, { ...uploadPack, body: many }).catch((error: unknown) => error)
  assert.ok(plain instanceof Error || (plain instanceof Response && plain.status === 413))
  const broken = await fetch(`${url}/git-upload-pack`, {
    ...uploadPack,
    headers: { ...uploadPack.headers, 'content-encoding': 'gzip' },
    body: 'no gzip',
  })
  assert.equal(broken.status, 400)
  await gitOk(['ls-remote', url])
})
