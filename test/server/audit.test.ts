import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { z } from 'zod'
import { parseDid, parseRecordKey, repoUri } from '../../src/atproto/ids.ts'
import { csvCell } from '../../src/server/gateway/audit-export.ts'
import type { AuditEntry } from '../../src/server/gateway/types.ts'
import { madeUp } from './orchard.ts'
import { type Served, serve } from './serve.ts'
import { Visitor } from './visitor.ts'

const HOUR = 60 * 60_000
const DAY = 24 * HOUR
/** The middle of an hour, so that no test crosses one. */
const NOON = Math.floor(Date.now() / HOUR) * HOUR - 30 * 60_000
let server: Served
let now = NOON

before(async () => {
  server = await serve(undefined, { overrides: { now: () => now } })
})
after(() => server?.end())
beforeEach(() => {
  now += 2 * DAY
})

function did(text: string) {
  const parsed = parseDid(text)
  assert(parsed !== undefined)
  return parsed
}

let owners = 0
/** An entry of an owner that no other test has. */
function entry(more: Partial<AuditEntry> = {}): AuditEntry {
  const owner = did(`did:plc:${`${++owners}`.replace(/\d/g, digit => 'abcdefghij'[Number(digit)] ?? 'a').padEnd(24, 'z')}`)
  const key = parseRecordKey('orchard')
  assert(key !== undefined)
  return {
    owner,
    repo: repoUri(owner, key),
    caller: did(madeUp.collaborator),
    door: 'push',
    ref: 'refs/heads/main',
    from: '1'.repeat(40),
    to: '2'.repeat(40),
    reason: 'as a collaborator',
    ...more,
  }
}

const audit = () => server.context.audit
const all = (owner: string) => audit().list(owner, { limit: 1_000 })

test('GWY-6 a write is noted before it is made, and what became of it once that is known', () => {
  const first = entry()
  const ids = audit().begin([first, { ...first, ref: 'refs/heads/topic' }])
  assert.deepEqual(
    audit()
      .open(10)
      .map(line => [line.id, line.ref]),
    [
      [ids[0], 'refs/heads/main'],
      [ids[1], 'refs/heads/topic'],
    ],
  )
  audit().settle(ids.slice(0, 1), 'written')
  audit().settle(ids.slice(1), 'refused', { code: 'branch-moved', reason: 'topic moved meanwhile' })
  const [newest, oldest] = all(first.owner)
  assert.deepEqual([oldest?.outcome, oldest?.reason, oldest?.at], ['written', 'as a collaborator', now])
  assert.deepEqual([newest?.outcome, newest?.reason, newest?.code], ['refused', 'topic moved meanwhile', 'branch-moved'])
  assert.deepEqual(audit().open(10), [])
})

test('GWY-6 a write of which nothing is known stays open until reading settles it', () => {
  const asked = entry()
  const ids = audit().begin([asked])
  audit().settle(ids, 'unknown')
  assert.deepEqual(
    audit()
      .open(10)
      .map(line => line.id),
    ids,
  )
  audit().settle(ids, 'written')
  assert.deepEqual(audit().open(10), [])
  audit().settle(ids, 'refused', { reason: 'something else' })
  assert.equal(all(asked.owner)[0]?.outcome, 'written', 'settled is settled')
})

test('GWY-6 the database itself refuses to change what is settled, or to forget what is young', async () => {
  const asked = entry()
  const [id = 0] = audit().begin([asked])
  const { db } = server.context
  const change = (set: Record<string, unknown>) => db.updateTable('audit').set(set).where('id', '=', id).execute()
  await assert.rejects(change({ to: '3'.repeat(40) }), /the audit log is not changed/)
  await assert.rejects(change({ at: 5 }), /the audit log is not changed/)
  audit().settle([id], 'written')
  for (const set of [{ outcome: 'refused' }, { reason: 'x' }, { caller: 'did:plc:x' }, { more: 4 }, { settled_at: 1 }]) {
    await assert.rejects(change(set), /the audit log is not changed/)
  }
  await assert.rejects(db.deleteFrom('audit').where('id', '=', id).execute(), /kept for 400 days/)
  await assert.rejects(
    sql`insert or replace into audit select * from (select ${id} as id, at, owner, repo, caller, door, ref, "from", "to", outcome, settled_at, 'x' as reason, code, note, more from audit where id = ${id})`.execute(
      db,
    ),
    /only appended to/,
  )
  assert.deepEqual(
    all(asked.owner).map(line => [line.outcome, line.reason]),
    [['written', 'as a collaborator']],
  )
})

test('GWY-6 a hundred refusals of an account, repository and hour are kept in full, the rest in one line that counts', async () => {
  const asked = entry({ reason: 'main takes pulls only through the queue', code: 'queue-only' })
  for (let n = 0; n < 150; n++) audit().refused([asked])
  const lines = all(asked.owner)
  assert.equal(lines.length, 101)
  assert.deepEqual([lines[0]?.more, lines[0]?.code, lines[0]?.outcome, lines[0]?.ref], [50, 'summed', 'refused', ''])
  const { db } = server.context
  const summed = (set: Record<string, unknown>) =>
    db
      .updateTable('audit')
      .set(set)
      .where('id', '=', lines[0]?.id ?? 0)
      .execute()
  for (const set of [{ more: 49 }, { more: 51, reason: 'x' }, { more: 51, outcome: 'written' }]) {
    await assert.rejects(summed(set), /the audit log is not changed/)
  }
  audit().refused([{ ...asked, caller: did(madeUp.author) }])
  assert.equal(all(asked.owner)[0]?.more, 0, 'another account has its own hundred')
  now += HOUR
  audit().refused([asked])
  assert.deepEqual([all(asked.owner)[0]?.more, all(asked.owner)[0]?.reason], [0, asked.reason], 'and so has the next hour')
  assert.equal(all(asked.owner).length, 103)
})

test('GWY-6 lines are kept for 400 days', async () => {
  const then = now
  now = Date.now() - 401 * DAY
  const old = entry()
  audit().refused([old])
  now = Date.now() - 399 * DAY
  audit().refused([{ ...old, reason: 'younger' }])
  now = Date.now()
  await server.purge()
  assert.deepEqual(
    all(old.owner).map(line => line.reason),
    ['younger'],
  )
  now = then
})

test('GWY-6 refusals before anybody is known are counted, and not in anybody’s log', async () => {
  const { methodTokensRefused } = server.context.metrics
  const counted = async () => (await methodTokensRefused.get()).values.map(({ labels, value }) => `${labels.code} ${value}`)
  const before = await server.context.db.selectFrom('audit').selectAll().execute()
  const ask = (authorization?: string) =>
    fetch(`${server.url}/xrpc/dev.knotless.mergePull`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(authorization === undefined ? {} : { authorization }) },
      body: JSON.stringify({ pull: `at://${madeUp.author}/dev.knotless.pull/3kaaaaaaaaa22` }),
    })
  assert.equal((await ask()).status, 401)
  assert.equal((await ask('Basic x')).status, 401)
  assert.deepEqual((await counted()).sort(), ['AuthMissing 1', 'BadToken 1'])
  assert.deepEqual(await server.context.db.selectFrom('audit').selectAll().execute(), before)
})

test('GWY-6 pages go back from the newest', () => {
  const asked = entry()
  for (let n = 0; n < 7; n++) audit().refused([{ ...asked, reason: `no ${n}` }])
  const first = audit().list(asked.owner, { limit: 3 })
  assert.deepEqual(
    first.map(line => line.reason),
    ['no 6', 'no 5', 'no 4'],
  )
  const before = first.at(-1)?.id
  assert.deepEqual(
    audit()
      .list(asked.owner, { before, limit: 3 })
      .map(line => line.reason),
    ['no 3', 'no 2', 'no 1'],
  )
  assert.deepEqual(audit().count(asked.owner, before), { all: 7, newer: 3 })
})

/** Logs somebody in by a session of their own, without their server. */
async function as(owner: string): Promise<Visitor> {
  const visitor = new Visitor()
  const { id } = await server.context.sessions.begin({ did: owner }, undefined)
  visitor.cookies(server.url).set(server.context.cookies.session, id)
  return visitor
}

const exported = z.object({ owner: z.string(), exportedAt: z.string(), entries: z.array(z.record(z.string(), z.unknown())) })

test('GWY-6 the owner has the whole log as JSON and CSV, and nobody else does', async () => {
  const asked = entry({ note: 'taken from the index: refs' })
  for (let n = 0; n < 1_203; n++) audit().settle(audit().begin([{ ...asked, reason: `landing ${n}` }]), 'written')
  const visitor = await as(asked.owner)
  const json = await visitor.get(`${server.url}/settings/audit.json`)
  assert.equal(json.status, 200)
  assert.match(String(json.headers['content-disposition']), /^attachment; filename="knotless-audit-\d{4}-\d\d-\d\d\.json"$/)
  assert.equal(json.headers['cache-control'], 'no-store')
  const { owner, entries } = exported.parse(JSON.parse(json.text))
  assert.deepEqual([owner, entries.length], [asked.owner, 1_203])
  assert.deepEqual(
    entries.map(line => line.reason),
    Array.from({ length: 1_203 }, (_, n) => `landing ${1_202 - n}`),
  )
  const { id, at, ...rest } = entries[0] ?? {}
  assert(typeof id === 'number' && typeof at === 'string')
  const { caller, door, repo, ref, from, to } = asked
  assert.deepEqual(rest, {
    caller,
    door,
    repo,
    ref,
    from,
    to,
    verdict: 'written',
    code: null,
    reason: 'landing 1202',
    note: asked.note,
    more: 0,
  })
  const csv = await visitor.get(`${server.url}/settings/audit.csv`)
  assert.match(String(csv.headers['content-type']), /^text\/csv/)
  const lines = csv.text.trimEnd().split('\r\n')
  assert.equal(lines.length, 1_204)
  assert.equal(lines[0], 'id,at,caller,door,repo,ref,from,to,verdict,code,reason,note,more')
  assert.match(lines[1] ?? '', /^\d+,"\d{4}-.*","push",.*,"written","","landing 1202","taken from the index: refs",0$/)
  const other = await (await as(entry().owner)).get(`${server.url}/settings/audit.json`)
  assert.deepEqual(exported.parse(JSON.parse(other.text)).entries, [])
  for (const kind of ['json', 'csv']) {
    const nobody = await new Visitor().get(`${server.url}/settings/audit.${kind}`)
    assert.deepEqual([nobody.status, nobody.headers.location], [303, '/login?next=%2Fsettings'])
  }
})

test('GWY-6 no cell of the CSV is a formula, however it begins, and quotes stay inside', () => {
  for (const text of ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', ' =1', '\u200b=1', '\r=1', '＝1', '|x', '%x']) {
    assert.equal(csvCell(text).slice(0, 2), `"'`, JSON.stringify(text))
  }
  assert.equal(csvCell('refs/heads/a"b'), '"refs/heads/a""b"')
  assert.equal(csvCell('a, b\nc'), '"a, b\nc"')
  assert.equal(csvCell(null), '""')
  assert.equal(csvCell(7), '7')
})

test('GWY-6 Settings show what was written and refused, page by page, with nothing of it as markup', async () => {
  const asked = entry()
  audit().refused([{ ...asked, ref: 'refs/heads/<b>', reason: '<script>alert(1)</script>', code: 'queue-only' }])
  for (let n = 0; n < 30; n++)
    audit().settle(audit().begin([{ ...asked, reason: `landing ${n}`, from: n === 29 ? null : asked.from }]), 'written')
  audit().begin([{ ...asked, reason: 'under way' }])
  const visitor = await as(asked.owner)
  const page = await visitor.get(`${server.url}/settings`)
  assert.match(page.text, /1 to 25 of 32/)
  assert.match(page.text, /Unknown<\/span>[\s\S]*under way; begun, and not known yet whether it was written/)
  assert.match(page.text, /none → <code>2222222<\/code>[\s\S]*Written<\/span>[\s\S]*landing 29/)
  const older = /href="(\/settings\?before=\d+#audit)">Older/.exec(page.text)?.[1]?.replace('#audit', '')
  const next = await visitor.get(`${server.url}${older}`)
  assert.match(next.text, /26 to 32 of 32/)
  assert.match(next.text, /Refused<\/span>[\s\S]*&lt;script&gt;alert/)
  assert(!next.text.includes('<script>alert') && !next.text.includes('<b>'.concat('</code>')))
  assert.match(next.text, /href="\/settings#audit">Newest/)
  const empty = await (await as(entry().owner)).get(`${server.url}/settings`)
  assert.match(empty.text, /This server has written nothing for you yet\./)
})
