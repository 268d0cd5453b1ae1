import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { DevAccount } from '../../src/devnet/account.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { ignoredCounts } from '../../src/indexer/read.ts'
import { tidAt } from '../../src/queue/tid.ts'
import { startIndexed } from '../support/indexed.ts'
import { until } from '../support/until.ts'

let network: Network
let alice: DevAccount
let carol: DevAccount

before(async () => {
  network = await startNetwork()
  alice = await network.createAccount('alice.test')
  carol = await network.createAccount('carol.test')
})
after(() => network.stop())

test('REC-11 who is read before the repositories that they name are known loses nothing by it', async t => {
  const now = () => new Date().toISOString()
  const record = { defaultBranch: 'main', collaborators: [{ did: carol.did }], runners: [], createdAt: now() }
  const { uri: repo } = await alice.create('dev.knotless.repo', record, 'orchard')
  await carol.create('dev.knotless.repo', { ...record, collaborators: [] }, 'fork')
  const start = Date.now()
  for (let n = 0; n < 20; n++) {
    const pull = { repo, branch: 'main', head: { repo, branch: 'topic' }, title: `Pull ${n}`, createdAt: now() }
    const { uri } = await carol.create('dev.knotless.pull', pull, tidAt(start + n))
    await carol.create('dev.knotless.queue', { repo, subject: uri, state: 'queued', createdAt: now() }, tidAt(start + n))
  }
  await network.settled()

  network.faults.add({ fault: 'stall', method: 'com.atproto.repo.listRecords', account: alice.did })
  network.faults.add({ fault: 'stall', method: 'com.atproto.repo.getRecord', account: alice.did })
  // Of what was written before, it learns by reading alone.
  const indexed = await startIndexed(network, { waiting: { total: 10, perAccount: 5, forMs: 60_000 }, stream: { overlapMs: 0 } })
  t.after(() => indexed.close())
  await until(() => (ignoredCounts(indexed.index).get('waiting-full') ?? 0) >= 35, { what: 'records that find no room to wait' })
  network.faults.clear()
  const count = (table: 'pull' | 'queue_record') =>
    indexed.index.sync.first(indexed.index.db.selectFrom(table).select(eb => eb.fn.countAll<number>().as('n')))?.n
  await until(() => count('pull') === 20 && count('queue_record') === 20, { timeout: 60_000, what: 'all of them' })
  await indexed.caughtUp()
  assert.deepEqual([count('pull'), count('queue_record')], [20, 20])
  assert.deepEqual(indexed.failures, [])
})
