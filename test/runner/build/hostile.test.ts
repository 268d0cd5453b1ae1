import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { buffer } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { archiveTree } from '../../../src/git/archive.ts'
import { treeBounds } from '../../../src/git/bounds.ts'
import type { LeftOut } from '../../../src/runner/planner/types.ts'
import type { Ground } from '../../../src/runner/types.ts'
import { ObjectMaker } from '../../git/pack-writer.ts'
import { commit, git, makePack } from '../../git/support.ts'
import { type OpenedPull, type Planted, uriOf } from '../../server/gateway-world.ts'
import { type BuildWorld, built, mirrorOf, startBuildWorld, type TestBuilder } from './world.ts'

let world: BuildWorld
before(async () => {
  world = await startBuildWorld()
})
after(() => world.end())

const blobMode = '100644'

interface Made {
  head: string
  packs: readonly Buffer[]
}

/** A pull whose head lies in a repository of mallory's own, put there past every check. */
async function forced(planted: Planted, branch: string, { head, packs }: Made): Promise<OpenedPull> {
  const { mallory } = world.people
  const fork = `${planted.name}-${branch}`
  await world.force(mallory, fork, { [branch]: head }, packs)
  const fields = {
    repo: planted.uri,
    branch: 'main',
    head: { repo: `at://${mallory.did}/dev.knotless.repo/${fork}`, branch },
    title: `Change ${branch}`,
  }
  const { uri } = await mallory.create('dev.knotless.pull', { ...fields, createdAt: new Date().toISOString() })
  return { uri: uriOf(uri), head, branch }
}

/** A commit on the planted tip of a tree that is made by hand: its own entries beside the base's. */
function handmade(
  planted: Planted,
  make: (maker: ObjectMaker) => readonly { mode: string; name: string; id: string }[],
  author?: Buffer,
): Made {
  const maker = new ObjectMaker()
  const entries = [...make(maker), ...baseEntries(planted)].sort((a, b) => compare(a, b))
  const tree = maker.tree(entries)
  const head = maker.add(
    'commit',
    Buffer.concat([
      Buffer.from(`tree ${tree}\nparent ${planted.tip}\n`),
      author ?? Buffer.from('author Mal <m@example.com> 5 +0000'),
      Buffer.from('\ncommitter Mal <m@example.com> 5 +0000\n\nx\n'),
    ]),
  )
  return { head, packs: [wholeOf(planted), maker.pack()] }
}

function wholeOf({ gitDir, tip }: Planted): Buffer {
  return makePack(gitDir, [tip])
}

function baseEntries({ gitDir, tip }: Planted) {
  return git(gitDir, ['ls-tree', tip])
    .split('\n')
    .map(line => {
      const [mode = '', , id = '', name = ''] = line.split(/[ \t]/)
      return { mode: mode.replace(/^0/, ''), name, id }
    })
}

/** As git sorts a tree: a folder as if its name ended in a slash. */
function compare(a: { mode: string; name: string }, b: { mode: string; name: string }): number {
  const key = ({ mode, name }: { mode: string; name: string }) => Buffer.from(mode === '40000' ? `${name}/` : name)
  return Buffer.compare(key(a), key(b))
}

function detail(left: LeftOut | undefined): string {
  assert.equal(left?.why, 'hostile', JSON.stringify(left))
  assert.ok(left?.why === 'hostile')
  assert.match(left.detail, /^(git |[A-Z"]).*\.$/)
  assert.ok(!/knotless-|\/tmp|mirrors/.test(left.detail), left.detail)
  return left.detail
}

async function archived(builder: TestBuilder, ground: Ground, tree: string): Promise<string[]> {
  const { dir } = await mirrorOf(builder, ground)
  const archive = await archiveTree({ gitDir: dir, commit: tree })
  assert.ok(archive.ok)
  const tar = await buffer(archive.tar)
  return execFileSync('tar', ['-tf', '-'], { input: tar }).toString().split('\n').filter(Boolean)
}

test('STO-11 heads out of bounds or malformed are left out one by one, each with a sentence; the others are stacked', async () => {
  const planted = await world.plant('bounds')
  const { gitDir } = planted
  const deep = (maker: ObjectMaker, levels: number) => {
    let id = maker.tree([{ mode: blobMode, name: 'x', id: maker.add('blob', 'x') }])
    for (let level = 0; level < levels; level++) id = maker.tree([{ mode: '40000', name: 'd', id }])
    return [{ mode: '40000', name: 'deep', id }]
  }
  const bomb = (maker: ObjectMaker) => {
    let id = maker.add('blob', 'x')
    for (let level = 0; level < 8; level++) {
      const mode = level === 0 ? blobMode : '40000'
      const below = id
      id = maker.tree(Array.from({ length: 10 }, (_, n) => ({ mode, name: `n${n}`, id: below })))
    }
    return [{ mode: '40000', name: 'bomb', id }]
  }
  const one = (name: string) => (maker: ObjectMaker) => [{ mode: blobMode, name, id: maker.add('blob', 'x') }]
  const unrelated = commit(gitDir, 'unrelated', { other: 'x' }, { parents: [] })
  const whole = wholeOf(planted)
  const good = async (branch: string) => await planted.openPull({ branch, files: { [branch]: 'x\n' } })
  const pulls = [
    await good('good-1'),
    await forced(
      planted,
      'deep',
      handmade(planted, maker => deep(maker, treeBounds.depth)),
    ),
    await forced(
      planted,
      'abyss',
      handmade(planted, maker => deep(maker, 20_000)),
    ),
    await forced(planted, 'bomb', handmade(planted, bomb)),
    await good('good-2'),
    await forced(
      planted,
      'big',
      handmade(planted, maker => [{ mode: blobMode, name: 'big', id: maker.add('blob', Buffer.alloc(200 * 2 ** 20)) }]),
    ),
    await forced(planted, 'name', handmade(planted, one('n'.repeat(treeBounds.name + 1)))),
    await forced(planted, 'git', handmade(planted, one('.git'))),
    await forced(planted, 'unrelated', { head: unrelated, packs: [makePack(gitDir, [unrelated])] }),
    await forced(planted, 'nowhere', { head: 'a'.repeat(40), packs: [whole] }),
    await forced(planted, 'torn', { head: planted.tip, packs: [Buffer.concat([whole.subarray(0, -30), Buffer.alloc(30)])] }),
    await good('good-3'),
  ]
  const builder = world.builder()
  const ground = await world.ground(planted)
  const { stack, left } = await built(builder, ground, pulls)
  assert.deepEqual(
    stack?.members.map(({ pull }) => pulls.find(({ uri }) => uri === pull)?.branch),
    ['good-1', 'good-2', 'good-3'],
  )
  assert.match(detail(left.deep), /nested deeper than 512/)
  assert.match(detail(left.abyss), /nested deeper than 512/)
  assert.match(detail(left.bomb), /more than 500,000 files/)
  assert.match(detail(left.big), /has 200 MiB; at most 100 MiB/)
  assert.match(detail(left.name), /longer than 255 bytes/)
  assert.match(detail(left.git), /git refuses pack/)
  assert.match(detail(left.unrelated), /no history in common/)
  assert.match(detail(left.nowhere), /which no pack of the repository holds/)
  assert.match(detail(left.torn), /pack/)
  assert.deepEqual(await archived(builder, ground, stack?.tree ?? ''), [
    'README.md',
    'good-1',
    'good-2',
    'good-3',
    'trees/',
    'trees/apple.txt',
  ])
  const { dir } = await mirrorOf(builder, ground)
  assert.equal(git(dir, ['fsck', '--full', '--strict', '--no-dangling']), '')
  for (const { branch, head } of pulls.filter(pull => left[pull.branch] !== undefined && pull.head !== planted.tip)) {
    assert.throws(() => git(dir, ['cat-file', '-e', head]), branch)
  }
})

test('STO-11 a refs record that is none is said to be none, and leaves out its own pull alone', async () => {
  const planted = await world.plant('record')
  const pulls = [
    await forced(planted, 'lies', { head: planted.tip, packs: [wholeOf(planted)] }),
    await planted.openPull({ branch: 'good', files: { a: 'a' } }),
  ]
  const { mallory } = world.people
  const name = 'record-lies'
  const record = await mallory.get('dev.knotless.refs', name)
  await mallory.put('dev.knotless.refs', name, {
    ...record?.value,
    refs: [{ name: 'refs/heads/../../x', commit: planted.tip, generation: 1 }],
  })
  for (const sources of [undefined, new Map()]) {
    const { stack, left } = await built(world.builder(), await world.ground(planted, sources), pulls)
    assert.equal(stack?.members.length, 1)
    assert.match(detail(left.lies), /is no name for a branch or tag/)
  }
})

test('STO-11 STO-12 what is odd and does no harm is taken as it is: a submodule, a symlink out of the tree, names in any bytes', async () => {
  const planted = await world.plant('odd')
  const blob = (maker: ObjectMaker) => maker.add('blob', 'x')
  const odd = [
    await forced(
      planted,
      'sub',
      handmade(planted, () => [{ mode: '160000', name: 'sub', id: 'b'.repeat(40) }]),
    ),
    await forced(
      planted,
      'link',
      handmade(planted, maker => [{ mode: '120000', name: 'link', id: maker.add('blob', '../../../etc/passwd') }]),
    ),
    await forced(
      planted,
      'line',
      handmade(planted, maker => [{ mode: blobMode, name: 'a\nb\u001b[31m', id: blob(maker) }]),
    ),
    await forced(
      planted,
      'exports',
      handmade(planted, maker => [{ mode: blobMode, name: '.gitattributes', id: maker.add('blob', 'trees/** export-ignore\n') }]),
    ),
    await planted.openPull({ branch: 'good', files: { good: 'x\n' } }),
    await forced(
      planted,
      'again',
      handmade(planted, maker => [{ mode: blobMode, name: 'a\nb\u001b[31m', id: maker.add('blob', 'y') }]),
    ),
  ]
  const builder = world.builder()
  const ground = await world.ground(planted)
  const { stack, left } = await built(builder, ground, odd)
  assert.equal(stack?.members.length, 5)
  assert.deepEqual(left, { again: { why: 'conflict', files: ['a\nb\u001b[31m'], more: 0, with: [{ pull: odd[2]?.uri, branch: 'line' }] } })
  const names = await archived(builder, ground, stack?.tip ?? '')
  assert.deepEqual(names, ['.gitattributes', 'README.md', 'a\\nb\\033[31m', 'good', 'link', 'sub/', 'trees/', 'trees/apple.txt'])
})

test('BLD-10 neither an author nor a title gets anything into a commit but itself', async () => {
  const planted = await world.plant('texts')
  const long = Buffer.from(`author ${'N'.repeat(600)} <m@example.com> 5 +0000`)
  const terminal = Buffer.from('author Mal\u001b[2J\u0007 <m@example.com> 5 +0000')
  const bytes = Buffer.concat([Buffer.from('author J'), Buffer.from([0xf6]), Buffer.from('rg <j@example.com> 5 +0000')])
  const file = (name: string) => (maker: ObjectMaker) => [{ mode: blobMode, name, id: maker.add('blob', name) }]
  const broken = Buffer.from('author Mal\nparent 1111111111111111111111111111111111111111 <m@example.com> 5 +0000')
  const pulls = [
    await forced(planted, 'long', handmade(planted, file('l'), long)),
    await forced(planted, 'escape', handmade(planted, file('e'), terminal)),
    await forced(planted, 'bytes', handmade(planted, file('b'), bytes)),
    await forced(planted, 'broken', handmade(planted, file('x'), broken)),
  ]
  const ground = await world.ground(planted)
  const title = `Fix \u0000\u001b[31m\u202eall${'\r\nparent '.repeat(100)}\n\nSigned-off-by: Owner <o@example.com>\n${'x'.repeat(10_000)}`
  const body = `Fine.\r\n\r\nat://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/dev.knotless.pull/3lxyzabcdef2a\n<!-- hidden -->\u0007\n`
  const views = new Map(ground.view.pulls)
  for (const [uri, pull] of views) views.set(uri, { ...pull, pull: { ...pull.pull, value: { ...pull.pull.value, title, body } } })
  const builder = world.builder()
  const { stack, left } = await built(builder, { ...ground, view: { ...ground.view, pulls: views } }, pulls)
  assert.match(detail(left.broken), /git refuses pack/)
  const { dir } = await mirrorOf(builder, ground)
  const authors: string[] = []
  for (const { commit: id, pull } of stack?.members ?? []) {
    const object = Buffer.from(git(dir, ['cat-file', 'commit', id])).toString()
    const [head = '', subject = '', ...rest] = object.split('\n\n')
    authors.push(/^author (.*) \d+ \+0000$/m.exec(head)?.[1] ?? '')
    assert.deepEqual(
      head.split('\n').map(line => line.split(' ')[0]),
      ['tree', 'parent', 'author', 'committer'],
    )
    assert.ok(subject.length <= 200 && !/[\p{Cc}\u202e]/u.test(subject), subject)
    assert.equal(rest.at(-1), pull)
    assert.ok(!/\p{Cc}|hidden/u.test(object.replaceAll('\n', '')), object)
  }
  assert.deepEqual(authors, ['unknown <unknown@knotless.invalid>', 'unknown <unknown@knotless.invalid>', 'J\ufffdrg <j@example.com>'])
  assert.equal(git(dir, ['fsck', '--full', '--strict', '--no-dangling', stack?.tip ?? '']), '')
})
