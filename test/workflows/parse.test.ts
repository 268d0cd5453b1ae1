import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { textOf } from '../../src/workflows/glob.ts'
import { faultText } from '../../src/workflows/parse.ts'
import { faultOf, least, workflowOf } from './support.ts'

const whole = `name: test
on:
  pull: { branches: [main, "release/*"] }
  push: { branches: [main] }
queue: first
image: node:24
timeout: 45m
retries: 2
secrets: [NPM_TOKEN]
supersede: finish
paths: ["src/**"]
cache: [~/.npm]
network: true
report: reports/*.xml
steps:
  - run: npm ci
  - run: |
      npm test
      npm run lint
`

test('a workflow file says what it says, key by key', () => {
  const { on, paths, ...rest } = workflowOf(whole, 'anything.yml')
  assert.deepEqual(rest, {
    file: 'anything.yml',
    name: 'test',
    first: true,
    image: 'node:24',
    timeout: 45 * 60_000,
    retries: 2,
    secrets: ['NPM_TOKEN'],
    supersede: 'finish',
    cache: ['~/.npm'],
    network: true,
    report: 'reports/*.xml',
    steps: [{ run: 'npm ci' }, { run: 'npm test\nnpm run lint\n' }],
  })
  const takes = (branch: string) => on.pull?.branches?.some(glob => glob.matches(textOf(branch)))
  assert.deepEqual(['main', 'release/1', 'release/1/2', 'mainly'].map(takes), [true, true, false, false])
  assert.equal(on.push?.branches?.length, 1)
  assert.ok(paths?.[0]?.matches(textOf('src/a/b.ts')))
})

test('what a file leaves out has its default', () => {
  assert.deepEqual(workflowOf(least, 'unit.yaml'), {
    file: 'unit.yaml',
    name: 'unit',
    on: { pull: {} },
    first: false,
    retries: 0,
    secrets: [],
    supersede: 'cancel',
    cache: [],
    network: false,
    steps: [{ run: 'make' }],
  })
})

test('a trigger with nothing after it takes every branch', () => {
  assert.deepEqual(workflowOf('on:\n  push:\nsteps: [{run: make}]').on, { push: {} })
})

test('the workflows of the sample repository are read', () => {
  const folder = join(import.meta.dirname, '../../src/devnet/samples/orchard/3-workflows/dot.knotless/workflows')
  assert.equal(workflowOf(readFileSync(join(folder, 'check.yml'), 'utf8'), 'check.yml').first, true)
  assert.equal(workflowOf(readFileSync(join(folder, 'test.yml'), 'utf8')).timeout, 5 * 60_000)
})

const faults: readonly (readonly [what: string, text: string, line: number | undefined, key: string | undefined, message: RegExp])[] = [
  ['an unknown key', `${least}cpus: 4`, 3, 'cpus', /not known/],
  ['an unknown key further in', 'on:\n  pull:\n    branch: main\nsteps: [{run: make}]', 3, 'on.pull.branch', /not known/],
  ['a step with a key that is mistyped', 'on: {pull: }\nsteps:\n  - run: make\n  - ran: make', 4, 'steps[1].ran', /not known/],
  ['an unknown trigger', 'on: {tag: {}}\nsteps: [{run: make}]', 1, 'on.tag', /not known/],
  ['no trigger', 'on: {}\nsteps: [{run: make}]', 1, 'on', /runs on nothing/],
  ['no "on"', 'steps: [{run: make}]', 1, 'on', /missing/],
  ['no steps', 'on: {pull: }', 1, 'steps', /missing/],
  ['an empty list of steps', 'on: {pull: }\nsteps: []', 2, 'steps', /empty/],
  ['branches that are no list', 'on:\n  pull:\n    branches: main\nsteps: [{run: make}]', 3, 'on.pull.branches', /must be a list/],
  [
    'a branch that is a number',
    'on:\n  pull:\n    branches:\n      - a\n      - 1\nsteps: [{run: make}]',
    5,
    'on.pull.branches[1]',
    /must be text/,
  ],
  [
    'a branch pattern with a hole',
    'on: {pull: {branches: ["release/["]}}\nsteps: [{run: make}]',
    1,
    'on.pull.branches[0]',
    /"release\/\["/,
  ],
  [
    'a branch pattern that takes out',
    'on: {pull: {branches: ["!main"]}}\nsteps: [{run: make}]',
    1,
    'on.pull.branches[0]',
    /only ever take in/,
  ],
  [
    'a branch with refs/heads/',
    'on: {pull: {branches: [refs/heads/main]}}\nsteps: [{run: make}]',
    1,
    'on.pull.branches[0]',
    /without refs/,
  ],
  ['a branch that none can be', 'on: {pull: {branches: ["a b"]}}\nsteps: [{run: make}]', 1, 'on.pull.branches[0]', /No branch/],
  ['another word for queue', `${least}queue: last`, 3, 'queue', /must be first/],
  ['another word for supersede', `${least}supersede: never`, 3, 'supersede', /cancel or finish/],
  ['a time without a unit', `${least}timeout: 45`, 3, 'timeout', /must be text/],
  ['a time of nothing', `${least}timeout: 0s`, 3, 'timeout', /such as 90s/],
  ['a time that is none', `${least}timeout: soon`, 3, 'timeout', /such as 90s/],
  ['retries without end', `${least}retries: 1000`, 3, 'retries', /at most 10/],
  ['half a retry', `${least}retries: 0.5`, 3, 'retries', /whole number/],
  ['fewer than no retries', `${least}retries: -1`, 3, 'retries', /at least 0/],
  ['a word for yes', `${least}network: yes`, 3, 'network', /true or false/],
  ['a secret that is no variable', `${least}secrets: ["A B"]`, 3, 'secrets[0]', /as a variable/],
  ['a path pattern that cannot be', `${least}paths: ["a/../b"]`, 3, 'paths[0]', /empty, \. or \.\./],
  ['a cache outside', `${least}cache: [../../etc]`, 3, 'cache[0]', /out of its folder/],
  ['an image with a space', `${least}image: "a b"`, 3, 'image', /no spaces/],
  ['a name of two lines', `${least}name: "a\\nb"`, 3, 'name', /control characters/],
  ['a script with a NUL', 'on: {pull: }\nsteps: [{run: "a\\0b"}]', 2, 'steps[0].run', /control characters/],
  ['a list as a whole', '- a', 1, undefined, /says nothing/],
  ['nothing', '', undefined, undefined, /says nothing/],
  ['a comment', '# to be done', undefined, undefined, /says nothing/],
]
for (const [what, text, line, key, message] of faults) {
  test(`CHK-6 ${what} is a fault that names line and key`, () => {
    const fault = faultOf(text)
    assert.deepEqual([fault.file, fault.line, fault.key], ['test.yml', line, key])
    assert.match(fault.message, message)
  })
}

test('a fault reads as one line: folder, file, line, key and what is wrong', () => {
  assert.equal(
    faultText(faultOf(`${least}timeout: soon`)),
    '.knotless/workflows/test.yml, line 3, "timeout": It must be a time such as 90s, 45m or 1h30m, at most a week.',
  )
})

test('what a fault repeats from a file is one line without control characters', () => {
  const text = faultText(faultOf(`${least}paths: ["!\\e[31m\\n\u202eabc"]`))
  assert.doesNotMatch(text, /[\p{Cc}\u202e]/u)
})

test('a file’s name of control characters or no end is a fault', () => {
  assert.match(faultOf(least, 'a\nb.yml').message, /name/)
  assert.match(faultOf(least, `${'a'.repeat(250)}.yml`).message, /name/)
})
