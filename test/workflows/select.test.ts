import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Asked, selectWorkflows } from '../../src/workflows/select.ts'
import { fileOf, least } from './support.ts'

const files = [
  fileOf('z.yml', 'on: {pull: {branches: [main]}}\nsteps: [{run: make}]'),
  fileOf('docs.yml', 'on: {pull: , push: }\npaths: ["docs/**", "*.md"]\nsteps: [{run: make}]'),
  fileOf('deploy.yml', 'on: {push: {branches: [main]}}\nsteps: [{run: make}]'),
  fileOf('release.yml', 'on: {pull: {branches: ["release/*"]}}\nqueue: first\nsteps: [{run: make}]'),
]

function names(asked: Partial<Asked>, of = files) {
  const { selected, skipped, faulty } = selectWorkflows(of, { trigger: 'pull', branch: 'main', changedPaths: ['src/a.ts'], ...asked })
  return { selected: selected.map(one => one.name), skipped: skipped.map(one => one.name), faulty: faulty.map(one => one.file) }
}

test('CHK-1 the workflows whose pull trigger takes pulls into the branch run, in the order of their files', () => {
  assert.deepEqual(names({ changedPaths: ['README.md'] }), { selected: ['docs', 'z'], skipped: [], faulty: [] })
  assert.deepEqual(names({ branch: 'release/1', changedPaths: ['docs/a'] }), { selected: ['docs', 'release'], skipped: [], faulty: [] })
  assert.deepEqual(names({ branch: 'topic', changedPaths: ['docs/a'] }), { selected: ['docs'], skipped: [], faulty: [] })
})

test('a push runs those with a push trigger for its branch', () => {
  assert.deepEqual(names({ trigger: 'push', changedPaths: ['a.md'] }).selected, ['deploy', 'docs'])
  assert.deepEqual(names({ trigger: 'push', branch: 'topic', changedPaths: ['a.md'] }).selected, ['docs'])
})

test('a workflow is skipped when none of its paths changed, and only then', () => {
  assert.deepEqual(names({}), { selected: ['z'], skipped: ['docs'], faulty: [] })
  assert.deepEqual(names({ changedPaths: [] }), { selected: ['z'], skipped: ['docs'], faulty: [] })
  assert.deepEqual(names({ changedPaths: ['src/a.ts', 'docs/b/c'] }).skipped, [])
})

test('where the changed paths are not known, or are too many to hold against patterns, none is skipped', () => {
  assert.deepEqual(names({ changedPaths: 'unknown' }).skipped, [])
  const many = Array.from({ length: 120_000 }, (_, n) => `${'src/'.repeat(30)}${n}.ts`)
  const started = performance.now()
  assert.deepEqual(names({ changedPaths: many }).skipped, [])
  assert.deepEqual(names({ changedPaths: many.slice(0, 1_000) }).skipped, ['docs'])
  assert.ok(performance.now() - started < 5_000)
})

test('CHK-6 a file that cannot be used is faulty whatever it would have run on, and the others run', () => {
  assert.deepEqual(names({}, [...files, fileOf('bad.yml', 'on: {push: }\nsteps: 5')]), {
    selected: ['z'],
    skipped: ['docs'],
    faulty: ['bad.yml'],
  })
  assert.deepEqual(names({}, [{ file: 'big.yml', bytes: 'too-large' }]).faulty, ['big.yml'])
})

test('of two files with one name the second is faulty: the pass of one would hide the failure of the other', () => {
  const both = [fileOf('b.yml', `${least}name: unit`), fileOf('a.yml', `${least}name: unit`)]
  const { selected, faulty } = selectWorkflows(both, { trigger: 'pull', branch: 'main', changedPaths: [] })
  assert.deepEqual(
    selected.map(one => one.file),
    ['a.yml'],
  )
  assert.match(faulty[0]?.message ?? '', /"unit", as a\.yml/)
})

test('more than a hundred files, or than a mebibyte of them, are one fault', () => {
  const many = Array.from({ length: 101 }, (_, n) => fileOf(`${n}.yml`, least))
  assert.deepEqual(names({}, many), { selected: [], skipped: [], faulty: [''] })
  const big = Array.from({ length: 20 }, (_, n) => fileOf(`${n}.yml`, `${least}# ${'x'.repeat(60_000)}`))
  assert.deepEqual(names({}, big), { selected: [], skipped: [], faulty: [''] })
})

test('the same files give the same answer in whatever order they come', () => {
  assert.deepEqual(names({}, [...files].reverse()), names({}))
})
