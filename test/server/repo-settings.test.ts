import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { z } from 'zod'
import { parseDid } from '../../src/atproto/ids.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { seedPeople } from '../../src/devnet/seed.ts'
import type { People } from '../../src/devnet/seed-repo.ts'
import { until } from '../support/until.ts'
import { logIn, openSignIn } from './log-in.ts'
import { alertOn, type Editor, editorAs, formOn, formsOn, grantRight, plain, rightHref } from './repo-settings-support.ts'
import { type Served, serve } from './serve.ts'
import { Visitor } from './visitor.ts'

let network: Network
let people: People
let server: Served
let alice: Editor
const path = '/alice.test/bench/settings'
const createdAt = '2026-11-01T00:00:00.000Z'

before(async () => {
  network = await startNetwork()
  people = await seedPeople(network)
  server = await serve(network)
  await reset()
  await until(async () => (await fetch(`${server.url}/alice.test/bench`)).status === 200)
})
after(async () => {
  await server?.end()
  await network?.stop()
})

const named = z.object({ did: z.string() })
const recordShape = z.looseObject({
  description: z.string().optional(),
  defaultBranch: z.string(),
  collaborators: z.array(named),
  runners: z.array(named),
  former: z.array(z.looseObject({ did: z.string(), role: z.string(), until: z.string(), void: z.boolean().optional() })).optional(),
  protections: z.array(z.looseObject({ branch: z.string(), queue: z.boolean(), pinned: z.boolean().optional() })).optional(),
  gateway: z.string().optional(),
})

/** The record as alice's account has it. */
async function record() {
  return recordShape.parse((await people.alice.get('dev.knotless.repo', 'bench'))?.value)
}

/** Puts the record as it is to be before a test, by another client. */
async function reset(fields: Record<string, unknown> = {}): Promise<void> {
  const value = { defaultBranch: 'main', collaborators: [], runners: [], createdAt, ...fields }
  await people.alice.put('dev.knotless.repo', 'bench', value)
}

test('log-in alone may not write the record; sending a form leads through the account’s server, and what was typed comes back', async () => {
  const editor = await editorAs(server, people.alice)
  const did = parseDid(people.alice.did)
  assert(did !== undefined)
  assert.equal(await server.context.oauth.granted(did), 'atproto repo:dev.knotless.queue?action=create')
  const first = await editor.page(path)
  assert.equal(first.status, 200)
  assert.match(plain(first.text), /let this server write your dev\.knotless\.repo records/)
  const sent = await editor.send(first, 'general', { description: 'Grows “slowly”' })
  assert.equal(sent.status, 303)
  assert.equal((await record()).description, undefined)
  const kept = await editor.visitor.follow(`${server.url}${path}`, sent)
  assert.match(kept.text, /name="description" value="Grows “slowly”"|Grows “slowly”/)
  const back = await grantRight(server, editor, people.alice, kept.text)
  assert.equal(back.status, 303)
  const again = await editor.visitor.follow(`${server.url}/oauth/callback`, back)
  assert.match(plain(again.text), /You can write now/)
  const [all] = formsOn(again.text).filter(form => form.fields.description === 'Grows “slowly”')
  assert(all !== undefined)
  const done = await editor.visitor.post(`${server.url}${all.action}`, all.fields)
  assert.equal(done.headers.location, `${path}?done=general&at=general#general`)
  assert.equal((await record()).description, 'Grows “slowly”')
  assert.match((await server.context.oauth.granted(did)) ?? '', /repo:dev\.knotless\.repo\?action=create&action=update/)
  alice = editor
})

test('a later log-in in another browser asks for what was granted before: the right to write is not lost unseen', async () => {
  await logIn(new Visitor(), server.url, people.alice)
  const did = parseDid(people.alice.did)
  assert(did !== undefined)
  assert.match((await server.context.oauth.granted(did)) ?? '', /dev\.knotless\.repo/)
  const done = await alice.edit(path, 'general', { description: 'still' })
  assert.equal(done.status, 303)
  assert.equal((await record()).description, 'still')
})

test('the right that is denied is said to be, on the page that asked, and nobody is logged out', async () => {
  const editor = await editorAs(server, people.carol)
  await people.carol.put('dev.knotless.repo', 'own', { defaultBranch: 'main', collaborators: [], runners: [], createdAt })
  await until(async () => (await fetch(`${server.url}/carol.test/own`)).status === 200)
  const page = await editor.page('/carol.test/own/settings')
  const started = await editor.visitor.get(`${server.url}${rightHref(page.text)}`, { headers: { 'sec-fetch-site': 'same-origin' } })
  const answer = await editor.visitor.get(await (await openSignIn(editor.visitor, started.headers.location ?? '', people.carol)).deny())
  assert.equal(answer.headers.location, '/carol.test/own/settings?right=denied')
  const back = await editor.visitor.follow(`${server.url}/oauth/callback`, answer)
  assert.equal(back.status, 200)
  assert.match(alertOn(back.text), /You denied the right to write this record, so nothing was written/)
})

test('the page is the owner’s alone: others are told who that is, and who is signed out comes back after the log-in', async () => {
  const out = await new Visitor().get(`${server.url}${path}`)
  assert.equal(out.status, 303)
  assert.equal(out.headers.location, `/login?next=${encodeURIComponent(path)}`)
  assert.match(plain((await new Visitor().get(`${server.url}${out.headers.location}`)).text), /alice\.test\/bench, its settings/)
  const bob = await editorAs(server, people.bob)
  const page = await bob.page(path)
  assert.equal(page.status, 403)
  assert.match(alertOn(page.text), /These settings are alice\.test’s/)
  const { fields } = formOn((await alice.page(path)).text, 'general')
  const own = formsOn((await bob.page('/settings')).text)[0]?.fields._csrf ?? ''
  const sent = await bob.visitor.post(`${server.url}${path}/general`, { ...fields, _csrf: own, description: 'bob was here' })
  assert.equal(sent.status, 403)
  assert.notEqual((await record()).description, 'bob was here')
  assert.equal((await bob.page('/alice.test/none/settings')).status, 404)
  assert.doesNotMatch((await bob.page('/alice.test/bench')).text, /bench\/settings/)
  assert.match((await alice.page('/alice.test/bench')).text, /href="\/alice\.test\/bench\/settings"/)
})

test('a form without its token, with another session’s, or from another site writes nothing', async () => {
  const { action, fields } = formOn((await alice.page(path)).text, 'general')
  const { _csrf: _, ...without } = fields
  const url = `${server.url}${action}`
  assert.equal((await alice.visitor.post(url, { ...without, description: 'x' })).status, 403)
  assert.equal((await alice.visitor.post(url, { ...fields, _csrf: 'a'.repeat(43), description: 'x' })).status, 403)
  assert.equal((await alice.visitor.post(url, { ...fields, description: 'x' }, { 'sec-fetch-site': 'cross-site' })).status, 403)
  assert.notEqual((await record()).description, 'x')
})

test('description and default branch are saved, and what is not known of the record stays as it is', async () => {
  await reset({ colour: { of: ['blue'] }, collaborators: [{ did: people.bob.did, note: 'since spring' }] })
  const done = await alice.edit(path, 'general', { description: 'Two lines:\r\nthis is one' })
  assert.equal(done.status, 303)
  const now = await record()
  assert.equal(now.description, 'Two lines:\nthis is one')
  assert.deepEqual(now.colour, { of: ['blue'] })
  assert.deepEqual(now.collaborators, [{ did: people.bob.did }])
  const raw = await people.alice.get('dev.knotless.repo', 'bench')
  assert.deepEqual(raw?.value.collaborators, [{ did: people.bob.did, note: 'since spring' }])
  assert.equal((await alice.edit(path, 'general', { description: '' })).status, 303)
  assert.equal('description' in (await record()), false)
})

test('what was written is there at once, and pages of the repository change by it', async () => {
  await reset()
  const done = await alice.edit(path, 'general', { description: 'Seen at once' })
  const page = await alice.visitor.follow(`${server.url}${path}`, done)
  assert.match(page.text, /Seen at once/)
  assert.match(plain(page.text), /Saved\./)
  assert.match((await new Visitor().get(`${server.url}/alice.test/bench`)).text, /Seen at once/)
})

test('a description that is too long, a branch that is none and one that is not there come back with what was typed', async () => {
  const long = 'ä'.repeat(5_000)
  const answer = await alice.edit(path, 'general', { description: long })
  assert.equal(answer.status, 422)
  assert.match(alertOn(answer.text), /the description has 10000 bytes, and 3000 is the most/)
  assert.equal(formOn(answer.text, 'general').fields.description, long)
  for (const [branch, says] of [
    ['gone', /there is no branch gone/],
    ['a..b', /a\.\.b is no name of a branch/],
    ['-x y', /is no name of a branch/],
    ['a\u0007', /is no name of a branch/],
  ] as const) {
    const refused = await alice.edit(path, 'general', { defaultBranch: branch })
    assert.equal(refused.status, 422, branch)
    assert.match(alertOn(refused.text), says)
  }
  assert.equal((await record()).defaultBranch, 'main')
})

test('a runner is named by handle or DID and kept as a DID, moved, and taken out into former', async () => {
  await reset()
  assert.equal((await alice.edit(path, 'add-runner', { handle: '@Runner.test' })).status, 303)
  assert.equal((await alice.edit(path, 'add-runner', { handle: people.bob.did })).status, 303)
  const dids = async () => (await record()).runners.map(({ did }) => did)
  assert.deepEqual(await dids(), [people.runner.did, people.bob.did])
  const moved = await alice.edit(path, 'move-runner', {}, { did: people.bob.did, up: '1' })
  assert.equal(moved.headers.location, `${path}?done=move&at=runners#runners`)
  assert.deepEqual(await dids(), [people.bob.did, people.runner.did])
  await alice.edit(path, 'move-runner', {}, { did: people.bob.did, up: '0' })
  assert.deepEqual(await dids(), [people.runner.did, people.bob.did])
  assert.equal((await alice.edit(path, 'remove-runner', {}, { did: people.bob.did })).status, 303)
  const now = await record()
  assert.deepEqual(now.runners, [{ did: people.runner.did }])
  assert.equal(now.former?.length, 1)
  assert.deepEqual([now.former?.[0]?.did, now.former?.[0]?.role], [people.bob.did, 'runner'])
})

test('REC-11 an eleventh runner and a hundred and first collaborator are refused, and nothing is written', async () => {
  const letters = 'abcdefghijklmnopqrstuvwxyz'
  const name = (n: number) => `${letters[n % 26]}${letters[Math.floor(n / 26)]}`.padEnd(24, 'a')
  const others = (count: number) => Array.from({ length: count }, (_, n) => ({ did: `did:plc:${name(n)}` }))
  await reset({ collaborators: others(100), runners: others(10) })
  const before = (await people.alice.get('dev.knotless.repo', 'bench'))?.cid
  const collaborator = await alice.edit(path, 'add-collaborator', { handle: 'carol.test' })
  assert.equal(collaborator.status, 422)
  assert.match(alertOn(collaborator.text), /a repository names at most 100 collaborators/)
  const runner = await alice.edit(path, 'add-runner', { handle: 'carol.test' })
  assert.equal(runner.status, 422)
  assert.match(alertOn(runner.text), /at most 10 runners/)
  assert.equal((await people.alice.get('dev.knotless.repo', 'bench'))?.cid, before)
})

test('whoever cannot be named comes back into the field, with why', async () => {
  await reset({ collaborators: [{ did: people.bob.did }] })
  for (const [handle, says] of [
    ['nobody.test', /Not added: Nobody found\. There is no account called nobody\.test\. Check the spelling\./],
    ['', /Not added: That is no handle and no DID/],
    ['did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK', /That is no handle and no DID/],
    ['did:plc:aaaaaaaaaaaaaaaaaaaaaaaa', /Nobody found/],
    ['<script>x</script>', /That is no handle/],
    ['bob.test', /Not added: bob\.test is named as collaborator already/],
    ['alice.test', /Not added: alice\.test owns this repository/],
  ] as const) {
    const answer = await alice.edit(path, 'add-collaborator', { handle })
    assert.equal(answer.status, 422, handle)
    assert.match(alertOn(answer.text), says)
    assert.equal(formOn(answer.text, 'add-collaborator').fields.handle, handle)
    assert.doesNotMatch(answer.text, /<script>x/)
  }
  assert.deepEqual((await record()).collaborators, [{ did: people.bob.did }])
})

test('PRO-3 a branch made queue-only is so in the merge status at once; PRO-4 without a runner the page warns', async () => {
  await reset()
  const page = await alice.page(path)
  const done = await alice.send(page, 'protection', { 'queue-0': '1' })
  assert.equal(done.status, 303)
  assert.deepEqual((await record()).protections, [{ branch: 'main', queue: true }])
  const after = await alice.visitor.follow(`${server.url}${path}`, done)
  assert.match(plain(after.text), /main takes pulls only through the queue, and no runner is named that would land one/)
  const view = server.context.repositories.viewOf(`at://${people.alice.did}/dev.knotless.repo/bench`)?.view
  assert.equal(view?.branches.get('main')?.queueOnly, true)
  await alice.edit(path, 'add-runner', { handle: 'runner.test' })
  assert.doesNotMatch(plain((await alice.page(path)).text), /no runner is named that would land one/)
  await alice.send(await alice.page(path), 'protection', { 'queue-0': '' })
  assert.deepEqual((await record()).protections, [])
})

test('QUE-9 a branch can be pinned; of two rows for one branch the stricter is shown, and an edit makes one of them', async () => {
  const rows = [
    { branch: 'main', queue: true, since: 'spring' },
    { branch: 'other', queue: true },
    { branch: 'main', queue: false, pinned: true },
  ]
  await reset({ protections: rows })
  const page = await alice.page(path)
  const { fields } = formOn(page.text, 'protection')
  assert.deepEqual([fields['queue-0'], fields['pinned-0'], fields['was-0']], ['1', '1', 'qp'])
  assert.match(plain(page.text), /More than one rule names it; the stricter holds/)
  assert.equal((await alice.send(page, 'protection', { 'branch-new': 'release/1.0', 'pinned-new': '1' })).status, 303)
  assert.deepEqual((await record()).protections, [...rows, { branch: 'release/1.0', queue: true, pinned: true }])
  const second = await alice.page(path)
  await alice.send(second, 'protection', { 'pinned-0': '' })
  assert.deepEqual((await record()).protections, [
    { branch: 'main', queue: true, since: 'spring' },
    { branch: 'other', queue: true },
    { branch: 'release/1.0', queue: true, pinned: true },
  ])
})

test('names that are none of a branch make no rule, and what was ticked stays ticked', async () => {
  await reset()
  for (const branch of ['release/*', 'a..b', '.x', 'x.lock', 'a b', 'x~1', 'y'.repeat(300)]) {
    const answer = await alice.edit(path, 'protection', { 'branch-new': branch, 'queue-0': '1' })
    assert.equal(answer.status, 422, branch)
    assert.match(alertOn(answer.text), /is no name of a branch/)
    const { fields } = formOn(answer.text, 'protection')
    assert.deepEqual([fields['branch-new'], fields['queue-0']], [branch, '1'])
  }
  assert.equal('protections' in (await record()), false)
})

test('REC-11 a hundred and first rule is refused', async () => {
  await reset({ protections: Array.from({ length: 100 }, (_, n) => ({ branch: `b${n}`, queue: true })) })
  const answer = await alice.edit(path, 'protection', { 'branch-new': 'one-more' })
  assert.equal(answer.status, 422)
  assert.match(alertOn(answer.text), /rules for at most 100 branches/)
  assert.equal((await record()).protections?.length, 100)
})

test('the gateway is this server, none, or another by its DID', async () => {
  await reset()
  assert.equal((await alice.edit(path, 'gateway', { gateway: 'this' })).status, 303)
  assert.equal((await record()).gateway, server.context.config.did)
  assert.equal((await alice.edit(path, 'gateway', { gateway: 'other', did: ' did:web:queue.example ' })).status, 303)
  assert.equal((await record()).gateway, 'did:web:queue.example')
  for (const did of ['', 'did:key:z6Mk', 'https://queue.example', 'did:web:x/../y']) {
    const answer = await alice.edit(path, 'gateway', { gateway: 'other', did })
    assert.equal(answer.status, 422, did)
    assert.equal(formOn(answer.text, 'gateway').fields.did, did)
  }
  assert.equal((await alice.edit(path, 'gateway', { gateway: 'none' })).status, 303)
  assert.equal('gateway' in (await record()), false)
  assert.match((await alice.page(path)).text, /href="\/settings#delegation"/)
})

test('forms that lack what they are about, and forms that there are none of, write nothing', async () => {
  await reset()
  const before = (await people.alice.get('dev.knotless.repo', 'bench'))?.cid
  const { _csrf = '' } = formOn((await alice.page(path)).text, 'general').fields
  const post = (form: string, fields: Record<string, string>) => alice.visitor.post(`${server.url}${path}/${form}`, { _csrf, ...fields })
  for (const form of ['general', 'remove-runner', 'move-runner', 'remove-collaborator', 'void', 'protection', 'gateway']) {
    assert.equal((await post(form, {})).status, 422, form)
  }
  assert.equal((await post('remove-collaborator', { did: 'x' })).status, 422)
  assert.equal((await post('void', { did: people.bob.did })).status, 422)
  assert.equal((await post('nothing', {})).status, 400)
  assert.equal((await people.alice.get('dev.knotless.repo', 'bench'))?.cid, before)
})

const atAlice = (method: string) => ({ method, account: people.alice.did })

test('a server that is down is said to be: nothing is written, the page stands as it was last seen, what was typed stays', async () => {
  await reset({ description: 'before' })
  const page = await alice.page(path)
  const fault = network.faults.add({ fault: 'refuse', status: 503, error: 'Down', ...atAlice('com.atproto.repo.getRecord') })
  try {
    const answer = await alice.send(page, 'general', { description: 'typed' })
    assert.equal(answer.status, 422)
    assert.match(alertOn(answer.text), /Nothing was written: .* does not answer, so how it is now cannot be told/)
    assert.equal(formOn(answer.text, 'general').fields.description, 'typed')
    const shown = await alice.page(path)
    assert.equal(shown.status, 200)
    assert.match(plain(shown.text), /Your server does not answer, so this is how it was last seen/)
    assert.equal(formOn(shown.text, 'general').fields.description, 'before')
  } finally {
    fault.clear()
  }
  assert.equal((await record()).description, 'before')
})

test('a write whose answer was lost is found by reading, and the form sent again writes nothing twice', async () => {
  await reset()
  const page = await alice.page(path)
  const fault = network.faults.add({ fault: 'lose', times: 1, ...atAlice('com.atproto.repo.putRecord') })
  try {
    const done = await alice.send(page, 'add-collaborator', { handle: 'carol.test' })
    assert.equal(done.status, 303, alertOn(done.text))
    assert.equal(fault.hits(), 1)
  } finally {
    fault.clear()
  }
  assert.deepEqual((await record()).collaborators, [{ did: people.carol.did }])
  const before = (await people.alice.get('dev.knotless.repo', 'bench'))?.cid
  const again = await alice.send(page, 'add-collaborator', { handle: 'carol.test' })
  assert.equal(again.headers.location, `${path}?done=already&at=collaborators#collaborators`)
  assert.equal((await people.alice.get('dev.knotless.repo', 'bench'))?.cid, before)
})

test('a form that is refused though its section has nothing to show says so all the same', async () => {
  await reset()
  const { _csrf = '' } = formOn((await alice.page(path)).text, 'general').fields
  const sent = await alice.visitor.post(`${server.url}${path}/void`, { _csrf, did: people.bob.did })
  assert.equal(sent.status, 422)
  assert.match(alertOn(sent.text), /^Not done: what is remembered of .* was changed meanwhile\./)
})

test('the address that a refused form leaves in the browser leads back to the page when it is opened again', async () => {
  await reset()
  const refused = await alice.edit(path, 'add-collaborator', { handle: 'nobody at all' })
  assert.equal(refused.status, 422)
  for (const form of ['add-collaborator', 'general', 'protection', 'take-back', 'accept', 'void']) {
    const again = await alice.page(`${path}/${form}`)
    assert.deepEqual([again.status, again.headers.location], [303, path], form)
  }
  assert.equal((await alice.page(`${path}/nothing`)).status, 404)
})
