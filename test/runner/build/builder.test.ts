import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { archiveTree } from '../../../src/git/archive.ts'
import type { Source } from '../../../src/runner/types.ts'
import { commit, git, makePack, newRepo } from '../../git/support.ts'
import { baseFiles } from '../../server/gateway-world.ts'
import { until } from '../../support/until.ts'
import { type BuildWorld, built, candidatesOf, mirrorOf, startBuildWorld, tipOf } from './world.ts'

let world: BuildWorld
before(async () => {
  world = await startBuildWorld()
})
after(() => world.end())

const apple = (...lines: string[]) => ({ 'trees/apple.txt': `${lines.join('\n')}\n` })

test('BLD-2 BLD-3 LND-9 pulls from the repository and from forks become one stack, which plain git pushes and archives', async t => {
  const planted = await world.plant('orchard')
  const { carol, bob } = world.people
  const pulls = [
    await planted.openPull({ branch: 'own', files: { 'own.txt': 'own\n' }, title: 'Own', body: 'Because.' }),
    await planted.openPull({ branch: 'fork', files: apple('one', 'two', 'three', 'four', '5'), author: carol, fork: true, title: 'Fork' }),
    await planted.openPull({ branch: 'other', files: apple('1', 'two', 'three', 'four', 'five'), author: bob, fork: true, title: 'Other' }),
  ]
  const builder = world.builder()
  const ground = await world.ground(planted)
  const { stack, left } = await built(builder, ground, pulls)
  assert.deepEqual(left, {})
  assert.ok(stack !== null)
  assert.deepEqual(
    stack.members.map(({ pull, key, head }) => ({ pull, key, head })),
    pulls.map(({ uri, head }, n) => ({ pull: uri, key: `key-${n}`, head })),
  )
  const { dir } = await mirrorOf(builder, ground)
  // The mirror by itself: nothing of it is read from where the forks are.
  assert.equal(git(dir, ['fsck', '--full', '--strict', '--no-dangling', stack.tip]), '')
  let parent = planted.tip
  for (const [n, { commit: id, tree, head }] of stack.members.entries()) {
    assert.equal(git(dir, ['merge-tree', '--write-tree', parent, head]), tree)
    const [title, body] =
      [
        ['Own', 'Because.\n\n'],
        ['Fork', ''],
        ['Other', ''],
      ][n] ?? []
    const { did } = world.people.rigby
    const object = git(dir, ['cat-file', 'commit', id])
    assert.match(
      object,
      new RegExp(
        `^tree ${tree}\nparent ${parent}\nauthor Carol <carol@example.com> \\d+ \\+0200\ncommitter ${did} <${did}@knotless.invalid> `,
      ),
    )
    assert.ok(object.endsWith(`\n\n${title}\n\n${body}${pulls[n]?.uri}`), object)
    parent = id
  }
  assert.equal(parent, stack.tip)
  assert.equal(stack.tree, stack.members.at(-1)?.tree)

  const there = newRepo(t)
  git(dir, ['push', '--quiet', there, `${planted.tip}:refs/heads/main`])
  git(dir, ['push', '--quiet', there, `${stack.tip}:refs/heads/main`])
  assert.equal(git(there, ['rev-parse', 'main^{tree}']), stack.tree)
  assert.equal(git(there, ['fsck', '--full', '--strict']), '')
  for (const id of [stack.tip, stack.tree]) {
    const archive = await archiveTree({ gitDir: dir, commit: id })
    assert.ok(archive.ok)
    const names = execFileSync('tar', ['-tf', '-'], { input: await buffer(archive.tar) })
      .toString()
      .split('\n')
    assert.deepEqual(names.filter(name => name !== '' && !name.endsWith('/')).sort(), ['README.md', 'own.txt', 'trees/apple.txt'])
  }
})

test('BLD-5 BLD-6 BLD-7 who does not apply is left out, the rest goes on, and the next ones take the places', async () => {
  const planted = await world.plant('conflicts')
  const { carol, bob } = world.people
  const pulls = [
    await planted.openPull({ branch: 'late', files: apple('one', 'two', 'three') }),
    await planted.openPull({ branch: 'first', files: apple('one', 'two', 'mine', 'four', 'five') }),
    await planted.openPull({ branch: 'aside', files: { aside: 'x\n' }, author: bob, fork: true }),
    await planted.openPull({ branch: 'second', files: apple('one', 'two', 'theirs', 'four', 'five'), author: carol, fork: true }),
    await planted.openPull({ branch: 'next', files: { next: 'x\n' } }),
    await planted.openPull({ branch: 'never', files: { never: 'x\n' } }),
  ]
  const tip = commit(planted.gitDir, 'main', { ...baseFiles, ...apple('one', 'two', 'three', 'four', 'six') })
  await planted.push('main', tip)
  const builder = world.builder()
  const ground = await world.ground(planted)
  const { stack, left } = await built(builder, ground, pulls, { most: 3 })
  assert.deepEqual(
    stack?.members.map(({ pull }) => pulls.find(one => one.uri === pull)?.branch),
    ['first', 'aside', 'next'],
  )
  assert.deepEqual(left, {
    late: { why: 'conflict', files: ['trees/apple.txt'], more: 0, with: [] },
    second: { why: 'conflict', files: ['trees/apple.txt'], more: 0, with: [{ pull: pulls[1]?.uri, branch: 'first' }] },
  })
  // Built ahead, onto what is stacked: the conflict is one with its base.
  const ahead = await built(builder, ground, pulls.slice(3, 4), { base: stack?.tip ?? '' })
  assert.equal(ahead.stack, null)
  assert.deepEqual(ahead.left.second, { why: 'conflict', files: ['trees/apple.txt'], more: 0, with: [] })
})

test('BLD-4 a head that is gone, cannot be read or whose account is gone leaves out its own pull alone', async () => {
  const planted = await world.plant('heads')
  const { bob, carol, mallory } = world.people
  const pulls = [
    await planted.openPull({ branch: 'gone-here', files: { a: 'a' } }),
    await planted.openPull({ branch: 'gone-there', files: { b: 'b' }, author: bob, fork: true }),
    await planted.openPull({ branch: 'unreadable', files: { c: 'c' }, author: carol, fork: true }),
    await planted.openPull({ branch: 'account', files: { d: 'd' }, author: mallory, fork: true }),
    await planted.openPull({ branch: 'good', files: { e: 'e' } }),
  ]
  await planted.push('gone-here', null)
  await planted.pushAs(bob, 'gone-there', null)
  const known = await world.ground(planted)
  const sources = new Map<string, Source>(known.sources)
  const forkOf = (did: string) => `at://${did}/dev.knotless.repo/heads`
  sources.set(forkOf(carol.did), { state: 'unreadable', server: 'pds.example', said: 'no' })
  sources.set(forkOf(mallory.did), { state: 'account-gone' })
  const { stack, left } = await built(world.builder(), { ...known, sources }, pulls)
  assert.equal(stack?.members.length, 1)
  assert.deepEqual(left, {
    'gone-here': { why: 'gone' },
    'gone-there': { why: 'gone' },
    unreadable: { why: 'unreadable', server: 'pds.example' },
    account: { why: 'account-gone' },
  })
  // A fork that was not read for the pass is read now.
  const unread = await built(world.builder(), { ...known, sources: new Map() }, pulls)
  assert.deepEqual(Object.keys(unread.left), ['gone-here', 'gone-there'])
  assert.equal(unread.stack?.members.length, 3)
})

test('BLD-4 a fork whose server does not give its packs is unreadable, and its server is named', async () => {
  const planted = await world.plant('stalled')
  const pulls = [
    await planted.openPull({ branch: 'stalled', files: { a: 'a' }, author: world.people.bob, fork: true }),
    await planted.openPull({ branch: 'good', files: { b: 'b' } }),
  ]
  const ground = await world.ground(planted)
  const builder = world.builder()
  await mirrorOf(builder, ground)
  world.network.faults.add({ fault: 'refuse', method: 'com.atproto.sync.getBlob' })
  const { stack, left } = await built(builder, ground, pulls).finally(() => world.network.faults.clear())
  assert.equal(stack?.members.length, 1)
  assert.deepEqual(left, { stalled: { why: 'unreadable', server: new URL(world.network.pdsUrl).host } })
  // It is tried again, and comes.
  assert.equal((await built(builder, ground, pulls)).stack?.members.length, 2)
})

test('BLD-4 a fork that stalls keeps nobody waiting, comes all the same, and is not waited for at the end', async () => {
  const planted = await world.plant('slow')
  const pulls = [
    await planted.openPull({ branch: 'slow', files: { a: 'a' }, author: world.people.bob, fork: true }),
    await planted.openPull({ branch: 'good', files: { b: 'b' } }),
  ]
  const ground = await world.ground(planted)
  const builder = world.builder({}, { patienceMs: 100 })
  await mirrorOf(builder, ground)
  const stall = world.network.faults.add({ fault: 'stall', method: 'com.atproto.sync.getBlob' })
  const { stack, left } = await built(builder, ground, pulls)
  assert.equal(stack?.members.length, 1)
  assert.equal(left.slow?.why, 'unreadable')
  assert.equal((await built(builder, ground, pulls)).left.slow?.why, 'unreadable')
  assert.equal(stall.hits(), 1)
  stall.clear()
  await until(async () => (await built(builder, ground, pulls)).stack?.members.length === 2, { what: 'the fork' })

  const again = world.network.faults.add({ fault: 'stall', method: 'com.atproto.sync.getBlob' })
  const other = world.builder()
  const brought = other.bring(ground)
  await until(() => again.hits() > 0, { what: 'the download' })
  await other.close()
  const ended = await brought
  assert.equal(ended.ok || ended.code, 'upstream-failed')
  again.clear()
})

test('STO-11 a fork that was refused is not downloaded again until its record changes', async () => {
  const planted = await world.plant('refused')
  const { mallory } = world.people
  const pull = await planted.openPull({ branch: 'bad', files: { a: 'a' }, author: mallory, fork: true })
  const bad = { bad: 'a'.repeat(40) }
  await world.force(mallory, 'refused', bad, [makePack(planted.gitDir, [planted.tip])])
  let downloads = 0
  const builder = world.builder({
    reader: {
      ...world.reader,
      getBlob(...args) {
        if (args[0] === mallory.did) downloads += 1
        return world.reader.getBlob(...args)
      },
    },
  })
  const ground = await world.ground(planted)
  for (let round = 0; round < 3; round++) assert.equal((await built(builder, ground, [pull])).left.bad?.why, 'hostile')
  assert.equal(downloads, 1)
  await world.force(mallory, 'refused', { bad: pull.head }, [makePack(planted.gitDir, [pull.head])])
  assert.equal((await built(builder, await world.ground(planted), [pull])).stack?.members.length, 1)
})

test('BLD-8 a pull that has nothing left to land names the commit that has it, if one does', async () => {
  const planted = await world.plant('empty')
  const pulls = [
    await planted.openPull({ branch: 'landed', files: { a: 'a\n' } }),
    await planted.openPull({ branch: 'by-hand', files: { b: 'b\n' } }),
    await planted.openPull({ branch: 'twin', files: { c: 'c\n' } }),
    await planted.openPull({ branch: 'other-twin', files: { c: 'c\n' } }),
  ]
  const landed = commit(planted.gitDir, 'main', { ...baseFiles, a: 'a\n' }, { message: `Landed\n\n${pulls[0]?.uri}\n` })
  await planted.push('main', commit(planted.gitDir, 'main', { ...baseFiles, a: 'a\n', b: 'b\n' }))
  const { stack, left } = await built(world.builder(), await world.ground(planted), pulls)
  assert.deepEqual(left, { landed: { why: 'empty', commit: landed }, 'by-hand': { why: 'empty' } })
  // The twin changes nothing on the other, which may not land: it is in neither, and waits.
  assert.deepEqual(
    stack?.members.map(({ pull }) => pull),
    [pulls[2]?.uri],
  )
})

test('CHK-10 a stack that is built again within a second gets another id', async () => {
  const planted = await world.plant('again')
  const pulls = [await planted.openPull({ branch: 'one', files: { a: 'a' } }), await planted.openPull({ branch: 'two', files: { b: 'b' } })]
  const second = Date.now()
  const builder = world.builder({ now: () => second })
  const ground = await world.ground(planted)
  const stacks = [await built(builder, ground, pulls), await built(builder, ground, pulls), await built(builder, ground, pulls.slice(0, 1))]
  assert.equal(new Set(stacks.map(({ stack }) => stack?.tip)).size, 3)
  assert.equal(stacks[0]?.stack?.tree, stacks[1]?.stack?.tree)
  const ids = new Set(stacks.slice(0, 2).flatMap(({ stack }) => stack?.members.map(one => one.commit)))
  assert.ok(!ids.has(stacks[2]?.stack?.tip))
})

test('BLD-2 a head that moved is fetched again, and a tip that moved is built on', async () => {
  const planted = await world.plant('moves')
  const pull = await planted.openPull({ branch: 'moves', files: { a: 'a' }, author: world.people.bob, fork: true })
  const builder = world.builder()
  await built(builder, await world.ground(planted), [pull])
  const head = commit(planted.gitDir, 'moves', { ...baseFiles, a: 'b' })
  await planted.pushAs(world.people.bob, 'moves', head)
  const tip = commit(planted.gitDir, 'main', { ...baseFiles, c: 'c' })
  await planted.push('main', tip)
  const ground = await world.ground(planted)
  const { stack } = await built(builder, ground, [pull])
  assert.equal(stack?.members[0]?.head, head)
  const { dir } = await mirrorOf(builder, ground)
  assert.equal(git(dir, ['rev-parse', `${stack?.tip}^`]), tip)
  assert.equal(git(dir, ['show', `${stack?.tip}:a`]), 'b')
  assert.deepEqual(readdirSync(join(dir, 'quarantine')), [])
})

test('PRE-7 PRE-9 heads are merged with the tip each by itself, trees in the mirror, in the order asked', async () => {
  const planted = await world.plant('merged')
  const { bob } = world.people
  const pulls = [
    await planted.openPull({ branch: 'clean', files: { a: 'a' }, author: bob, fork: true }),
    await planted.openPull({ branch: 'against', files: apple('one', 'two', 'x', 'four', 'five') }),
    await planted.openPull({ branch: 'also', files: { b: 'b' } }),
  ]
  await planted.push('main', commit(planted.gitDir, 'main', { ...baseFiles, ...apple('one', 'two', 'y', 'four', 'five') }))
  const ground = await world.ground(planted)
  const builder = world.builder()
  const [tip, older] = [tipOf(ground), planted.tip]
  const ask = (n: number, at: string, head = pulls[n]?.head ?? '') => ({ pull: pulls[n]?.uri ?? '', head, tip: at })
  const asked = [ask(0, tip), ask(1, tip), ask(1, older), ask(2, tip), ask(2, tip, 'e'.repeat(40)), { pull: 'at://nobody', head: tip, tip }]
  const outcomes = await builder.merged(ground, asked)
  const { dir } = await mirrorOf(builder, ground)
  const clean = (n: number, at: string) => ({ ok: true, tree: git(dir, ['merge-tree', '--write-tree', at, pulls[n]?.head ?? '']) })
  assert.deepEqual(outcomes.slice(0, 4), [
    clean(0, tip),
    { ok: false, why: 'conflict', files: ['trees/apple.txt'] },
    clean(1, older),
    clean(2, tip),
  ])
  for (const one of outcomes.slice(4)) assert.ok(!one.ok && 'code' in one && one.code === 'missing-commit', JSON.stringify(one))
  // Nothing asked, nothing done; and none of it is a stack.
  assert.deepEqual(await builder.merged(ground, []), [])
})

test('CHK-1 CHK-6 PRE-1 workflows are those at the tip for the trigger and the branch; skipped and faulty ones are told apart', async () => {
  const workflow = (on: string, more = '') => `on: ${on}\n${more}steps:\n  - run: "true"\n`
  const files = {
    ...baseFiles,
    '.knotless/workflows/all.yml': workflow('{ pull: {}, push: { branches: [main] } }'),
    '.knotless/workflows/first.yml': workflow('{ pull: { branches: [main] } }', 'queue: first\n'),
    '.knotless/workflows/pears.yml': workflow('{ pull: {} }', 'paths: ["pears/**"]\n'),
    '.knotless/workflows/release.yml': workflow('{ pull: { branches: ["release/*"] } }'),
    '.knotless/workflows/bad.yml': 'on: { pull: {} }\nstep: []\n',
  }
  const planted = await world.plant('workflows', { files })
  const pulls = [
    await planted.openPull({ branch: 'pears', files: { ...files, 'pears/one': 'x' } }),
    await planted.openPull({ branch: 'new', files: { ...files, '.knotless/workflows/new.yml': workflow('{ pull: {} }') } }),
  ]
  const builder = world.builder()
  const ground = await world.ground(planted)
  const { stack } = await built(builder, ground, pulls)
  assert.ok(stack !== null)
  const names = async (asked: Partial<Parameters<typeof builder.workflows>[1]>) => {
    const chosen = await builder.workflows(ground, { trigger: 'pull', branch: 'main', base: planted.tip, tip: stack.tip, ...asked })
    assert.ok(!('ok' in chosen), JSON.stringify(chosen))
    assert.deepEqual(
      chosen.faulty.map(({ file }) => file),
      ['bad.yml'],
    )
    assert.match(chosen.faulty[0]?.summary ?? '', /bad\.yml, line 2, "step": This key is not known\./)
    return { selected: chosen.selected.map(({ name }) => name), skipped: chosen.skipped.map(({ name }) => name) }
  }
  assert.deepEqual(await names({}), { selected: ['all', 'first', 'new', 'pears'], skipped: [] })
  assert.deepEqual(await names({ tip: stack.tree }), { selected: ['all', 'first', 'new', 'pears'], skipped: [] })
  assert.deepEqual(await names({ base: stack.members[0]?.commit ?? '' }), { selected: ['all', 'first', 'new'], skipped: ['pears'] })
  assert.deepEqual(await names({ branch: 'release/1', tip: planted.tip }), { selected: ['all', 'release'], skipped: ['pears'] })
  assert.deepEqual(await names({ trigger: 'push', base: '' }), { selected: ['all'], skipped: [] })
  const missing = await builder.workflows(ground, { trigger: 'pull', branch: 'main', base: planted.tip, tip: 'f'.repeat(40) })
  assert.ok('ok' in missing && missing.code === 'failed')
})

test('what is not a pull of the repository is passed over; a base that is not there is refused', async () => {
  const planted = await world.plant('odd')
  const pull = await planted.openPull({ branch: 'one', files: { a: 'a' } })
  const ground = await world.ground(planted)
  const builder = world.builder()
  const stranger = { pull: 'at://did:plc:zzzzzzzzzzzzzzzzzzzzzzzz/dev.knotless.pull/3lxyzabcdef2a', entry: 'x', key: 'y' }
  const order = { base: planted.tip, candidates: [stranger, ...candidatesOf([pull])], most: 2 }
  const outcome = await builder.build(ground, order)
  assert.ok(outcome.ok && outcome.stack?.members.length === 1 && outcome.left.size === 0)
  const none = await builder.build(ground, { ...order, base: 'a'.repeat(40) })
  assert.ok(!none.ok && none.code === 'missing-commit')
  const nothing = await builder.build(ground, { ...order, candidates: [] })
  assert.ok(nothing.ok && nothing.stack === null)
})

test('a mirror that cannot be written is refused, and the log says so without a path', async () => {
  const planted = await world.plant('broken')
  const ground = await world.ground(planted)
  const mirrors = { of: () => Promise.reject(new Error("ENOSPC: no space left on device, mkdir '/srv/knotless/mirrors/x'")) }
  const builder = world.builder({ mirrors })
  const outcome = await builder.build(ground, { base: planted.tip, candidates: [], most: 1 })
  assert.ok(!outcome.ok && outcome.code === 'failed')
  assert.ok(world.lines.some(line => line.includes('ENOSPC: no space left on device, mkdir …')))
  assert.ok(!world.lines.some(line => line.includes('/srv/')))
})
