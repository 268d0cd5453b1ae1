import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { commit, git as gitIn, newRepo } from '../git/support.ts'
import { until } from '../support/until.ts'
import { type GitWorld, git, gitOk, programsIn, startGitWorld } from './git-world.ts'

let world: GitWorld
let url: string
let want: string
before(async t => {
  world = await startGitWorld({ env: { KNOTLESS_GIT_PROCESSES: '2', KNOTLESS_GIT_IDLE: '1' } })
  assert.ok('after' in t)
  const dir = newRepo(t)
  commit(dir, 'main', { 'large.bin': randomBytes(24 * 2 ** 20) })
  want = gitIn(dir, ['rev-parse', 'main'])
  url = await world.plant('large', dir, ['refs/heads/main'])
})
after(() => world?.end())

const headers = { 'content-type': 'application/x-git-upload-pack-request', 'git-protocol': 'version=2' }
const fetchAll = () => `0011command=fetch0001${`0032want ${want}\n`}0009done\n0000`

/** Asks for the whole repository, and reads nothing of the answer but that it begins. */
function ask(): { request: ClientRequest; begun: Promise<IncomingMessage> } {
  const { promise, resolve } = Promise.withResolvers<IncomingMessage>()
  const outgoing = request(`${url}/git-upload-pack`, { method: 'POST', headers, agent: false }, resolve)
  outgoing.on('error', () => undefined)
  outgoing.end(fetchAll())
  return { request: outgoing, begun: promise }
}

const nothingRuns = async () => (await programsIn(world.server.dir)).length === 0

test('a client that goes in the middle of a clone leaves no program behind', async () => {
  const asked = ask()
  const answer = await asked.begun
  await new Promise(resolve => answer.once('data', resolve))
  answer.pause()
  assert.ok((await programsIn(world.server.dir)).length > 0, 'it runs while the client reads')
  asked.request.destroy()
  await until(nothingRuns, { timeout: 5_000 })
})

test('a client that reads nothing more is cut off, and its program ends', async () => {
  const asked = ask()
  const answer = await asked.begun
  answer.on('error', () => undefined)
  assert.ok((await programsIn(world.server.dir)).length > 0)
  await until(nothingRuns, { timeout: 10_000 })
  await gitOk(['ls-remote', url])
})

test('a client that sends its request a letter at a time holds up nobody, and is cut off', async () => {
  const { hostname, port, pathname } = new URL(`${url}/git-upload-pack`)
  const slow = connect(Number(port), hostname)
  let heard = ''
  slow.on('data', chunk => (heard += chunk)).on('error', () => undefined)
  slow.write(`POST ${pathname} HTTP/1.1\r\nhost: x\r\ncontent-type: ${headers['content-type']}\r\ncontent-length: 5000\r\n\r\n0`)
  const trickle = setInterval(() => slow.write('0'), 200)
  await gitOk(['ls-remote', url])
  await until(() => slow.closed || heard !== '', { timeout: 10_000 })
  clearInterval(trickle)
  assert.match(heard, /^HTTP\/1\.1 408 /)
  assert.match(heard, /The request came too slowly\./)
  slow.destroy()
})

test('more clones at once than there is room for are told to come again, and others are served when there is', async () => {
  const asked = Array.from({ length: 10 }, ask)
  await until(async () => (await programsIn(world.server.dir)).length >= 2)
  const refused = await until(async () => {
    const ran = await git(['ls-remote', url])
    return ran.code !== 0 && ran
  })
  assert.match(refused.err, /^remote: Too many clones, fetches and pushes at once\. Try again in 10 s\.$/m)
  const answer = await fetch(`${url}/info/refs?service=git-upload-pack`)
  if (answer.status === 503) assert.equal(answer.headers.get('retry-after'), '10')
  for (const one of asked) one.request.destroy()
  await until(nothingRuns, { timeout: 10_000 })
  await gitOk(['ls-remote', url])
})

test('once somebody has cloned a large repository, its mirror is put in order for the next', async () => {
  await gitOk(['clone', '-q', '--bare', url, join(world.dir, 'whole')])
  const bitmaps = () => readdirSync(join(world.server.dir, 'mirrors'), { recursive: true }).some(path => String(path).endsWith('.bitmap'))
  await until(bitmaps)
  await until(nothingRuns)
  await gitOk(['clone', '-q', '--bare', url, join(world.dir, 'again')])
})
