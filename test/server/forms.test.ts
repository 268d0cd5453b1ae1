import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Served, serve } from './serve.ts'
import { tokenOn, Visitor } from './visitor.ts'

let server: Served
before(async () => {
  server = await serve()
})
after(() => server?.end())

async function openForm(): Promise<{ visitor: Visitor; token: string }> {
  const visitor = new Visitor()
  const page = await visitor.get(`${server.url}/login`)
  assert.equal(page.status, 200)
  return { visitor, token: tokenOn(page.text) }
}

test('a form with its token is taken', async () => {
  const { visitor, token } = await openForm()
  const answer = await visitor.post(`${server.url}/login`, { handle: '???', _csrf: token })
  assert.equal(answer.status, 400)
  assert.match(answer.text, /That is no handle and no DID/)
  assert.match(answer.text, /value="\?\?\?"/, 'what was typed is still there')
})

test('a form without its token, or with the token of another browser, does nothing and loses nothing', async () => {
  const { visitor } = await openForm()
  const other = await openForm()
  for (const token of ['', 'x', other.token, 'A'.repeat(200)]) {
    const answer = await visitor.post(`${server.url}/login`, {
      handle: 'alice.test',
      next: '/a/b',
      ...(token === '' ? {} : { _csrf: token.slice(0, 64) }),
    })
    assert.equal(answer.status, 403)
    assert.match(answer.text, /This form is too old/)
    assert.match(answer.text, /value="alice.test"/)
    assert.match(answer.text, /name="next" value="\/a\/b"/)
  }
})

test('a browser without any cookie cannot send a form', async () => {
  const { token } = await openForm()
  const answer = await new Visitor().post(`${server.url}/login`, { handle: 'alice.test', _csrf: token })
  assert.equal(answer.status, 403)
})

test('a form that another site sends is refused, whatever it carries', async () => {
  const { visitor, token } = await openForm()
  const elsewhere: Record<string, string>[] = [
    { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:9' },
    { 'sec-fetch-site': 'cross-site' },
    { origin: 'null' },
    { origin: `http://localhost:${new URL(server.url).port}` },
    { 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' },
  ]
  for (const path of ['/login', '/logout', '/settings/sessions/abc/end', '/settings/sessions/end-others']) {
    for (const headers of elsewhere) {
      const answer = await visitor.send('POST', `${server.url}${path}`, { body: { handle: '???', _csrf: token }, headers })
      assert.equal(answer.status, 403, `${path} ${JSON.stringify(headers)}`)
      assert.match(answer.text, /sent from another site/)
    }
  }
})

test('the token may come in a header, as scripts send it', async () => {
  const { visitor, token } = await openForm()
  const answer = await visitor.post(`${server.url}/logout`, {}, { 'x-csrf-token': token })
  assert.equal(answer.status, 303)
  assert.equal(answer.headers.location, '/')
})

test('a form of a session that has ended leads to the door, and back to the page it was on', async () => {
  const visitor = new Visitor()
  const cookie = server.context.cookies.session
  visitor.cookies(server.url).set(cookie, 'a'.repeat(43))
  const answer = await visitor.post(
    `${server.url}/settings/sessions/end-others`,
    { _csrf: 'x' },
    { referer: `${server.url}/alice.test/orchard/queue/main?q=1` },
  )
  assert.equal(answer.status, 303)
  assert.equal(answer.headers.location, '/login?next=%2Falice.test%2Forchard%2Fqueue%2Fmain%3Fq%3D1')
  const away = await visitor.post(`${server.url}/logout`, { _csrf: 'x' }, { referer: 'https://evil.example/x' })
  assert.equal(away.headers.location, '/login')
  const script = await visitor.post(`${server.url}/logout`, { _csrf: 'x' }, { 'hx-request': 'true', 'hx-current-url': `${server.url}/a/b` })
  assert.equal(script.status, 401)
  assert.equal(script.headers['hx-redirect'], '/login?next=%2Fa%2Fb')
  const door = await visitor.get(`${server.url}/login`)
  assert.match(door.text, /Your log-in has ended/)
  assert.equal(visitor.cookies(server.url).has(cookie), false, 'the dead cookie is taken away')
})

test('cookies are out of reach of scripts and of other sites', async () => {
  const page = await new Visitor().get(`${server.url}/login`)
  const [line = ''] = page.headers['set-cookie'] ?? []
  assert.match(line, /; HttpOnly/)
  assert.match(line, /; SameSite=Lax/)
  assert.doesNotMatch(line, /; Secure/, 'loopback is plain http')
})

test('reading pages sets no cookie', async () => {
  const page = await new Visitor().get(`${server.url}/nowhere`)
  assert.equal(page.headers['set-cookie'], undefined)
})
