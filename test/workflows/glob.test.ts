import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import picomatch from 'picomatch'
import { parseDuration } from '../../src/workflows/duration.ts'
import { parseGlob, textOf } from '../../src/workflows/glob.ts'

function matches(pattern: string, text: string): boolean {
  const read = parseGlob(pattern)
  assert.ok(read.ok, `${pattern} is no pattern`)
  return read.glob.matches(textOf(text))
}

const table: readonly (readonly [pattern: string, takes: readonly string[], not: readonly string[]])[] = [
  ['main', ['main'], ['Main', 'mai', 'mainn', 'a/main']],
  ['*', ['main', '.hidden'], ['a/b']],
  ['release/*', ['release/1', 'release/.1'], ['release', 'release/1/2', 'prerelease/1']],
  ['**', ['a', 'a/b', '.a/.b/c'], []],
  ['src/**', ['src/a', 'src/a/b/c', 'src/.env'], ['src2/a', 'a/src/b']],
  ['**/*.ts', ['a.ts', 'a/b.ts', 'a/b/.c.ts'], ['a.tsx', 'a.ts/b']],
  ['src/**/test/*.ts', ['src/test/a.ts', 'src/a/b/test/c.ts'], ['src/a/b/c.ts', 'test/a.ts']],
  ['**/a/**/b', ['a/b', 'x/a/y/z/b', 'a/a/b/b'], ['b/a', 'a']],
  ['a**b', ['ab', 'axb'], ['a/b']],
  ['v?.?', ['v1.2'], ['v1.', 'v12.3', 'v1./']],
  ['v[0-9]', ['v1'], ['va', 'v', 'v12']],
  ['v[!0-9]', ['va'], ['v1']],
  ['v[^ab]', ['vc'], ['va']],
  ['[a-]', ['a', '-'], ['b']],
  ['{main,release/*}', ['main', 'release/1'], ['release']],
  ['a{b,c{d,e}}f', ['abf', 'acdf', 'acef'], ['acf', 'af']],
  ['a\\*b', ['a*b'], ['axb']],
  ['\\[id\\]/page', ['[id]/page'], ['i/page']],
  ['(a)|b+c', ['(a)|b+c'], ['a', 'b']],
  ['caf?', ['café'], []],
  ['?', ['\u{1f352}'], []],
]
for (const [pattern, takes, not] of table) {
  test(`the pattern ${pattern}`, () => {
    for (const text of takes) assert.ok(matches(pattern, text), `${pattern} takes ${text}`)
    for (const text of not) assert.ok(!matches(pattern, text), `${pattern} does not take ${text}`)
  })
}

const bad: readonly (readonly [pattern: string, fault: string])[] = [
  ['', 'empty'],
  ['a'.repeat(251), 'too-long'],
  ['a[b', 'bracket'],
  ['a]', 'bracket'],
  ['a[]b', 'bracket'],
  ['[b-a]', 'bracket'],
  ['[a/b]', 'bracket'],
  ['{a,b', 'brace'],
  ['a}', 'brace'],
  ['{a}', 'brace'],
  ['{1..9}', 'brace'],
  ['a\\', 'escape'],
  ['!a', 'negated'],
  ['/a', 'folder'],
  ['a/', 'folder'],
  ['a//b', 'folder'],
  ['./a', 'folder'],
  ['a/../b', 'folder'],
  ['@(a|b)', 'extended'],
  ['+(a)', 'extended'],
  ['a\nb', 'control'],
  ['{a,b}{c,d}{e,f}{g,h}{i,j}', 'alternatives'],
]
for (const [pattern, fault] of bad) {
  test(`no pattern: ${JSON.stringify(pattern.slice(0, 30))} (${fault})`, () => {
    assert.deepEqual(parseGlob(pattern), { ok: false, fault })
  })
}

test('patterns match as a library of globs matches', () => {
  const piece = fc.constantFrom('a', 'b', 'ab', '*', '?', '**', '[ab]', '[^a]', '{a,b}', '.a')
  const part = fc.oneof(
    { weight: 1, arbitrary: fc.constant('**') },
    { weight: 4, arbitrary: fc.array(piece, { minLength: 1, maxLength: 4 }).map(list => list.join('')) },
  )
  const pattern = fc.array(part, { minLength: 1, maxLength: 5 }).map(list => list.join('/'))
  const name = fc.array(fc.constantFrom('a', 'b', 'c', '.'), { minLength: 1, maxLength: 4 }).map(list => list.join(''))
  const text = fc
    .array(
      name.filter(one => !/^\.+$/.test(one) && one.split('{').length <= 5),
      { minLength: 1, maxLength: 5 },
    )
    .map(list => list.join('/'))
  // Where the library is of several minds: stars beside one another, and whether a/** and */** take what has no folder.
  const plain = pattern.filter(one => !/\*{3}|\*\?|\?\*|[^/]\*\*|\*\*[^/]|\*(\/\*\*)+$/.test(one) && one.split('{').length <= 5)
  let hits = 0
  fc.assert(
    fc.property(plain, text, (one, path) => {
      const wanted = picomatch.isMatch(path, one, { dot: true, noext: true })
      if (wanted) hits++
      assert.equal(matches(one, path), wanted)
    }),
    { numRuns: 5_000 },
  )
  assert.ok(hits > 200, 'the property matched next to nothing')
})

test('a pattern made to go astray takes no time: a library’s takes seconds', () => {
  const started = performance.now()
  assert.equal(matches('*a*a*a*a*a*a*a*a*b', 'a'.repeat(255)), false)
  assert.equal(matches(`${'**/a*/'.repeat(40)}b`, `${'aaaaaaaa/'.repeat(400)}c`), false)
  assert.ok(performance.now() - started < 1_000)
})

test('times of the form 1h30m are read, and nothing else', () => {
  assert.equal(parseDuration('90s'), 90_000)
  assert.equal(parseDuration('45m'), 45 * 60_000)
  assert.equal(parseDuration('1h30m'), 90 * 60_000)
  assert.equal(parseDuration('0s'), 0)
  assert.equal(parseDuration('168h'), 7 * 24 * 3_600_000)
  for (const text of ['', '45', 'm', '1m1h', '-1m', '1.5h', '45 m', '1d', '169h', '9999999s', '1e3s'])
    assert.equal(parseDuration(text), undefined, text)
})
