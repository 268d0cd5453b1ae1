import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { openDatabase } from '../../src/indexer/database.ts'
import { type Indexed, startIndexed } from '../support/indexed.ts'

let network: Network
let indexed: Indexed
let pull: string
const now = () => new Date().toISOString()

before(async () => {
  network = await startNetwork()
  const alice = await network.createAccount('alice.test')
  const record = { defaultBranch: 'main', collaborators: [], runners: [], createdAt: now() }
  const { uri: repo } = await alice.create('dev.knotless.repo', record, 'orchard')
  indexed = await startIndexed(network)
  const written = { repo, branch: 'main', head: { repo, branch: 'topic' }, title: 'Ripen', createdAt: now() }
  pull = (await alice.create('dev.knotless.pull', written)).uri
  // More accounts at one server than are read at once.
  for (const name of ['ann', 'ben', 'cal', 'dan', 'eve', 'fay'])
    await (await network.createAccount(`${name}.test`)).create('dev.knotless.pull', written)
  await indexed.caughtUp()
})
after(async () => {
  await indexed?.close()
  await network?.stop()
})

/** `knotless index …` as a person runs it, beside a server that follows the network. */
function knotless(...words: string[]): Promise<{ code: number; out: string }> {
  const env = {
    PATH: process.env.PATH,
    KNOTLESS_PUBLIC_URL: 'http://127.0.0.1:2590',
    KNOTLESS_SECRET: 'a secret that is long enough for a test of the command line',
    KNOTLESS_ALLOW_LOOPBACK: 'true',
    KNOTLESS_DB: join(indexed.dir, 'index.sqlite'),
    KNOTLESS_DATA: indexed.dir,
    KNOTLESS_JETSTREAM: network.jetstreamUrl,
    KNOTLESS_RELAY: network.relayUrl,
    KNOTLESS_PLC: network.plcUrl,
    KNOTLESS_HANDLE_RESOLVER: network.pdsUrl,
  }
  const program = join(import.meta.dirname, '../../src/cli/main.ts')
  return new Promise(resolve => {
    execFile(process.execPath, [program, 'index', ...words], { env }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), out: `${stdout}${stderr}` })
    })
  })
}

test('the command says that an index is what people’s servers hold', async () => {
  const { code, out } = await knotless('compare')
  assert.match(out, /8 records and 1 repository .* the same/)
  assert.equal(code, 0)
})

test('it names what differs, and tells programs by its exit code', async () => {
  const other = openDatabase(join(indexed.dir, 'index.sqlite'))
  other.sqlite.prepare(`update record set cid = 'bafytampered' where uri = ?`).run(pull)
  await other.close()
  const { code, out } = await knotless('compare')
  assert.ok(out.includes(`differs: record ${pull}`), out)
  assert.equal(code, 1)
})

test('what it cannot do it says in a line', async () => {
  assert.equal((await knotless('polish')).code, 2)
  assert.match((await knotless('--help')).out, /Usage: knotless index compare/)
})
