import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { dev } from '../../src/lexicons/index.ts'
import { madeUp, type Orchard, plantOrchard } from './orchard.ts'
import { type Served, serve } from './serve.ts'

let server: Served
let orchard: Orchard
before(async () => {
  server = await serve()
  orchard = await plantOrchard(server.context, { handles: { [madeUp.owner]: 'alice.test', [madeUp.author]: 'carol.test' } })
  await orchard.queue(orchard.pulls[0] ?? '')
  await orchard.queue(orchard.pulls[1] ?? '')
})
after(async () => {
  await orchard?.stop()
  await server?.end()
})

async function ask(method: string, params: Record<string, string> = {}, headers: Record<string, string> = {}) {
  const answer = await fetch(`${server.url}/xrpc/dev.knotless.${method}?${new URLSearchParams(params)}`, { headers })
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, body: text === '' ? undefined : JSON.parse(text) }
}

test('STA-3 getMergeStatus says where a pull stands', async () => {
  const { status, body, headers } = await ask('getMergeStatus', { pull: orchard.pulls[1] ?? '' })
  assert.equal(status, 200)
  assert.match(String(headers.get('content-type')), /^application\/json/)
  const read = dev.knotless.getMergeStatus.main.output.schema.parse(body)
  assert.equal(read.standing.text, 'Queued, 2nd of 2')
  assert.equal(read.pull.author.handle, 'carol.test')
  assert.equal(read.can.queue.allowed, false)
})

test('getQueue, listQueues, listPulls and listChecks answer as their lexicons say', async () => {
  const { repo } = orchard
  const queue = dev.knotless.getQueue.main.output.schema.parse((await ask('getQueue', { repo, branch: 'main' })).body)
  assert.deepEqual(
    queue.queued.map(entry => entry.pull.uri),
    orchard.pulls.slice(0, 2),
  )
  assert.equal(queue.owner.handle, 'alice.test')
  const queues = dev.knotless.listQueues.main.output.schema.parse((await ask('listQueues')).body)
  assert.deepEqual(
    queues.queues.map(({ branch, length }) => [branch, length]),
    [['main', 2]],
  )
  const pulls = dev.knotless.listPulls.main.output.schema.parse((await ask('listPulls', { repo, state: 'open' })).body)
  assert.deepEqual(
    pulls.pulls.map(({ pull }) => pull.uri),
    [...orchard.pulls].reverse(),
  )
  const checks = dev.knotless.listChecks.main.output.schema.parse((await ask('listChecks', { repo })).body)
  assert.deepEqual(checks.checks, [])
})

test('a repository may be named by its owner’s handle, a pull by its author’s', async () => {
  assert.equal((await ask('getQueue', { repo: 'at://alice.test/dev.knotless.repo/orchard' })).status, 200)
  const pull = orchard.pulls[0]?.replace(madeUp.author, 'carol.test') ?? ''
  assert.equal((await ask('getMergeStatus', { pull })).body.pull.uri, orchard.pulls[0])
})

test('a branch that no pull is onto has an empty queue; one that is not there is refused by name', async () => {
  const idle = await ask('getQueue', { repo: orchard.repo, branch: 'idle' })
  assert.equal(idle.status, 200)
  assert.equal(idle.body.length, 0)
  const none = await ask('getQueue', { repo: orchard.repo, branch: 'nowhere' })
  assert.equal(none.status, 400)
  assert.equal(none.body.error, 'BranchNotFound')
})

test('what is not there is refused by its name, 400', async () => {
  const repos = [
    'at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/dev.knotless.repo/x',
    'at://nobody.test/dev.knotless.repo/x',
    orchard.pulls[0] ?? '',
    `at://${madeUp.owner}`,
  ]
  for (const repo of repos) {
    for (const method of ['getQueue', 'listPulls', 'listChecks', 'listQueues']) {
      const { status, body } = await ask(method, { repo })
      assert.equal(status, 400, `${method} ${repo}`)
      assert.equal(body.error, 'RepoNotFound')
      assert.equal(typeof body.message, 'string')
    }
  }
  for (const pull of [`at://${madeUp.author}/dev.knotless.pull/3aaaaaaaaaaaa`, orchard.repo, `at://${madeUp.author}`]) {
    const { status, body } = await ask('getMergeStatus', { pull })
    assert.equal(status, 400)
    assert.equal(body.error, 'PullNotFound')
  }
})

test('wrong and missing parameters are refused by name, 400', async () => {
  const wrong: [string, Record<string, string>][] = [
    ['getMergeStatus', {}],
    ['getMergeStatus', { pull: 'x' }],
    ['getQueue', {}],
    ['getQueue', { repo: orchard.repo, limit: '0' }],
    ['getQueue', { repo: orchard.repo, limit: '1000' }],
    ['getQueue', { repo: orchard.repo, limit: 'many' }],
    ['getQueue', { repo: orchard.repo, branch: 'x'.repeat(300) }],
    ['listPulls', { repo: orchard.repo, author: 'alice.test' }],
    ['listChecks', { repo: orchard.repo, commit: 'abc' }],
    ['listQueues', { cursor: 'x'.repeat(3_000) }],
  ]
  for (const [method, params] of wrong) {
    const { status, body } = await ask(method, params)
    assert.equal(status, 400, `${method} ${JSON.stringify(params)}`)
    assert.equal(body.error, 'InvalidRequest')
  }
})

test('methods not built and unknown ones are 501, a wrong verb 400, all as JSON', async () => {
  for (const method of ['requeuePull']) {
    const answer = await fetch(`${server.url}/xrpc/dev.knotless.${method}`, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    })
    assert.equal(answer.status, 501)
    assert.deepEqual(Object.keys(z(await answer.json())), ['error', 'message'])
  }
  const unknown = await ask('getSomethingElse', { repo: orchard.repo })
  assert.equal(unknown.status, 501)
  assert.equal(unknown.body.error, 'MethodNotImplemented')
  const verb = await fetch(`${server.url}/xrpc/dev.knotless.getQueue`, { method: 'POST', body: '{}' })
  assert.equal(verb.status, 400)
  for (const method of ['PUT', 'DELETE', 'PATCH']) {
    const answer = await fetch(`${server.url}/xrpc/dev.knotless.getQueue`, { method })
    assert.equal(answer.status, 404)
    assert.match(String(answer.headers.get('content-type')), /^application\/json/)
  }
  const path = await fetch(`${server.url}/xrpc/not%20a%20name`)
  assert(path.status >= 400 && path.status < 600)
  assert.equal(typeof z(await path.json()).error, 'string')
})

function z(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

test('any origin may read, and no cookie is looked at', async () => {
  const { headers } = await ask(
    'listQueues',
    {},
    { origin: 'https://elsewhere.example', cookie: `${server.context.cookies.session}=${'a'.repeat(43)}` },
  )
  assert.equal(headers.get('access-control-allow-origin'), '*')
  assert.equal(headers.get('access-control-allow-credentials'), null)
  assert.equal(headers.get('set-cookie'), null)
  const before = await fetch(`${server.url}/xrpc/dev.knotless.getQueue`, {
    method: 'OPTIONS',
    headers: {
      origin: 'https://elsewhere.example',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'authorization',
    },
  })
  assert.equal(before.status, 204)
  assert.match(String(before.headers.get('access-control-allow-headers')), /authorization/)
})

test('who has the answer already gets 304, until something changes', async () => {
  const params = { repo: orchard.repo, state: 'open' }
  const first = await ask('listPulls', params)
  const etag = String(first.headers.get('etag'))
  assert.match(etag, /^"[\w-]+"$/)
  const again = await ask('listPulls', params, { 'if-none-match': etag })
  assert.equal(again.status, 304)
  assert.equal(again.body, undefined)
  assert.equal(again.headers.get('etag'), etag)
  const uri = await orchard.write(madeUp.author, 'dev.knotless.pull', orchard.key(), {
    repo: orchard.repo,
    branch: 'main',
    head: { repo: orchard.repo, branch: 'topic-0' },
    title: 'One more',
  })
  const changed = await ask('listPulls', params, { 'if-none-match': etag })
  assert.equal(changed.status, 200, 'at once, not when a moment has passed')
  assert.equal(changed.body.pulls[0].pull.uri, uri)
})

test('an answer from a moment ago is kept, and given up when the repository changes', async () => {
  const counts = async () => {
    const { values } = await server.context.metrics.xrpcCache.get()
    return new Map(values.map(({ labels, value }) => [labels.result, value]))
  }
  const pull = orchard.pulls[2] ?? ''
  await ask('getMergeStatus', { pull })
  const before = await counts()
  assert.equal((await ask('getMergeStatus', { pull })).body.standing.kind, 'open')
  assert.equal((await counts()).get('hit'), (before.get('hit') ?? 0) + 1)
  await orchard.queue(pull)
  assert.equal((await ask('getMergeStatus', { pull })).body.standing.kind, 'queued')
})

test('long lists are paged: every entry once, none twice', async () => {
  const big = await plantOrchard(server.context, { name: 'big', count: 23 })
  try {
    for (const pull of big.pulls) await big.queue(pull)
    const seen: string[] = []
    for (let cursor: string | undefined; ; ) {
      const { body } = await ask('getQueue', { repo: big.repo, limit: '5', ...(cursor === undefined ? {} : { cursor }) })
      assert(body.queued.length <= 5)
      seen.push(...body.queued.map((entry: { pull: { uri: string } }) => entry.pull.uri))
      cursor = body.cursor
      if (cursor === undefined) break
    }
    assert.deepEqual(seen, big.pulls)
    const pulls: string[] = []
    for (let cursor: string | undefined; ; ) {
      const { body } = await ask('listPulls', { repo: big.repo, limit: '7', ...(cursor === undefined ? {} : { cursor }) })
      pulls.push(...body.pulls.map((entry: { pull: { uri: string } }) => entry.pull.uri))
      cursor = body.cursor
      if (cursor === undefined) break
    }
    assert.deepEqual(pulls, [...big.pulls].reverse())
    const lanes: string[] = []
    for (let cursor: string | undefined; ; ) {
      const { body } = await ask('listQueues', { limit: '1', ...(cursor === undefined ? {} : { cursor }) })
      lanes.push(...body.queues.map((lane: { name: string }) => lane.name))
      cursor = body.cursor
      if (cursor === undefined) break
    }
    assert.deepEqual(lanes, ['big', 'orchard'])
  } finally {
    await big.stop()
  }
})

test('pulls of every state are listed, those settled long ago too', async () => {
  const { repo } = orchard
  const closed = orchard.pulls[2] ?? ''
  await orchard.write(madeUp.owner, 'dev.knotless.state', orchard.key(), { repo, subject: closed, state: 'closed' })
  const all = await ask('listPulls', { repo })
  assert(
    all.body.pulls.some((entry: { pull: { uri: string; state: string } }) => entry.pull.uri === closed && entry.pull.state === 'closed'),
  )
  const only = await ask('listPulls', { repo, state: 'closed' })
  assert.deepEqual(
    only.body.pulls.map((entry: { pull: { uri: string } }) => entry.pull.uri),
    [closed],
  )
  assert.equal((await ask('getMergeStatus', { pull: closed })).body.state, 'closed')
  assert.deepEqual((await ask('listPulls', { repo, state: 'no-such-state' })).body.pulls, [])
})
