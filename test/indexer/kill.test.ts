import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { DevAccount } from '../../src/devnet/account.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { accountsIn, compareIndexes, rebuildIndex } from '../../src/indexer/compare.ts'
import { openDatabase } from '../../src/indexer/database.ts'
import { foldRepository } from '../../src/queue/fold.ts'
import { tidAt } from '../../src/queue/tid.ts'
import { startIndexed } from '../support/indexed.ts'
import { until } from '../support/until.ts'

/** `KNOTLESS_KILL_RECORDS=10000` is the long form. */
const records = Number(process.env.KNOTLESS_KILL_RECORDS ?? 2_000)
const kills = 4

let network: Network
let alice: DevAccount
let carol: DevAccount
let repo: string
let lastKey = Date.now()
const nextKey = () => tidAt(++lastKey)
const now = () => new Date().toISOString()

before(async () => {
  network = await startNetwork()
  alice = await network.createAccount('alice.test')
  carol = await network.createAccount('carol.test')
  const record = { defaultBranch: 'main', collaborators: [{ did: carol.did }], runners: [], createdAt: now() }
  repo = (await alice.create('dev.knotless.repo', record, 'orchard')).uri
})
after(() => network.stop())

type Write = Record<string, unknown>

/** Opens pulls, queues some, edits some and deletes some, 100 writes a commit. */
async function writeAll(count: number, written: (n: number) => void): Promise<void> {
  const keys: string[] = []
  for (let n = 0; n < count; n += 100) {
    const writes: Write[] = []
    for (let i = 0; i < 100; i++) writes.push(...oneWrite(keys, n + i))
    await carol.call('com.atproto.repo.applyWrites', { input: { repo: carol.did, writes } })
    written(n + 100)
  }
}

function oneWrite(keys: string[], n: number): Write[] {
  const value = {
    $type: 'dev.knotless.pull',
    repo,
    branch: 'main',
    head: { repo, branch: 'topic' },
    title: `number ${n}`,
    createdAt: now(),
  }
  const collection = 'dev.knotless.pull'
  const old = keys[Math.floor(n / 2)]
  if (n % 5 === 1 && old !== undefined) {
    const entry = {
      $type: 'dev.knotless.queue',
      repo,
      subject: `at://${carol.did}/${collection}/${old}`,
      state: 'queued',
      createdAt: now(),
    }
    return [{ $type: 'com.atproto.repo.applyWrites#create', collection: 'dev.knotless.queue', rkey: nextKey(), value: entry }]
  }
  if (n % 97 === 96) {
    const gone = keys.shift()
    return gone === undefined ? [] : [{ $type: 'com.atproto.repo.applyWrites#delete', collection, rkey: gone }]
  }
  const rkey = nextKey()
  // One commit cannot touch a record twice: what is made in it is open for edits in the next ones.
  setImmediate(() => keys.push(rkey))
  return [{ $type: 'com.atproto.repo.applyWrites#create', collection, rkey, value }]
}

async function startChild(dir: string): Promise<ChildProcess> {
  const { plcUrl, pdsUrl, jetstreamUrl, relayUrl } = network
  const argument = JSON.stringify({ dir, network: { plcUrl, pdsUrl, jetstreamUrl, relayUrl } })
  const child = fork(join(import.meta.dirname, 'ingesting-child.ts'), [argument], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] })
  await once(child.stdout ?? child, 'data')
  return child
}

async function killed(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

test(`killed with -9 while ${records} records stream in, and started again, the index equals one built from scratch`, async t => {
  const dir = mkdtempSync(join(tmpdir(), 'knotless-killed-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  let child = await startChild(dir)
  t.after(() => child.kill('SIGKILL'))
  let written = 0
  const writing = writeAll(records, n => {
    written = n
  })
  for (let n = 1; n <= kills; n++) {
    await until(() => written >= (records * n) / (kills + 1), { timeout: 120_000, what: 'the next kill' })
    await killed(child)
    child = await startChild(dir)
  }
  await writing
  await killed(child)

  const kept = openDatabase(join(dir, 'index.sqlite'))
  assert.equal(kept.sqlite.pragma('integrity_check', { simple: true }), 'ok')
  await kept.close()
  const indexed = await startIndexed(network, { dir })
  t.after(() => indexed.close())
  await indexed.caughtUp()
  const { identity, reader, index } = indexed
  const failed = (error: unknown) => assert.fail(String(error))
  const built = await rebuildIndex({ path: ':memory:', accounts: accountsIn(index), identity, reader, now: Date.now, failed })
  t.after(() => built.close())
  const result = compareIndexes(index, built.index, foldRepository, Date.now())
  assert.deepEqual({ ...result, records: 0, repositories: 0 }, { records: 0, repositories: 0, differences: [], more: 0 })
  assert.ok(result.records > records * 0.9, `${result.records} records were compared`)
  assert.deepEqual(indexed.failures, [])
  t.diagnostic(`${result.records} records compared after ${kills} kills`)
})
