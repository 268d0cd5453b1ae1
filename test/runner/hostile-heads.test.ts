/** The whole runner over heads and pulls that mean harm: odd files, odd names, odd words. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { git, gitBytes } from '../git/support.ts'
import type { OpenedPull, Planted } from '../server/gateway-world.ts'
import { ejected, merged, queue, type RunnerWorld, startRunnerWorld } from './runner-world.ts'

let world: RunnerWorld
before(async () => {
  world = await startRunnerWorld()
})
after(() => world?.end())

interface Entry {
  mode: string
  name: Buffer
  id: string
}

/** A tree of raw entries: names are bytes. */
function treeOf(dir: string, entries: readonly Entry[]): string {
  const sorted = entries.toSorted((a, b) => Buffer.compare(a.name, b.name))
  const bytes = sorted.flatMap(({ mode, name, id }) => [Buffer.from(`${mode} `), name, Buffer.from([0]), Buffer.from(id, 'hex')])
  return git(dir, ['hash-object', '-t', 'tree', '-w', '--stdin', '--literally'], Buffer.concat(bytes))
}

/** The entries of a commit's tree. */
function entriesOf(dir: string, commit: string): Entry[] {
  const rows = gitBytes(dir, ['ls-tree', '-z', commit]).toString('latin1').split('\0')
  return rows
    .filter(row => row !== '')
    .map(row => {
      const [mode = '', , rest = ''] = row.split(' ')
      const [id = '', name = ''] = rest.split('\t')
      return { mode: mode.replace(/^0+/, ''), name: Buffer.from(name, 'latin1'), id }
    })
}

/** Moves a pull's head branch to a commit of a tree with these entries beside those of the base. */
async function moveHead(repo: Planted, pull: OpenedPull, entries: readonly Entry[]): Promise<void> {
  const { gitDir: dir, tip } = repo
  const message = [
    'author Carol <carol@example.com> 1790000100 +0000',
    'committer Carol <carol@example.com> 1790000100 +0000',
    '',
    'Odd',
    '',
  ]
  const lines = [`tree ${treeOf(dir, [...entriesOf(dir, tip), ...entries])}`, `parent ${tip}`, ...message]
  await repo.push(pull.branch, git(dir, ['hash-object', '-t', 'commit', '-w', '--stdin'], lines.join('\n')))
}

test('BLD-6 BLD-10 STO-11 odd files and words land as clean commits, and a conflict in odd names is said in one clean sentence', async () => {
  const repo = await world.orchard('odd')
  const { gitDir: dir } = repo
  const names = [Buffer.from('two\nlines\r\n\u001b[31mred.txt'), Buffer.from([0x66, 0xff, 0xfe, 0x67]), Buffer.from('\u202eltr <b>')]
  const odd = (content: string) => names.map(name => ({ mode: '100644', name, id: git(dir, ['hash-object', '-w', '--stdin'], content) }))
  const title = `Long ${'x'.repeat(2_900)}\nSigned-off-by: Mallory <m@example.com>\r\n\u001b[2J\u202e<!-- hidden -->`
  const first = await repo.openPull({ branch: 'first', files: {}, title })
  await moveHead(repo, first, odd('one\n'))
  const second = await repo.openPull({ branch: 'second', files: {} })
  await moveHead(repo, second, odd('two\n'))
  const module = await repo.openPull({ branch: 'module', files: {} })
  await moveHead(repo, module, [{ mode: '160000', name: Buffer.from('vendor'), id: 'a'.repeat(40) }])
  const link = await repo.openPull({ branch: 'link', files: { out: { mode: '120000', content: '../../../../etc/passwd' } } })
  for (const pull of [first, second, module, link]) await queue(world, repo, pull)
  const running = await world.start({ repos: [repo] })
  const record = await ejected(world, second)
  assert.equal(record.kind, 'conflict')
  assert.match(String(record.reason), /f\ufffd\ufffdg, two lines {3}\[31mred\.txt and {2}ltr <b> as the branch first of “Long x{55}…” does/)
  assert.doesNotMatch(String(record.reason), /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
  const landed = await merged(world, first)
  for (const pull of [module, link]) await merged(world, pull)
  const text = git((await world.server.context.mirrors.of(repo.uri)).dir, ['cat-file', 'commit', landed])
  assert.deepEqual(text.split('\n').slice(4), ['', `Long ${'x'.repeat(195)}`, '', first.uri])
  await running.stop()
})
