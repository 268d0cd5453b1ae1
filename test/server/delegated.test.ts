import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { after, before, beforeEach, test } from 'node:test'
import { parseDid } from '../../src/atproto/ids.ts'
import { dev } from '../../src/lexicons/index.ts'
import { until } from '../support/until.ts'
import { madeUp, type Orchard, plantOrchard } from './orchard.ts'
import { type Served, serve } from './serve.ts'
import { Visitor } from './visitor.ts'

let server: Served
let orchard: Orchard
const owner = parseDid(madeUp.owner)

before(async () => {
  server = await serve()
  const handles = { [madeUp.owner]: 'alice.test', [madeUp.collaborator]: 'bob.test' }
  orchard = await plantOrchard(server.context, { handles, delegated: false })
  await orchard.queue(orchard.pulls[0] ?? '')
})
after(async () => {
  await orchard?.stop()
  await server?.end()
})
beforeEach(async () => {
  assert(owner !== undefined)
  await server.context.delegations.withdraw(owner)
})

async function status() {
  const answer = await fetch(`${server.url}/xrpc/dev.knotless.getMergeStatus?pull=${encodeURIComponent(orchard.pulls[1] ?? '')}`)
  return dev.knotless.getMergeStatus.main.output.schema.parse(await answer.json())
}

async function give(): Promise<void> {
  assert(owner !== undefined)
  server.context.delegations.given(owner)
}

async function pageOf(account: string, path: string): Promise<string> {
  const visitor = new Visitor()
  const { id } = await server.context.sessions.begin({ did: account }, undefined)
  visitor.cookies(server.url).set(server.context.cookies.session, id)
  return (await visitor.get(`${server.url}${path}`)).text
}

const pullPath = () => `/alice.test/orchard/pulls/${madeUp.author}/${orchard.pulls[1]?.split('/').at(-1)}`

test('ADM-10 the merge status says whether the owner delegated and where they can, and a change is in the next answer', async () => {
  const settingsUrl = `${server.url}/settings#delegation`
  const before = await status()
  assert.deepEqual([before.gateway.delegated, before.gateway.settingsUrl], [false, settingsUrl])
  assert.equal(before.can.queue.refusal?.code, 'not-delegated')
  assert.match(before.can.queue.refusal?.advice ?? '', /^Ask alice\.test to give the delegation in their settings \(http:\/\/127/)
  await give()
  const after = await status()
  assert.deepEqual([after.gateway.delegated, after.can.queue.refusal?.code], [true, 'signed-out'])
  assert(owner !== undefined)
  await server.context.delegations.withdraw(owner)
  assert.equal((await status()).gateway.delegated, false)
})

test('ADM-10 pages refuse to queue, the owner is led to their settings, and others are told whom to ask', async () => {
  const own = await pageOf(madeUp.owner, pullPath())
  assert.match(own, /This server may not land pulls for you/)
  assert.match(own, /href="[^"]*\/settings#delegation"/)
  const others = await pageOf(madeUp.collaborator, pullPath())
  assert.match(others, /This server may not land pulls for/)
  assert.match(others, /to give the delegation in their settings \(<code>[^<]*\/settings#delegation<\/code>\)/)
  assert(!others.includes('Add to merge queue'))
  await give()
  assert.doesNotMatch(await pageOf(madeUp.owner, pullPath()), /may not land pulls/)
})

test('GWY-7 Settings name the repositories that wait for a delegation, with how many are queued', async () => {
  assert.match(
    await pageOf(madeUp.owner, '/settings'),
    /1 repository waits for it: <a href="\/alice\.test\/orchard">[^<]*<bdi>alice\.test\/orchard<\/bdi><\/a> with 1 queued/,
  )
  await give()
  assert.doesNotMatch(await pageOf(madeUp.owner, '/settings'), /waits? for it/)
})

test('STA-4 the queue page says that it cannot land, and an open page is told of a change of the delegation at once', async () => {
  const path = '/alice.test/orchard/queue/main'
  assert.match(await pageOf(madeUp.collaborator, path), /no lander has been seen/, 'what comes first is said first')
  await server.context.indexer.settled()
  const page = await (await fetch(`${server.url}${path}`)).text()
  const live = /data-stream="([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&')
  assert(live !== undefined, 'the page watches')
  // As of an older page, so that it is told of a change at once: from then on it listens.
  const stream = request(`${server.url}${live.replace(/%40\d+$/, '%401')}`).end()
  try {
    const [answer] = await once(stream, 'response')
    let heard = ''
    answer.setEncoding('utf8').on('data', (text: string) => {
      heard += text
    })
    answer.on('error', () => undefined)
    const changes = () => heard.split('event: changed').length - 1
    await until(() => changes() === 1, { what: 'the stream to be open' })
    await give()
    await until(() => changes() === 2, { what: 'the page to be told' })
  } finally {
    stream.destroy()
  }
})
