import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Closings, closedBy, type KnownIssue } from '../../src/queue/closing.ts'
import { alice, bob } from './support.ts'

const pull = `at://${bob}/dev.knotless.pull/3mb2kvjr3m22x`
const second = `at://${bob}/dev.knotless.pull/3mb2kvjr3m22y`
const issueAt = (key: string) => `at://${alice}/dev.knotless.issue/${key}`
const pear = issueAt('3mb2kvjrpear2')
const plum = issueAt('3mb2kvjrplum2')
const page = 'https://queue.example/alice.test/orchard/issues/3mb2kvjrpear2'
const issues: KnownIssue[] = [{ uri: pear, pages: [page] }, { uri: plum }]

function closed(message: string, known = issues): string[] {
  return closedBy([{ pull, message }], known).now.map(one => one.issue)
}

const message = (body: string) => `Ripen\n\n${body}\n\n${pull}\n`

for (const word of ['close', 'closes', 'closed', 'fix', 'fixes', 'fixed', 'resolve', 'resolves', 'resolved']) {
  test(`LND-6 ${word} closes the issue that it names, whatever its case`, () => {
    assert.deepEqual(closed(message(`${word} #rpear2`)), [pear])
    assert.deepEqual(closed(message(`${word.toUpperCase()} #rpear2`)), [pear])
  })
}

test('LND-6 an issue is named by its address, by its page, and by the end of its key', () => {
  for (const name of [
    pear,
    page,
    '#rpear2',
    '#3mb2kvjrpear2',
    `<${pear}>`,
    `[the pear](${page})`,
    `[#rpear2](${page})`,
    `${page}.`,
    `${page}!?`,
    `${pear}, and more`,
    '#rpear2.',
    '#rpear2)',
  ]) {
    assert.deepEqual(closed(message(`This fixes ${name}`)), [pear], name)
  }
})

test('LND-6 a keyword may be at the start, in brackets, bold, before a colon, and at the end of a line', () => {
  for (const body of [
    'fixes #rpear2',
    '(fixes #rpear2)',
    '**Fixes** #rpear2',
    '**Fixes:** #rpear2',
    'Fixes: #rpear2',
    'Fixes:#rpear2',
    'Fixes:\t #rpear2',
    'It fixes\n  #rpear2',
    '- fixes #rpear2',
    'feat:fix #rpear2',
    'one. Fixes #rpear2',
  ]) {
    assert.deepEqual(closed(message(body)), [pear], body)
    assert.deepEqual(closed(message(body.replaceAll('\n', '\r\n'))), [pear], `${body} with other line ends`)
  }
  assert.deepEqual(closed('Fix #rpear2'), [pear])
})

test('LND-6 nothing is closed by what is no keyword, no issue, or not right beside it', () => {
  for (const body of [
    '#rpear2',
    'see #rpear2',
    'fixing #rpear2',
    'fixess #rpear2',
    'fixé #rpear2',
    'prefix #rpear2',
    'hot-fix #rpear2',
    'un_fixed #rpear2',
    'closes/fixes#rpear2',
    'src/fix #rpear2',
    '@fix #rpear2',
    'a.fix #rpear2',
    '#fix #rpear2',
    'fixes-all #rpear2',
    'fixes\n\n#rpear2',
    'fixes:**#rpear2',
    'fixes : #rpear2',
    'fixes the #rpear2',
    'fixes#rpear2',
    '**fixes**#rpear2',
    'fixes #pear2',
    'fixes #RPEAR2',
    'fixes #rpear2x',
    'fixes #rpear2-b',
    'fixes #xrpear2',
    'fixes #rpear24567abcdefg',
    `fixes ${issueAt('3mb2kvjrfig22')}`,
    `fixes ${pear}x`,
    `fixes ${page}/edit`,
    'fixes https://elsewhere.example/alice.test/orchard/issues/3mb2kvjrpear2',
    'fixes [#rpear2]',
  ]) {
    assert.deepEqual(closed(message(body)), [], body)
  }
})

test('LND-6 each issue needs a keyword of its own, and comes in the order of the message', () => {
  assert.deepEqual(closed(message('fixes #rplum2, #rpear2')), [plum])
  assert.deepEqual(closed(message('fixes #rplum2, fixes #rpear2')), [plum, pear])
  assert.deepEqual(closed(message('fixes #rpear2 and closes #rplum2')), [pear, plum])
})

test('LND-6 a server that is reached without TLS has pages too', () => {
  const local = 'http://127.0.0.1:2590/alice.test/orchard/issues/3mb2kvjrpear2'
  assert.deepEqual(closed(message(`fixes ${local}`), [{ uri: pear, pages: [local] }]), [pear])
})

test('LND-6 no more than the key names an issue', () => {
  const odd = { uri: `at://${alice}/dev.knotless.issue/222222` }
  assert.deepEqual(closed(message('fixes #222222'), [odd]), [odd.uri])
  assert.deepEqual(closed(message('fixes #e222222'), [odd]), [])
})

test('LND-6 the end of a key that two issues share names neither; a longer one, or the address, does', () => {
  const other = issueAt('3mb2kvjxrpear2'.slice(1))
  const known = [...issues, { uri: other }]
  assert.deepEqual(closed(message('fixes #rpear2'), known), [])
  assert.deepEqual(closed(message('fixes #jrpear2'), known), [pear])
  assert.deepEqual(closed(message(`fixes ${other}`), known), [other])
  assert.deepEqual(closed(message('fixes #rpear2'), [...issues, ...issues]), [pear])
})

test('LND-6 a keyword inside code, quotes, comments or a folded list closes nothing', () => {
  for (const body of [
    '`fixes #rpear2`',
    '``fixes ` #rpear2``',
    '`a` `fixes #rpear2`',
    '`fixes` #rpear2',
    'fixes `#rpear2`',
    'fixes `x` #rpear2',
    '```\nfixes #rpear2\n```',
    '```sh\nfixes #rpear2\n```',
    '   ```\nfixes #rpear2\n   ```',
    '~~~\nfixes #rpear2\n~~~',
    '~~~ a`b\nfixes #rpear2\n~~~',
    '````\n```\nfixes #rpear2\n````',
    '```\n~~~\nfixes #rpear2\n```',
    '```\n``` x\nfixes #rpear2\n```',
    '```\nfixes #rpear2',
    '    fixes #rpear2',
    '\tfixes #rpear2',
    '    a\n    fixes #rpear2',
    'a\n\n    fixes #rpear2',
    '> fixes #rpear2',
    '>fixes #rpear2',
    '   > fixes #rpear2',
    '> somebody said:\nfixes #rpear2',
    '> a\n> fixes\n#rpear2',
    '- > fixes #rpear2',
    '1. > fixes #rpear2',
    '> - a\n> fixes #rpear2',
    'fixes\n> #rpear2',
    'Revert "Fixes #rpear2"',
    'Revert “Fixes #rpear2”',
    'Revert «Fixes #rpear2»',
    '<!-- fixes #rpear2 -->',
    '<!--\nfixes #rpear2\n-->',
    '<!-- fixes #rpear2',
    '<details>\n<summary>Changes</summary>\n\n- fixes #rpear2\n</details>',
    '<DETAILS open>\n- fixes #rpear2\n</DETAILS>',
    '<details><details>a</details>fixes #rpear2</details>',
    '<details><pre>a</pre>fixes #rpear2</details>',
    '<details>\nfixes #rpear2',
    '<blockquote>fixes #rpear2</blockquote>',
    '<pre>fixes #rpear2</pre>',
    '<code>fixes #rpear2</code>',
    '<q>fixes #rpear2</q>',
    'fixes <!-- a --> #rpear2',
    'fixes<!-- a -->\n#rpear2',
  ]) {
    assert.deepEqual(closed(message(body)), [], body)
  }
})

test('LND-6 what stands beside code, quotes and comments still closes', () => {
  for (const body of [
    '`a` fixes #rpear2',
    'a ` fixes #rpear2',
    '`` a ` fixes #rpear2',
    '```\na\n```\nfixes #rpear2',
    '```\na\n````\nfixes #rpear2',
    '``` a ``` fixes #rpear2',
    '~~~\na\n~~~  \nfixes #rpear2',
    '    ```\nfixes #rpear2',
    '    a\nfixes #rpear2',
    'a\n    fixes #rpear2',
    '- a\n\n    fixes #rpear2',
    '1) a\n\n    fixes #rpear2',
    '- a\n  b\n\n    fixes #rpear2',
    '> a\n\nfixes #rpear2',
    '> a\n- fixes #rpear2',
    '> a\n### fixes #rpear2',
    '> a\n\n```\nb\n```\nfixes #rpear2',
    '> a\n```\nb\n```\nfixes #rpear2',
    'a > fixes #rpear2',
    '"a" fixes #rpear2',
    '5" fixes #rpear2\nand 6" too',
    '<!-- a --> fixes #rpear2',
    'a --> fixes #rpear2',
    '</details> fixes #rpear2',
    '<details><details>a</details></details> fixes #rpear2',
    '<!-- <!-- a --> fixes #rpear2',
    '<details><!-- </details> fixes #rpear2',
    '<quote> fixes #rpear2 </quote>',
    '<span> fixes #rpear2</span>',
  ]) {
    assert.deepEqual(closed(message(body)), [pear], body)
  }
  assert.deepEqual(closed(message('- a\n\nb\n\n    fixes #rpear2')), [], 'code after a list has ended')
})

test('LND-6 an issue is closed once, by the first pull that names it', () => {
  const both = closedBy(
    [
      { pull, message: message('fixes #rpear2, fixes #rpear2') },
      { pull: second, message: message('fixes #rpear2, fixes #rplum2') },
    ],
    issues,
  )
  assert.deepEqual(both, {
    now: [
      { issue: pear, pull },
      { issue: plum, pull: second },
    ],
    later: [],
  } satisfies Closings)
})

const many = Array.from({ length: 150 }, (_, i) =>
  issueAt(`3mb2kvj${[i % 32, i >> 5].map(n => 'abcdefghijklmnopqrstuvwxyz234567'.charAt(n)).join('')}2222`),
)
const naming = (uris: readonly string[]) => message(uris.map(uri => `fixes ${uri}`).join('\n'))

test('LND-6 of one pull 20 issues are closed with the landing, the others later, by that same pull', () => {
  const known = many.map(uri => ({ uri }))
  const { now, later } = closedBy(
    [
      { pull, message: naming(many.slice(0, 21)) },
      { pull: second, message: naming(many.slice(20, 30)) },
    ],
    known,
  )
  assert.deepEqual(
    now.map(one => one.issue),
    [...many.slice(0, 20), ...many.slice(21, 30)],
  )
  assert.deepEqual(later, [{ issue: many[20], pull }])
})

test('LND-6 of one landing 100 issues are closed with it, the others later', () => {
  const messages = Array.from({ length: 7 }, (_, i) => ({
    pull: `${pull.slice(0, -1)}${'abcdefg'.charAt(i)}`,
    message: naming(many.slice(i * 19, i * 19 + 19)),
  }))
  const { now, later } = closedBy(
    messages,
    many.map(uri => ({ uri })),
  )
  assert.equal(now.length, 100)
  assert.deepEqual(
    [...now, ...later].map(one => one.issue),
    many.slice(0, 133),
  )
  assert.equal(later[0]?.pull, messages[5]?.pull)
})

test('LND-6 only so much of a message is read', () => {
  assert.deepEqual(closed(`${'a '.repeat(149_990)} fixes #rpear2`), [pear])
  assert.deepEqual(closed(`${'a '.repeat(150_000)} fixes #rpear2`), [])
})

test('LND-6 whatever a message holds, only known issues are closed, each once, within the bounds', () => {
  const piece = fc.constantFrom(
    'fixes ',
    '#rpear2',
    pear,
    page,
    '`',
    '```',
    '\n',
    '> ',
    '"',
    '<details>',
    '</details>',
    '<!--',
    '-->',
    ' ',
    '- ',
    '    ',
    'a',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), pieces => {
      const found = closed(pieces.join(''))
      assert.ok(found.length <= 1 && found.every(uri => uri === pear))
      assert.deepEqual(closed(`\`\`\`\`\`\`\`\`\`\`\n${pieces.join('').replaceAll('`', '')}`), [])
    }),
    { numRuns: 500 },
  )
})
