import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { buildHistory, type SampleHistory } from '../../src/devnet/samples/history.ts'
import { orchardCommits, orchardPulls } from '../../src/devnet/samples/orchard.ts'
import { runGit } from '../../src/git/run.ts'
import { runScript } from './run-script.ts'

let dir: string
let orchard: SampleHistory

before(async () => {
  dir = mkdtempSync(join(tmpdir(), 'knotless-orchard-'))
  orchard = await buildHistory(join(dir, 'orchard.git'), orchardCommits)
})
after(() => rmSync(dir, { recursive: true, force: true }))

/** Merges branches onto main one after the other and gives the tree, or the files in which one did not apply. */
async function stack(...branches: string[]): Promise<{ tree: string } | { conflicts: string[] }> {
  const gitDir = { dir: orchard.gitDir }
  let tip = commitOf('main')
  let tree = `${tip}^{tree}`
  for (const branch of branches) {
    const merged = await runGit(['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', tip, commitOf(branch)], gitDir)
    const [id = '', ...files] = merged.stdout.toString('utf8').split('\0')
    if (merged.code === 1) return { conflicts: files.filter(file => file !== '') }
    assert.equal(merged.code, 0, merged.stderr)
    tree = id
    const env = { GIT_AUTHOR_NAME: 'T', GIT_AUTHOR_EMAIL: 't@t.test', GIT_COMMITTER_NAME: 'T', GIT_COMMITTER_EMAIL: 't@t.test' }
    tip = (await runGit(['commit-tree', tree, '-p', tip, '-m', branch], { ...gitDir, env })).stdout.toString('utf8').trim()
  }
  return { tree }
}

function commitOf(branch: string): string {
  const commit = orchard.branches.get(branch)
  assert.ok(commit, branch)
  return commit
}

let checkouts = 0

/** The exit codes of the two workflows' commands on a stack that applies. */
async function verdict(...branches: string[]): Promise<{ check: number; test: number }> {
  const merged = await stack(...branches)
  assert.ok('tree' in merged, `${branches.join(' + ')} applies`)
  const tree = join(dir, `tree-${checkouts++}`)
  mkdirSync(tree)
  const archive = await runGit(['archive', '--format=tar', merged.tree], { dir: orchard.gitDir })
  await runScript('tar', ['-xf', '-', '-C', tree], dir, archive.stdout)
  return { check: await runScript('sh', ['tests/check.sh'], tree), test: await runScript('sh', ['tests/run.sh'], tree) }
}

const passed = { check: 0, test: 0 }

test('the commits are the same on every machine', () => {
  assert.deepEqual(Object.fromEntries(orchard.branches), {
    main: 'da2b6e09fbbfbd2d93ba70ce8c2dbe254dc6879b',
    'label-variety': '1e60657cae79fd44ed134844db319550913730ad',
    'frost-two-degrees': '0571f9147ccd3718001b93b13c3d092c7fea0a06',
    'harvest-pounds': 'f1164d00640a1916ceab1ee4f69aa5652d214423',
    'rename-spacing': '3165299ca8728fda5e85897c5191fa534aa98811',
    'hedge-rows': 'd9085e201ab74c65fab4a45970d8f9787bd7d393',
    'water-young-trees': 'd370c3d6871bb25bf993242e84e173969cbc1e2b',
    'water-after-rain': 'da1290595620878d7513f25417117ecb4936925a',
    'rootstock-feet': '3e0de9c947113b6c2378be93a124e050b2461613',
    'csv-semicolons': '912458b551e3b99cb364dfbb7833c6d523e670eb',
  })
})

test('each pull has its branch, and each branch its pull', () => {
  const pulls = orchardPulls('#issue').map(pull => pull.branch)
  assert.deepEqual([...pulls, 'main'].sort(), [...orchard.branches.keys()].sort())
})

test('the default branch passes', async () => {
  assert.deepEqual(await verdict(), passed)
})

test('the two that pass do, alone and together, and so does the fork', async () => {
  assert.deepEqual(await verdict('label-variety'), passed)
  assert.deepEqual(await verdict('frost-two-degrees'), passed)
  assert.deepEqual(await verdict('csv-semicolons'), passed)
  assert.deepEqual(await verdict('csv-semicolons', 'frost-two-degrees', 'label-variety'), passed)
})

test('one fails alone, in its pre-flight already', async () => {
  assert.deepEqual(await verdict('harvest-pounds'), { check: 1, test: 1 })
})

test('a pair fails only together, in either order, though each applies on the other', async () => {
  assert.deepEqual(await verdict('rename-spacing'), passed)
  assert.deepEqual(await verdict('hedge-rows'), passed)
  assert.deepEqual(await verdict('rename-spacing', 'hedge-rows'), { check: 0, test: 1 })
  assert.deepEqual(await verdict('hedge-rows', 'rename-spacing'), { check: 0, test: 1 })
})

test('a pair is in conflict with one another, and each passes on the default branch', async () => {
  assert.deepEqual(await verdict('water-young-trees'), passed)
  assert.deepEqual(await verdict('water-after-rain'), passed)
  const files = ['src/water.sh', 'tests/test-water.sh']
  assert.deepEqual(await stack('water-young-trees', 'water-after-rain'), { conflicts: files })
  assert.deepEqual(await stack('water-after-rain', 'water-young-trees'), { conflicts: files })
})

test('one is in conflict with the default branch', async () => {
  assert.deepEqual(await stack('rootstock-feet'), { conflicts: ['docs/rootstocks.md'] })
})

test('everything that can land together does and passes', async () => {
  const all = ['label-variety', 'frost-two-degrees', 'rename-spacing', 'water-young-trees', 'csv-semicolons']
  assert.deepEqual(await verdict(...all), passed)
  assert.deepEqual(await verdict(...all, 'harvest-pounds'), { check: 1, test: 1 })
})
