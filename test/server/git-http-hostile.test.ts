import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { constants, deflateRawSync, gzipSync } from 'node:zlib'
import type { DevAccount } from '../../src/devnet/account.ts'
import { flushPkt, pktLine } from '../../src/git/pkt-line.ts'
import { ObjectMaker } from '../git/pack-writer.ts'
import { until } from '../support/until.ts'
import { auditOf, type GatewayWorld, type Planted, startGatewayWorld } from './gateway-world.ts'
import { addressOf, cloneOf, tokenFor } from './git-push-world.ts'
import { programsIn } from './git-world.ts'

let world: GatewayWorld
let dir: string
let grove: Planted
before(async () => {
  dir = mkdtempSync(join(tmpdir(), 'knotless-git-hostile-'))
  world = await startGatewayWorld({ env: { KNOTLESS_PUSH_MIB: '4', KNOTLESS_GIT_IDLE: '2' } })
  grove = await world.plant('grove')
})
after(async () => {
  await world?.end()
  rmSync(dir, { recursive: true, force: true })
})

const zero = '0'.repeat(40)

async function headersFor(by: DevAccount): Promise<Record<string, string>> {
  const password = await tokenFor(world, by)
  return {
    authorization: `Basic ${Buffer.from(`x:${password}`).toString('base64')}`,
    'content-type': 'application/x-git-receive-pack-request',
  }
}

function requestOf(commands: readonly string[], pack: Uint8Array = Buffer.alloc(0), more = ''): Buffer {
  const can = `report-status side-band-64k${more}`
  const lines = commands.map((line, at) => pktLine(at === 0 ? `${line}\0${can}` : line))
  return Buffer.concat([...lines, flushPkt, pack])
}

/** What the server says to a push that no stock client would send: report lines, and lines for people. */
async function push(commands: readonly string[], pack?: Uint8Array, more?: string): Promise<{ report: string[]; remote: string }> {
  const headers = await headersFor(world.people.bob)
  const body = requestOf(commands, pack, more)
  const answer = await fetch(`${addressOf(world, 'grove')}/git-receive-pack`, { method: 'POST', headers, body })
  assert.equal(answer.status, 200)
  return heard(Buffer.from(await answer.arrayBuffer()))
}

function heard(answer: Buffer): { report: string[]; remote: string } {
  const bands: Record<number, Buffer> = { 1: Buffer.alloc(0), 2: Buffer.alloc(0) }
  for (const payload of payloads(answer)) {
    const band = payload[0] ?? 0
    bands[band] = Buffer.concat([bands[band] ?? Buffer.alloc(0), payload.subarray(1)])
  }
  const report = [...payloads(bands[1] ?? Buffer.alloc(0))].map(line => line.toString().trimEnd())
  return { report, remote: (bands[2] ?? '').toString() }
}

function* payloads(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const length = Number.parseInt(bytes.toString('latin1', at, at + 4), 16)
    if (length === 0) return
    yield bytes.subarray(at + 4, at + length)
    at += length
  }
}

function nothingLeft(): boolean {
  const mirrors = join(world.server.dir, 'mirrors')
  return readdirSync(mirrors, { recursive: true }).every(path => !/quarantine\/[^/]+$/.test(String(path)))
}

async function mainStands(): Promise<void> {
  const refs = await grove.refs()
  assert.deepEqual([...refs], [['main', grove.tip]])
  assert.ok(nothingLeft())
  assert.deepEqual(await programsIn(world.server.dir), [])
}

/** A pack with one commit on the tip whose tree holds these entries. */
function packOf(entries: (made: ObjectMaker) => { mode: string; name: string; id: string }[]): { pack: Buffer; commit: string } {
  const made = new ObjectMaker()
  const commit = made.commit(made.tree(entries(made)), [grove.tip])
  return { pack: made.pack(), commit }
}

test('STO-11 a path into .git, links that lead out, and doubled names are refused before anything is written, with an audit line', async () => {
  const trees: Record<string, (made: ObjectMaker) => { mode: string; name: string; id: string }[]> = {
    '.git': made => [{ mode: '40000', name: '.git', id: made.tree([{ mode: '100644', name: 'config', id: made.add('blob', 'x') }]) }],
    '.GIT': made => [{ mode: '100644', name: '.GIT', id: made.add('blob', 'x') }],
    '..': made => [{ mode: '40000', name: '..', id: made.tree([{ mode: '100644', name: 'x', id: made.add('blob', 'x') }]) }],
    'a/b': made => [{ mode: '100644', name: 'a/b', id: made.add('blob', 'x') }],
    'a link and a folder of one name': made => {
      const folder = made.tree([{ mode: '100644', name: 'x', id: made.add('blob', 'x') }])
      return [
        { mode: '120000', name: 'a', id: made.add('blob', '/etc') },
        { mode: '40000', name: 'a', id: folder },
      ]
    },
  }
  for (const [what, entries] of Object.entries(trees)) {
    const { pack, commit } = packOf(entries)
    const { report } = await push([`${grove.tip} ${commit} refs/heads/main`], pack)
    assert.match(report[0] ?? '', /^unpack git refuses/i, what)
    assert.match(report[1] ?? '', /^ng refs\/heads\/main /, what)
    await mainStands()
  }
  const lines = auditOf(world.server, world.people.alice).filter(line => line.repo === grove.uri)
  assert.equal(lines.length, Object.keys(trees).length)
  assert.deepEqual(new Set(lines.map(line => line.code)), new Set(['bad-pack']))
})

test('STO-11 folders too deep, and more files than there is memory, are refused before anything walks them, also on a new branch', async () => {
  const nested = (depth: number, width: number) => (made: ObjectMaker) => {
    let id = made.add('blob', 'x')
    for (let level = 0; level < depth; level++) {
      const mode = level === 0 ? '100644' : '40000'
      const inner = id
      id = made.tree(Array.from({ length: width }, (_, n) => ({ mode, name: String.fromCharCode(97 + n), id: inner })))
    }
    return [{ mode: '40000', name: 'deep', id }]
  }
  for (const [entries, said] of [
    [nested(600, 1), /^unpack .*512/],
    [nested(11, 10), /^unpack .*500,000/],
  ] as const) {
    for (const command of [`${grove.tip} COMMIT refs/heads/main`, `${'0'.repeat(40)} COMMIT refs/heads/deep`]) {
      const { pack, commit } = packOf(entries)
      const { report } = await push([command.replace('COMMIT', commit)], pack)
      assert.match(report[0] ?? '', said)
      await mainStands()
    }
  }
})

test('STO-11 a pack whose objects lead nowhere, or stand on what is not here, is refused', async () => {
  const alone = new ObjectMaker()
  const orphan = alone.commit('1'.repeat(40), [grove.tip])
  const links = await push([`${grove.tip} ${orphan} refs/heads/main`], alone.pack())
  assert.match(links.report[0] ?? '', /^unpack .*leads to objects that the repository does not hold/)
  const { pack, commit } = packOf(made => [{ mode: '100644', name: 'a', id: made.add('blob', 'x') }])
  for (const broken of [
    pack.subarray(0, -30),
    Buffer.concat([pack.subarray(0, -1), Buffer.of(0)]),
    Buffer.from('PACK'),
    randomBytes(1_000),
  ]) {
    const { report } = await push([`${grove.tip} ${commit} refs/heads/main`], broken)
    assert.match(report[0] ?? '', /^unpack (?!ok)/)
  }
  await mainStands()
})

test('STO-11 a push of a commit that it does not bring is refused', async () => {
  const { report } = await push([`${grove.tip} ${'1'.repeat(40)} refs/heads/main`])
  assert.match(report[1] ?? '', /^ng refs\/heads\/main /)
  await mainStands()
})

test('STO-11 a thousand times as many zeros as are sent are refused', async () => {
  const bytes = 256 * 2 ** 20
  const body = zeros(bytes)
  assert.ok(body.length < bytes / 900)
  const head = Buffer.from('PACK\0\0\0\x02\0\0\0\x01', 'latin1')
  const sized = Buffer.concat([head, sizeOf(3, bytes), body])
  const pack = Buffer.concat([sized, createHash('sha1').update(sized).digest()])
  const { report } = await push([`${grove.tip} ${'1'.repeat(40)} refs/heads/main`], pack)
  assert.match(report[0] ?? '', /^unpack .*has 256 MiB; at most 100 MiB are taken/)
  await mainStands()
})

test('STO-11 names that are none are refused by name, and the good one beside them goes', async () => {
  const names = [
    'refs/heads/../../x',
    'refs/heads/a..b',
    'refs/remotes/origin/x',
    'HEAD',
    'refs/heads/x.lock',
    'refs/heads/a b',
    '../../../etc/x',
    'refs/heads/-',
  ]
  const { report } = await push(
    [...names, 'refs/heads/fine'].map(name => `${zero} ${grove.tip} ${name}`),
    emptyPack(),
  )
  assert.equal(report[0], 'unpack ok')
  for (const name of names.slice(0, -1)) {
    assert.ok(
      report.some(line => line.startsWith(`ng ${name} Not pushed: only branches and tags are kept here`)),
      name,
    )
  }
  assert.ok(report.includes('ok refs/heads/fine'), report.join('\n'))
  const refs = await grove.refs()
  assert.equal(refs.get('fine'), grove.tip)
  await push([`${grove.tip} ${zero} refs/heads/fine`, ...(refs.has('-') ? [`${grove.tip} ${zero} refs/heads/-`] : [])])
  await mainStands()
})

test('STO-11 ten thousand refs in one push are refused before the pack is read, with an audit line', async () => {
  const commands = Array.from({ length: 10_000 }, (_, n) => `${zero} ${grove.tip} refs/heads/many-${n}`)
  const { report, remote } = await push(commands, emptyPack())
  assert.deepEqual(report, ['unpack More than 1,000 refs in one push'])
  assert.equal(remote, 'More than 1,000 refs in one push.\n')
  await mainStands()
  const line = auditOf(world.server, world.people.alice).at(-1)
  assert.deepEqual([line?.code, line?.caller], ['too-large', world.people.bob.did])
})

test('a request that is none of git’s is refused in words', async () => {
  const headers = await headersFor(world.people.bob)
  const url = `${addressOf(world, 'grove')}/git-receive-pack`
  const answer = await fetch(url, { method: 'POST', headers, body: 'not a packet' })
  assert.match(heard(Buffer.from(await answer.arrayBuffer())).report[0] ?? '', /^unpack /)
  const zipped = await fetch(url, { method: 'POST', headers: { ...headers, 'content-encoding': 'gzip' }, body: gzipSync(requestOf(['x'])) })
  assert.equal(zipped.status, 415)
  const typed = await fetch(url, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body: '{}' })
  assert.equal(typed.status, 415)
  const anonymous = await fetch(url, { method: 'POST', headers: { 'content-type': headers['content-type'] ?? '' }, body: requestOf(['x']) })
  assert.equal(anonymous.status, 401)
  const options = await push([`${zero} ${grove.tip} refs/heads/x`], emptyPack(), ' push-options')
  assert.match(options.report[0] ?? '', /^unpack .*options/i)
})

test('a large push comes in pieces after a probe and is taken; one over the bound is refused in words', async () => {
  const clone = await cloneOf(world, 'grove', dir)
  await clone.git('checkout', '-q', '-b', 'large')
  await clone.commit({ 'large.txt': randomBytes(1_200_000).toString('base64') })
  const fits = await clone.push(world.people.bob, 'HEAD:refs/heads/large')
  assert.equal(fits.code, 0, fits.err)
  await clone.commit({ 'larger.txt': randomBytes(6 * 2 ** 20).toString('base64') })
  const over = await clone.push(world.people.bob, 'HEAD:refs/heads/large')
  assert.match(over.err, /error: remote unpack failed: The push (holds more than|is larger than) 4 MiB/)
  assert.equal((await clone.push(world.people.bob, ':refs/heads/large')).code, 0)
  await mainStands()
})

test('a client that goes in the middle of a push leaves nothing behind', async () => {
  const headers = { ...(await headersFor(world.people.bob)), 'transfer-encoding': 'chunked' }
  const { pack, commit } = packOf(made => [{ mode: '100644', name: 'a', id: made.add('blob', randomBytes(200_000)) }])
  const outgoing = request(`${addressOf(world, 'grove')}/git-receive-pack`, { method: 'POST', headers, agent: false })
  outgoing.on('error', () => undefined)
  outgoing.write(requestOf([`${grove.tip} ${commit} refs/heads/main`], pack.subarray(0, 100_000)))
  await until(async () => !nothingLeft() && (await programsIn(world.server.dir)).some(line => line.includes('index-pack')))
  outgoing.destroy()
  await until(async () => nothingLeft() && (await programsIn(world.server.dir)).length === 0, { timeout: 10_000 })
  await mainStands()
})

test('a client that sends nothing more in the middle of a push is cut off and leaves nothing behind', async () => {
  const headers = { ...(await headersFor(world.people.bob)), 'transfer-encoding': 'chunked' }
  const { pack, commit } = packOf(made => [{ mode: '100644', name: 'a', id: made.add('blob', randomBytes(200_000)) }])
  const outgoing = request(`${addressOf(world, 'grove')}/git-receive-pack`, { method: 'POST', headers, agent: false })
  const cut = new Promise(resolve => outgoing.on('error', resolve))
  outgoing.write(requestOf([`${grove.tip} ${commit} refs/heads/main`], pack.subarray(0, 100_000)))
  await until(() => !nothingLeft())
  await cut
  await until(async () => nothingLeft() && (await programsIn(world.server.dir)).length === 0, { timeout: 10_000 })
  await mainStands()
})

/** An empty pack, as git sends it where the server has everything. */
function emptyPack(): Buffer {
  return new ObjectMaker().pack()
}

/** So many zeros, compressed as a pack holds them: one piece, again and again. `bytes` is a multiple of a mebibyte. */
function zeros(bytes: number): Buffer {
  const piece = deflateRawSync(Buffer.alloc(2 ** 20), { level: 9, finishFlush: constants.Z_FULL_FLUSH })
  const end = deflateRawSync(Buffer.alloc(0))
  const sum = Buffer.alloc(4)
  sum.writeUInt16BE(bytes % 65_521, 0)
  sum.writeUInt16BE(1, 2)
  return Buffer.concat([Buffer.of(0x78, 0x9c), ...Array.from({ length: bytes / 2 ** 20 }, () => piece), end, sum])
}

/** The head of an object in a pack: its type, and its size seven bits at a time after the first four. */
function sizeOf(type: number, bytes: number): Buffer {
  const out = [(type << 4) | (bytes & 15)]
  for (let left = Math.floor(bytes / 16); left > 0; left = Math.floor(left / 128)) {
    out.push(left & 127)
    out[out.length - 2] = (out.at(-2) ?? 0) | 128
  }
  return Buffer.from(out)
}
