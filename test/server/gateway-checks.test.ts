import assert from 'node:assert/strict'
import { after, afterEach, before, type TestContext, test } from 'node:test'
import { createGuardedFetch, type GuardedFetch } from '../../src/atproto/guarded-fetch.ts'
import { createIdentity } from '../../src/atproto/identity.ts'
import { type AtUri, type Did, parseRecordKey, repoUri } from '../../src/atproto/ids.ts'
import { createReader, type Reader } from '../../src/atproto/reader.ts'
import { createTidClock } from '../../src/atproto/tid.ts'
import type { DevAccount } from '../../src/devnet/account.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { landingChecks } from '../../src/server/gateway/landing-checks.ts'
import { pullCheckKey, queueCheckKey } from '../../src/workflows/check-keys.ts'
import { commit, git, newRepo } from '../git/support.ts'

let network: Network
let fetch: GuardedFetch
let reader: Reader
let lander: DevAccount
let other: DevAccount
const tids = createTidClock({ now: Date.now, clockId: 7 })

before(async () => {
  network = await startNetwork()
  fetch = createGuardedFetch({ allowLoopback: true })
  const identity = createIdentity({ plcUrl: network.plcUrl, handleResolver: network.pdsUrl, fetch, now: Date.now })
  reader = createReader({ identity, fetch, now: Date.now })
  lander = await network.createAccount('rigby.test')
  other = await network.createAccount('wilma.test')
})
after(async () => {
  fetch.close()
  await network.stop()
})
afterEach(() => network.faults.clear())

const on = 'on: {pull: {branches: [main]}}\n'
const workflow = `${on}steps: [{run: make}]\n`

interface Ground {
  dir: string
  repo: AtUri
  base: string
  tip: string
  tree: string
}

let grounds = 0

/** A base and a tip that changes `src/pear.ts`; the workflows are those of the tip. */
function plant(t: TestContext, workflows: Record<string, string>, more: Record<string, string> = {}): Ground {
  const dir = newRepo(t)
  const name = parseRecordKey(`plot-${++grounds}`)
  assert.ok(name)
  const files = Object.fromEntries(Object.entries(workflows).map(([file, text]) => [`.knotless/workflows/${file}`, text]))
  const base = commit(dir, 'main', { ...files, 'README.md': 'Pears' })
  const tip = commit(dir, 'main', { ...files, 'README.md': 'Pears', 'src/pear.ts': 'pear', ...more })
  return { dir, repo: repoUri(lander.did, name), base, tip, tree: git(dir, ['rev-parse', `${tip}^{tree}`]) }
}

function judge(
  ground: Ground,
  asked: { lander?: Did; generation?: number; signal?: AbortSignal; patienceMs?: number; branch?: string } = {},
) {
  const { dir, repo, base, tip, tree } = ground
  const { signal, patienceMs, ...rest } = asked
  const deps = { reader, now: Date.now, ...(patienceMs === undefined ? {} : { patienceMs }) }
  return landingChecks(deps, { repo, lander: lander.did, branch: 'main', generation: 1, base, tip, tree, place: { dir, signal }, ...rest })
}

/** Files a check of the ground's batch; `fields` and `at` lie about it. */
async function file(
  ground: Ground,
  fields: Record<string, unknown> = {},
  at: { by?: DevAccount; file?: string; ref?: string; tip?: string; base?: string; tid?: string; key?: string } = {},
): Promise<string> {
  const name = at.file ?? 'test.yml'
  const ref = at.ref ?? 'refs/heads/main'
  const run = { tip: at.tip ?? ground.tip, base: at.base ?? ground.base, file: name, tid: at.tid ?? tids.next() }
  const pull = `at://${other.did}/dev.knotless.pull/3mhg2dhgpl22a`
  const written = await (at.by ?? lander).put('dev.knotless.check', at.key ?? queueCheckKey({ repo: ground.repo, ref }, run), {
    repo: ground.repo,
    workflow: name.replace('.yml', ''),
    status: 'success',
    ref,
    generation: 1,
    commit: run.tip,
    baseCommit: run.base,
    tree: ground.tree,
    batch: [{ pull, head: ground.tip, commit: ground.tip }],
    of: 1,
    trusted: true,
    createdAt: new Date().toISOString(),
    ...fields,
  })
  return written.uri
}

const at = (seconds: number) => new Date(1_790_000_000_000 + seconds * 1000).toISOString()

test('GWY-11 a workflow that the lander did not run is missing, and one that passed is not', async t => {
  const ground = plant(t, { 'test.yml': workflow, 'lint.yml': workflow })
  await file(ground)
  assert.deepEqual(await judge(ground), { missing: [{ workflow: 'lint', status: 'not run' }] })
  await file(ground, {}, { file: 'lint.yml' })
  assert.deepEqual(await judge(ground), { missing: [] })
})

test('GWY-11 workflows of other branches, of pushes and of nobody ask for nothing', async t => {
  const ground = plant(t, {
    'deploy.yml': 'on: {push: {branches: [main]}}\nsteps: [{run: make}]',
    'release.yml': 'on: {pull: {branches: ["release/*"]}}\nsteps: [{run: make}]',
    'notes.txt': 'not a workflow',
  })
  assert.deepEqual(await judge(ground), { missing: [] })
  assert.deepEqual(await judge(ground, { branch: 'release/1' }), { missing: [{ workflow: 'release', status: 'not run' }] })
})

test('GWY-11 a workflow that none of the changed paths asks for is fine without a run, and is missed when one does', async t => {
  const docs = `${on}paths: ["docs/**"]\nsteps: [{run: make}]\n`
  assert.deepEqual(await judge(plant(t, { 'docs.yml': docs })), { missing: [] })
  const changed = plant(t, { 'docs.yml': docs }, { 'docs/pears/a.md': 'A pear' })
  assert.deepEqual(await judge(changed), { missing: [{ workflow: 'docs', status: 'not run' }] })
})

test('GWY-11 a file that is deleted is a path that changed', async t => {
  const dir = newRepo(t)
  const docs = `${on}paths: ["docs/**"]\nsteps: [{run: make}]\n`
  const base = commit(dir, 'main', { '.knotless/workflows/docs.yml': docs, 'docs/a.md': 'a' })
  const tip = commit(dir, 'main', { '.knotless/workflows/docs.yml': docs, 'README.md': 'a' })
  const { repo } = plant(t, {})
  const ground = { dir, repo, base, tip, tree: git(dir, ['rev-parse', `${tip}^{tree}`]) }
  assert.deepEqual(await judge(ground), { missing: [{ workflow: 'docs', status: 'not run' }] })
})

for (const [what, fields, status] of [
  ['failed', { status: 'failure' }, 'failed'],
  ['is still running', { status: 'running' }, 'running'],
  ['waits', { status: 'queued' }, 'queued'],
  ['ended without a verdict', { status: 'error', verdict: 'timeout' }, 'no verdict'],
  ['did not load', { status: 'error' }, 'failed'],
  ['was cancelled', { status: 'cancelled' }, 'cancelled'],
  ['says skipped though its paths changed', { status: 'skipped' }, 'skipped'],
  ['has a status that nobody knows', { status: 'splendid' }, 'not passed'],
] as const) {
  test(`GWY-11 a run that ${what} is no pass`, async t => {
    const ground = plant(t, { 'test.yml': workflow })
    await file(ground, fields)
    assert.deepEqual(await judge(ground), { missing: [{ workflow: 'test', status }] })
  })
}

test('GWY-11 of several runs the newest counts, by its start', async t => {
  const red = plant(t, { 'test.yml': workflow })
  await file(red, { status: 'failure', startedAt: at(20) })
  await file(red, { startedAt: at(10) })
  assert.deepEqual(await judge(red), { missing: [{ workflow: 'test', status: 'failed' }] })
  const green = plant(t, { 'test.yml': workflow })
  await file(green, { startedAt: at(20) })
  await file(green, { status: 'failure', startedAt: at(10) })
  assert.deepEqual(await judge(green), { missing: [] })
})

for (const [what, fields, lie] of [
  ['at another tip', {}, { tip: 'c'.repeat(40) }],
  ['on another base', {}, { base: 'c'.repeat(40) }],
  ['of another branch', {}, { ref: 'refs/heads/other' }],
  ['of another workflow', {}, { file: 'lint.yml' }],
  ['whose key says this tip, and whose record another', { commit: 'c'.repeat(40) }, {}],
  ['whose key says this base, and whose record another', { baseCommit: 'c'.repeat(40) }, {}],
  ['whose record says another branch', { ref: 'refs/heads/other' }, {}],
  ['whose record says another workflow', { workflow: 'lint' }, {}],
  ['of another repository', { repo: 'at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/dev.knotless.repo/x' }, {}],
  ['of an older generation of the branch (CHK-9)', { generation: 0 }, {}],
  ['of another tree (LND-9)', { tree: 'c'.repeat(40) }, {}],
  ['of no batch', { batch: undefined }, {}],
  ['with a word for a key', {}, { key: 'test' }],
] as const) {
  test(`GWY-11 CHK-8 a pass ${what} is none`, async t => {
    const ground = plant(t, { 'test.yml': workflow })
    await file(ground, fields, lie)
    assert.deepEqual(await judge(ground), { missing: [{ workflow: 'test', status: 'not run' }] })
  })
}

test('GWY-11 a pass in another account is none, and another lander’s account is asked for its own', async t => {
  const ground = plant(t, { 'test.yml': workflow })
  await file(ground, {}, { by: other })
  assert.deepEqual(await judge(ground), { missing: [{ workflow: 'test', status: 'not run' }] })
  assert.deepEqual(await judge(ground, { lander: other.did }), { missing: [] })
})

test('GWY-11 a pull’s own pass is no batch’s (CHK-11)', async t => {
  const ground = plant(t, { 'test.yml': workflow })
  const pull = `at://${other.did}/dev.knotless.pull/3mhg2dhgpl22a`
  const key = pullCheckKey(pull, { tip: ground.tip, base: ground.base, file: 'test.yml', tid: tids.next() })
  await file(ground, { pull, batch: undefined }, { key })
  assert.deepEqual(await judge(ground), { missing: [{ workflow: 'test', status: 'not run' }] })
})

test('GWY-11 RUN-5 a reused pass of the same tree, filed by the same account, counts', async t => {
  const ground = plant(t, { 'test.yml': workflow })
  const first = await file(ground, {}, { tip: 'c'.repeat(40) })
  await file(ground, { reusedFrom: first })
  assert.deepEqual(await judge(ground), { missing: [] })
})

const reused = 'reused, but not from the lander’s own pass of the same files'
for (const [what, first, by, own] of [
  ['of another tree', { tree: 'd'.repeat(40) }, 'lander', {}],
  ['that does not say its own tree', {}, 'lander', { tree: undefined }],
  ['filed by another account', {}, 'other', {}],
  ['that failed', { status: 'failure' }, 'lander', {}],
  ['that was skipped (CHK-8)', { status: 'skipped' }, 'lander', {}],
  ['that was reused itself', { reusedFrom: 'at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/dev.knotless.check/a' }, 'lander', {}],
  ['of another workflow', { workflow: 'lint' }, 'lander', {}],
  ['into another branch', { ref: 'refs/heads/other' }, 'lander', {}],
  ['of an older generation', { generation: 0 }, 'lander', {}],
  [
    'of a pull that is not trusted',
    { pull: 'at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/dev.knotless.pull/3mhg2dhgpl22a', trusted: false },
    'lander',
    {},
  ],
] as const) {
  test(`GWY-11 RUN-5 a pass taken over from one ${what} is none`, async t => {
    const ground = plant(t, { 'test.yml': workflow })
    const source = await file(ground, first, { tip: 'c'.repeat(40), by: by === 'other' ? other : lander })
    await file(ground, { reusedFrom: source, ...own })
    assert.deepEqual(await judge(ground), { missing: [{ workflow: 'test', status: reused }] })
  })
}

test('GWY-11 a pass taken over from a check that is not there is none', async t => {
  const ground = plant(t, { 'test.yml': workflow })
  await file(ground, { reusedFrom: `at://${lander.did}/dev.knotless.check/none` })
  assert.deepEqual(await judge(ground), { missing: [{ workflow: 'test', status: reused }] })
})

test('GWY-11 CHK-6 a workflow file that cannot be used is missed, whatever runs are there', async t => {
  const ground = plant(t, { 'test.yml': 'on: {pull: }\nsteps: 5', 'lint.yml': workflow })
  await file(ground)
  await file(ground, {}, { file: 'lint.yml' })
  assert.deepEqual(await judge(ground), {
    missing: [{ workflow: 'test.yml', status: 'cannot be used: line 2, "steps", It must be a list' }],
  })
})

test('GWY-11 workflow files that are too many or too large are missed', async t => {
  const many = plant(t, Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`${n}.yml`, workflow])))
  assert.match((await judge(many))?.missing[0]?.status ?? '', /more than 100/)
  const big = plant(t, { 'test.yml': `${workflow}# ${'x'.repeat(70_000)}`, 'lint.yml': workflow })
  await file(big, {}, { file: 'lint.yml' })
  const missing = (await judge(big))?.missing ?? []
  assert.deepEqual(
    missing.map(one => one.workflow),
    ['test.yml'],
  )
  assert.match(missing[0]?.status ?? '', /65,536 bytes/)
})

test('GWY-11 the runs are found among many others before and after them, and over several pages', async t => {
  const ground = plant(t, { 'test.yml': workflow })
  for (const tip of ['0'.repeat(40), 'f'.repeat(40)]) for (let n = 0; n < 3; n++) await file(ground, { status: 'failure' }, { tip })
  for (let n = 0; n < 110; n++) await file(ground, { status: 'failure', startedAt: at(n) })
  assert.deepEqual(await judge(ground), { missing: [{ workflow: 'test', status: 'failed' }] })
  await file(ground, { startedAt: at(1_000) })
  assert.deepEqual(await judge(ground), { missing: [] })
})

test('GWY-11 a lander’s account that does not answer is told apart from one without runs', async t => {
  const ground = plant(t, { 'test.yml': workflow })
  const fault = network.faults.add({ fault: 'refuse', method: 'com.atproto.repo.listRecords', account: 'rigby.test' })
  assert.equal(await judge(ground), undefined)
  fault.clear()
  network.faults.add({ fault: 'stall', method: 'com.atproto.repo.listRecords', account: 'rigby.test' })
  assert.equal(await judge(ground, { patienceMs: 200 }), undefined)
})

test('GWY-11 a reused run whose source cannot be read says nothing', async t => {
  const ground = plant(t, { 'test.yml': workflow })
  await file(ground, { reusedFrom: await file(ground, {}, { tip: 'c'.repeat(40) }) })
  network.faults.add({ fault: 'refuse', method: 'com.atproto.repo.getRecord', account: 'rigby.test' })
  assert.equal(await judge(ground), undefined)
})

test('GWY-11 commits that git does not have say nothing', async t => {
  const ground = plant(t, { 'test.yml': workflow })
  assert.equal(await judge({ ...ground, tip: 'c'.repeat(40) }), undefined)
  assert.equal(await judge({ ...ground, tip: '--all' }), undefined)
  const docs = plant(t, { 'docs.yml': `${on}paths: [docs]\nsteps: [{run: make}]` })
  assert.equal(await judge({ ...docs, base: 'c'.repeat(40) }), undefined)
})
