import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commitBounds, readCommits, writeCommit } from '../../src/git/commit-objects.ts'
import { openQuarantine } from '../../src/git/quarantine.ts'
import { commit, git, gitBytes, newMirror, newRepo, snapshot } from './support.ts'

test('BLD-10 commits are read byte for byte, many at once, in the order asked', async t => {
  const dir = newRepo(t)
  const first = commit(dir, 'main', { a: '1' })
  const tree = git(dir, ['rev-parse', `${first}^{tree}`])
  const odd = Buffer.concat([
    Buffer.from(`tree ${tree}\nparent ${first}\nparent ${'1'.repeat(40)}\nauthor J`),
    Buffer.from([0xf6]),
    Buffer.from(
      'rg  <j@x> 5 +0000\ncommitter A <> 6 -0330\nencoding latin1\ngpgsig a\n tree x\n b\nHG:extra z\n\nsubject\n\nauthor no <header> 1 +0000\n',
    ),
  ])
  const oddId = git(dir, ['hash-object', '-t', 'commit', '-w', '--stdin'], odd)
  git(dir, ['tag', '-a', '-m', 'x', 'v1', first])
  const tag = git(dir, ['rev-parse', 'refs/tags/v1'])
  const blob = git(dir, ['rev-parse', `${first}:a`])
  const ids = [oddId, 'f'.repeat(40), blob, tag, 'main', `${first}^`, '', first, first]
  const [read, ...rest] = await readCommits({ dir }, ids)
  assert.deepEqual(read, {
    id: oddId,
    tree,
    parents: [first, '1'.repeat(40)],
    author: Buffer.concat([Buffer.from('author J'), Buffer.from([0xf6]), Buffer.from('rg  <j@x> 5 +0000')]),
    committer: Buffer.from('committer A <> 6 -0330'),
    otherHeaders: ['encoding', 'gpgsig', 'HG:extra'],
    encoding: 'latin1',
    message: Buffer.from('subject\n\nauthor no <header> 1 +0000\n'),
    cut: false,
  })
  assert.deepEqual(
    rest.map(row => row?.id),
    [undefined, undefined, undefined, undefined, undefined, undefined, first, first],
  )
  assert.equal(rest[7]?.message.toString(), 'Change main\n')
  assert.deepEqual(await readCommits({ dir }, []), [])
})

test('a commit that is too large to be read is cut, and what comes after it is read all the same', async t => {
  const dir = newRepo(t)
  const first = commit(dir, 'main', { a: '1' })
  const large = commit(dir, 'large', { a: '1' }, { message: 'x'.repeat(3 * commitBounds.bytes) })
  const [a, b, c] = await readCommits({ dir }, [large, first, large])
  assert.deepEqual([a?.cut, b?.cut, c?.cut], [true, false, true])
  assert.ok(a !== undefined && a.message.length < commitBounds.bytes && a.message.length > commitBounds.bytes - 400)
  assert.match(a.author.toString(), /^author Ada <ada@example\.com> \d+ \+0200$/)
  const many = await readCommits({ dir }, Array(150).fill(large))
  assert.ok(many.every(row => row?.cut))
  assert.ok((many[0]?.message.length ?? 0) > 200_000 && (many[149]?.message.length ?? 0) < commitBounds.bytesAfter)
  await assert.rejects(readCommits({ dir: '/nonexistent' }, [first]))
})

test('a commit is written as the bytes that it is given, into the quarantine alone', async t => {
  const dir = newRepo(t)
  const first = commit(dir, 'main', { a: '1' })
  const content = Buffer.concat([gitBytes(dir, ['cat-file', 'commit', first]), Buffer.from([0xff, 0x0d, 0x0a])])
  const mirror = await newMirror(t)
  const before = snapshot(mirror.dir)
  const quarantine = await openQuarantine(mirror)
  t.after(() => quarantine.close())
  const place = { dir: mirror.dir, env: quarantine.env }
  const made = await writeCommit(place, content)
  assert.ok(made.ok)
  const [read] = await readCommits(place, [made.id])
  assert.deepEqual(read?.message, Buffer.concat([Buffer.from('Change main\n'), Buffer.from([0xff, 0x0d, 0x0a])]))
  const refused = await writeCommit(place, Buffer.from('no commit'))
  assert.deepEqual(refused, { ok: false, code: 'failed', message: 'git could not write the commit.' })
  await quarantine.close()
  assert.deepEqual(snapshot(mirror.dir), before)
})
