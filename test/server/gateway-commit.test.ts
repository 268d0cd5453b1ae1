/** Commits that the gateway makes, and tokens of those who ask. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { serveHttp } from '../support/http-server.ts'
import { fileAt, type GatewayWorld, post, shown, startGatewayWorld, tokenOf } from './gateway-world.ts'
import { serve } from './serve.ts'

let world: GatewayWorld
before(async () => {
  world = await startGatewayWorld()
})
after(() => world?.end())

const commitMethod = 'dev.knotless.createCommit'
const mergeMethod = 'dev.knotless.mergePull'

test('createCommit changes, adds and deletes files in one commit by and as the caller, on the branch at its base', async () => {
  const { people, server } = world
  const repo = await world.plant('commits')
  const input = {
    repo: repo.uri,
    branch: 'main',
    base: repo.tip,
    message: 'Tidy up\r\n\r\nAnd say\u202e so.',
    changes: [
      { path: 'README.md', content: 'Pears.\n' },
      { path: 'bin/run', content: '#!/bin/sh\n', mode: '100755' },
      { path: 'trees/apple.txt' },
    ],
  }
  const answer = await world.call(people.bob, commitMethod, input)
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  const commit = String(answer.body.commit)
  assert.equal((await repo.refs()).get('main'), commit)
  const text = await shown(server, repo.uri, commit)
  const who = `${people.bob.did} <${people.bob.did}@knotless.invalid> \\d+ \\+0000`
  assert.match(text, new RegExp(`parent ${repo.tip}\nauthor ${who}\ncommitter ${who}\n\nTidy up\n\nAnd say so\\.$`))
  assert.equal(await fileAt(server, repo.uri, commit, 'README.md'), 'Pears.')
  assert.equal(await fileAt(server, repo.uri, commit, 'bin/run'), '#!/bin/sh')
  await assert.rejects(fileAt(server, repo.uri, commit, 'trees/apple.txt'))

  const moved = await world.call(people.bob, commitMethod, input)
  assert.equal(moved.body.error, 'BranchMoved', JSON.stringify(moved.body))
  assert.match(String(moved.body.message), /^Not committed: main moved/)
  const same = { ...input, base: commit, changes: [{ path: 'README.md', content: 'Pears.\n' }] }
  assert.equal((await world.call(people.bob, commitMethod, same)).body.error, 'NothingToLand')
})

test('GWY-2 createCommit is held by the same rules: strangers, queue-only branches, branches that are not there, paths of git’s own', async () => {
  const { people } = world
  const repo = await world.plant('rules', {
    record: { runners: [{ did: world.people.rigby.did }], protections: [{ branch: 'main', queue: true }] },
  })
  const input = { repo: repo.uri, branch: 'main', base: repo.tip, message: 'Mine', changes: [{ path: 'a.txt', content: 'a\n' }] }
  const refusals: [GatewayWorld['people']['bob'], Record<string, unknown>, string][] = [
    [people.mallory, {}, 'NotAllowed'],
    [people.rigby, {}, 'NotAllowed'],
    [people.bob, {}, 'QueueOnly'],
    [people.alice, { branch: 'nowhere' }, 'BranchNotFound'],
    [people.alice, { changes: [{ path: '.git/config', content: 'x' }] }, 'InvalidRequest'],
    [people.alice, { changes: [{ path: 'a/../../x', content: 'x' }] }, 'InvalidRequest'],
    [people.alice, { message: '  \n' }, 'InvalidRequest'],
    [people.alice, { repo: `at://${people.alice.did}/dev.knotless.repo/none` }, 'RepoNotFound'],
  ]
  for (const [account, more, name] of refusals) {
    const answer = await world.call(account, commitMethod, { ...input, ...more })
    assert.equal(answer.body.error, name, JSON.stringify([more, answer.body]))
  }
  assert.equal((await repo.refs()).get('main'), repo.tip)
  // PRO-5: the owner's own writes are theirs.
  assert.equal((await world.call(people.alice, commitMethod, input)).status, 200)
})

test('GWY-10 a token is good once, for one method, one server and five minutes', async () => {
  const { people, server } = world
  const repo = await world.plant('tokens')
  const pull = await repo.openPull({ branch: 'topic', files: { 'a.txt': 'a\n' } })
  const input = { pull: pull.uri }
  const ask = async (bearer?: string) => (await post(server, mergeMethod, input, bearer)).body.error
  const seconds = (n: number) => Math.floor(Date.now() / 1000) + n
  assert.equal(await ask(), 'AuthMissing')
  assert.equal(await ask('x'), 'BadToken')
  assert.equal(await ask(await tokenOf(server, people.bob, { lxm: commitMethod })), 'WrongMethod')
  assert.equal(await ask(await tokenOf(server, people.bob, { lxm: mergeMethod, aud: 'did:web:elsewhere.example' })), 'WrongAudience')
  assert.equal(await ask(await tokenOf(server, people.bob, { lxm: mergeMethod, exp: seconds(1_500) })), 'TokenTooLong')
  const [head = '', body = '', signature = ''] = (await tokenOf(server, people.mallory, { lxm: mergeMethod })).split('.')
  const claims = { ...JSON.parse(Buffer.from(body, 'base64url').toString()), iss: people.bob.did }
  assert.equal(await ask(`${head}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`), 'BadSignature')
  assert.equal((await repo.refs()).get('main'), repo.tip)

  const good = await tokenOf(server, people.bob, { lxm: mergeMethod })
  assert.equal((await post(server, mergeMethod, input, good)).status, 200)
  assert.equal(await ask(good), 'TokenSpent')
})

test('GWY-10 a token that has expired, or whose key its account has taken out of service a moment ago, is refused', async t => {
  const { network, people } = world
  let ahead = 0
  let rotated = false
  // The directory, with the signing key of somebody else for bob once it is rotated.
  const directory = await serveHttp(async (request, response) => {
    const real = async (path: string) => await (await fetch(network.plcUrl + path)).text()
    const [document, other] = await Promise.all([real(request.url ?? '/'), real(`/${people.mallory.did}`)])
    const keyOf = (text: string) => /"publicKeyMultibase":"([^"]+)"/.exec(text)?.[1] ?? ''
    const isBob = rotated && decodeURIComponent(request.url ?? '').includes(people.bob.did)
    response.setHeader('content-type', 'application/json')
    response.end(isBob ? document.replace(keyOf(document), keyOf(other)) : document)
  })
  t.after(() => directory.close())
  const server = await serve({ ...network, plcUrl: directory.url }, { overrides: { now: () => Date.now() + ahead } })
  t.after(() => server.end())
  const input = { pull: `at://${people.carol.did}/dev.knotless.pull/3lnotherenev2` }
  const ask = async (exp?: number) => {
    const params = { lxm: mergeMethod, ...(exp === undefined ? {} : { exp }) }
    return (await post(server, mergeMethod, input, await tokenOf(server, people.bob, params))).body.error
  }
  assert.equal(await ask(), 'PullNotFound', 'the key is good, and remembered')
  rotated = true
  ahead = 10_000
  assert.equal(await ask(), 'BadSignature')
  rotated = false
  ahead = 90_000
  assert.equal(await ask(Math.floor(Date.now() / 1000) + 30), 'TokenExpired')
})
