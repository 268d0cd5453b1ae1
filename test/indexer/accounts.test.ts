import assert from 'node:assert/strict'
import { test } from 'node:test'
import { didOfHandle, findRepository, handlesOf, listRepositories, loadFacts } from '../../src/indexer/read.ts'
import { alice, bob, dave, did, mallory, repoAt } from '../queue/made-up.ts'
import { type Bench, key, openBench, orchard, pullRecord, put, queueRecord, repoRecord, uriOf } from './support.ts'

async function settled(): Promise<Bench> {
  const bench = await openBench()
  await bench.take(put(alice, 'repo', 'orchard', repoRecord(), 1), put(dave, 'pull', key(1), pullRecord(), 2))
  return bench
}

const event = (who: string, active: boolean, timeUs: number, status?: string) => ({
  kind: 'account' as const,
  did: who,
  active,
  status,
  timeUs,
})
const gone = ({ index }: Bench) => [...(loadFacts(index, orchard)?.facts.gone ?? [])]

test('QUE-2 accounts that were deleted, deactivated, suspended or taken down are gone, until they are back', async () => {
  const bench = await settled()
  for (const [n, status] of ['deactivated', 'suspended', 'takendown', 'deleted'].entries()) {
    await bench.take(event(dave, false, 10 + 2 * n, status))
    assert.deepEqual(gone(bench), [dave], status)
    await bench.take(event(dave, true, 11 + 2 * n))
    assert.deepEqual(gone(bench), [])
  }
  await bench.close()
})

test('account events count by their time, whatever order they come in', async () => {
  const bench = await settled()
  await bench.take(event(dave, true, 30), event(dave, false, 20, 'deactivated'))
  assert.deepEqual(gone(bench), [])
  await bench.take(event(dave, false, 40, 'deleted'), event(dave, false, 40, 'deleted'), event(dave, true, 30))
  assert.deepEqual(gone(bench), [dave])
  await bench.close()
})

test('trouble between servers is not the account’s, and accounts of no interest leave nothing', async () => {
  const bench = await settled()
  await bench.take(event(dave, false, 20, 'throttled'), event(dave, false, 21, 'desynchronized'), event(mallory, false, 22, 'deleted'))
  assert.deepEqual(gone(bench), [])
  const rows = bench.index.sync.all(bench.index.db.selectFrom('account').select('did').where('did', '=', mallory))
  assert.deepEqual(rows, [])
  await bench.close()
})

test('an account that comes back is read again', async () => {
  const bench = await settled()
  const { db, sync } = bench.index
  sync.run(db.updateTable('backfill').set({ state: 'done', rev: 'x' }).where('subject', '=', dave))
  await bench.take(event(dave, false, 20, 'deactivated'), event(dave, true, 21))
  assert.equal(sync.first(db.selectFrom('backfill').select('state').where('subject', '=', dave))?.state, 'pending')
  await bench.close()
})

test('what happens to an account is told to every repository that it concerns', async () => {
  const bench = await settled()
  await bench.take(put(bob, 'repo', 'meadow', repoRecord({ collaborators: [{ did: dave }] }), 3))
  const told: string[] = []
  bench.ingest.onChanged(change => told.push(change.repo))
  await bench.take(event(dave, false, 20, 'deleted'))
  assert.deepEqual(told.sort(), [orchard, repoAt(bob, 'meadow')].sort())
  told.length = 0
  await bench.take({ kind: 'resolved', did: alice, handle: 'alice.example', pds: 'https://pds.example', askedUs: 1 })
  assert.deepEqual(told, [orchard])
  await bench.take({ kind: 'resolved', did: alice, handle: 'alice.example', pds: 'https://other.example', askedUs: 2 })
  assert.deepEqual(told, [orchard], 'the same handle is no news')
  await bench.close()
})

test('a handle that changed hands is its new holder’s', async () => {
  const bench = await settled()
  await bench.take(
    { kind: 'resolved', did: alice, handle: 'orchard.example', askedUs: 1 },
    { kind: 'resolved', did: dave, handle: 'orchard.example', askedUs: 2 },
  )
  assert.equal(didOfHandle(bench.index, 'Orchard.example'), dave)
  assert.deepEqual([...handlesOf(bench.index, [alice, dave])], [[dave, 'orchard.example']])
  await bench.close()
})

test('an identity event has the handle looked up again, for accounts of interest only', async () => {
  const bench = await settled()
  const asked: string[] = []
  bench.ingest.onOutcome(outcome => asked.push(...outcome.identities))
  await bench.take({ kind: 'identity', did: alice, timeUs: 5 }, { kind: 'identity', did: mallory, timeUs: 6 })
  assert.deepEqual(asked, [alice])
  await bench.close()
})

test('a repository is found by address and by owner and name, and listed by name and handle', async () => {
  const bench = await settled()
  await bench.take(put(bob, 'repo', 'meadow', repoRecord(), 3), put(bob, 'repo', 'or_chard', repoRecord(), 4))
  await bench.take({ kind: 'resolved', did: alice, handle: 'alice.example', askedUs: 1 }, { kind: 'resolved', did: bob, askedUs: 1 })
  const { index } = bench
  assert.equal(findRepository(index, orchard)?.handle, 'alice.example')
  assert.equal(findRepository(index, { did: alice, name: 'orchard' })?.uri, orchard)
  assert.equal(findRepository(index, { did: alice, name: 'meadow' }), undefined)
  const names = (options: Parameters<typeof listRepositories>[1]) => listRepositories(index, options).repositories.map(row => row.name)
  assert.deepEqual(names({}), ['meadow', 'or_chard', 'orchard'])
  assert.deepEqual(names({ q: 'CHARD' }), ['or_chard', 'orchard'])
  assert.deepEqual(names({ q: '_' }), ['or_chard'], 'a sign of the search language is a letter like any other')
  assert.deepEqual(names({ q: 'alice.ex' }), ['orchard'])
  assert.deepEqual(names({ q: 'alice.example/orch' }), ['orchard'])
  assert.deepEqual(names({ owner: bob }), ['meadow', 'or_chard'])
  const first = listRepositories(index, { limit: 2 })
  assert.deepEqual(
    first.repositories.map(row => row.name),
    ['meadow', 'or_chard'],
  )
  assert.deepEqual(names({ limit: 2, ...(first.cursor === undefined ? {} : { cursor: first.cursor }) }), ['orchard'])
  assert.deepEqual(names({ cursor: 'not a cursor' }), ['meadow', 'or_chard', 'orchard'])
  assert.deepEqual([...handlesOf(index, [alice, bob, mallory])], [[alice, 'alice.example']])
  await bench.take(event(alice, false, 9_000, 'takendown'))
  assert.deepEqual(names({}), ['meadow', 'or_chard'], 'an owner that is gone is not listed')
  assert.equal(findRepository(index, orchard)?.ownerStatus, 'takendown')
  await bench.close()
})

test('whom a repository names is read from their servers, and so is who opens a pull; a stranger’s other records are not asked for', async () => {
  const bench = await settled()
  await bench.take(put(mallory, 'queue', key(3), queueRecord(uriOf(dave, 'pull', key(1))), 5))
  const wanted = bench.index.sync.all(
    bench.index.db.selectFrom('backfill').select(['subject', 'priority']).orderBy('priority').orderBy('subject'),
  )
  assert.deepEqual(
    wanted.map(row => [row.subject, row.priority]),
    [
      [alice, 0],
      [bob, 1],
      [did('carol'), 1],
      [did('rigby'), 1],
      [dave, 3],
    ],
  )
  bench.index.sqlite.exec(`update backfill set state = 'done', rev = 'x', next_at = 4102444800000`)
  await bench.take(put(alice, 'repo', 'orchard', repoRecord({ collaborators: [{ did: dave }] }), 6))
  const row = bench.index.db.selectFrom('backfill').select(['priority', 'state', 'rev', 'next_at']).where('subject', '=', dave)
  const now = bench.index.sync.first(row)
  assert.deepEqual(now, { priority: 1, state: 'pending', rev: null, next_at: 0 }, 'an author who is named now is read whole')
  await bench.close()
})

test('a handle that could not be looked at stays as it is known, to be looked up again', async () => {
  const bench = await settled()
  const { db, sync } = bench.index
  const row = () => sync.first(db.selectFrom('account').select(['handle', 'pds', 'resolved_at']).where('did', '=', dave))
  await bench.take({ kind: 'resolved', did: dave, handle: 'dave.test', pds: 'https://a.example', askedUs: 30 })
  assert.equal(row()?.handle, 'dave.test')
  await bench.take({ kind: 'resolved', did: dave, handleUnread: true, pds: 'https://b.example', askedUs: 40 })
  assert.deepEqual({ ...row() }, { handle: 'dave.test', pds: 'https://b.example', resolved_at: null })
  await bench.close()
})
