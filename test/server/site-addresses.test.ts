import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { madeUp, type Orchard, plantOrchard } from './orchard.ts'
import { type Served, serve } from './serve.ts'

let server: Served
let orchard: Orchard
before(async () => {
  server = await serve()
  orchard = await plantOrchard(server.context, { handles: { [madeUp.owner]: 'alice.test', [madeUp.author]: 'carol.test' } })
})
after(async () => {
  await orchard?.stop()
  await server?.end()
})

async function get(path: string) {
  const answer = await fetch(server.url + path, { redirect: 'manual' })
  return { status: answer.status, location: answer.headers.get('location'), text: (await answer.text()).replace(/\s+/g, ' ') }
}

test('an address with a slash too many leads to the one without', async () => {
  for (const path of ['/alice.test/orchard', '/alice.test/orchard/queue/main', '/login']) {
    const { status, location } = await get(`${path}/?q=x`)
    assert.deepEqual([status, location], [301, `${path}?q=x`])
  }
  assert.equal((await get('/alice.test/orchard/pear/')).status, 301)
  assert.equal((await get('/alice.test/orchard/pear')).status, 404)
})

test('the address of an account leads to what it owns, by handle and by DID', async () => {
  assert.deepEqual([(await get('/alice.test')).status, (await get('/alice.test')).location], [302, '/?q=alice.test'])
  assert.equal((await get(`/${madeUp.owner}`)).location, '/?q=alice.test')
  for (const path of ['/carol.test', '/nobody.test', '/pear']) assert.equal((await get(path)).status, 404, path)
  for (const q of ['alice.test', madeUp.owner, 'alic', 'orch']) assert.match((await get(`/?q=${q}`)).text, /alice\.test\/orchard/)
  assert.match((await get('/?q=carol.test')).text, /carol\.test<\/bdi><\/a> owns no repository that this server knows\./)
  assert.match((await get('/?q=pear')).text, /Nothing here is called “pear”/)
})

test('what a link to a pull shows elsewhere says where it stands, whose it is and onto what', async () => {
  const [uri = ''] = orchard.pulls
  const { text } = await get(`/alice.test/orchard/pulls/carol.test/${uri.slice(uri.lastIndexOf('/') + 1)}`)
  assert.match(text, /<meta property="og:title" content="Open · [^"]+ · alice\.test\/orchard">/)
  assert.match(text, /<meta property="og:description" content="Open\. By carol\.test, onto main\.">/)
})

test('addresses that only forms are sent to lead to the page of the form', async () => {
  const [uri = ''] = orchard.pulls
  const pull = `/alice.test/orchard/pulls/carol.test/${uri.slice(uri.lastIndexOf('/') + 1)}`
  for (const [path, page] of [
    [`${pull}/queue`, pull],
    [`${pull}/merge?x=1`, pull],
    ['/settings/delegation/give', '/settings'],
    ['/settings/delegation/withdraw', '/settings'],
    ['/settings/sessions/abc/end', '/settings'],
    ['/settings/sessions/end-others', '/settings'],
  ] as const) {
    const { status, location } = await get(path)
    assert.deepEqual([status, location], [303, page], path)
  }
  for (const path of [`${pull}/nothing`, '/settings/delegation/nothing']) assert.equal((await get(path)).status, 404, path)
  assert.equal((await get('//evil.example/settings/general')).location ?? '/', '/')
})
