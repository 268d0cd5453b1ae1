import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import fc from 'fast-check'
import { gitEnv } from '../../src/git/env.ts'
import { cleanBody, cleanTitle, isCleanText, textBounds } from '../../src/git/message-text.ts'
import { isCleanCommit, isCleanMessage, lastLineOf, squashCommit, squashMessage } from '../../src/git/squash.ts'
import { ObjectMaker } from './pack-writer.ts'
import { tempDir } from './support.ts'

const did = 'did:plc:bbbbbbbbbbbbbbbbbbbbbbbb'
const pull = 'at://did:plc:cccccccccccccccccccccccc/dev.knotless.pull/3lxyzabcdef2a'
const [tree, parent] = ['a'.repeat(40), 'b'.repeat(40)]
const time = 1_790_000_000
const fallback = `author unknown <unknown@knotless.invalid> ${time} +0000`

function squash(more: Partial<Parameters<typeof squashCommit>[0]> = {}): Buffer {
  const head = { author: Buffer.from('author Ada <ada@example.com> 5 +0200') }
  return squashCommit({ tree, parent, head, committer: did, time, title: 'Add a tree', branch: 'topic', pull, ...more })
}

function authorOf(author: Buffer | string, encoding?: string): Buffer {
  const made = squash({ head: { author: Buffer.from(author), ...(encoding === undefined ? {} : { encoding }) } })
  const start = made.indexOf('\nauthor ') + 1
  return made.subarray(start, made.indexOf('\ncommitter ', start))
}

test('BLD-3 BLD-10 a squash is the tree, one parent, the head author, the committer now, and a message that ends in the pull', () => {
  assert.equal(
    squash({ body: 'Because.\r\n\r\nIt is green.\r\n' }).toString(),
    `tree ${tree}\nparent ${parent}\nauthor Ada <ada@example.com> 5 +0200\ncommitter ${did} <${did}@knotless.invalid> ${time} +0000\n\n` +
      `Add a tree\n\nBecause.\n\nIt is green.\n\n${pull}\n`,
  )
  assert.ok(squash().toString().endsWith(`\n\nAdd a tree\n\n${pull}\n`))
  assert.ok(squash({ title: ' \u202e\n ', body: '<!-- nothing -->' }).toString().endsWith(`\n\ntopic\n\n${pull}\n`))
  assert.ok(squash({ title: '', branch: '\u200b' }).toString().endsWith(`\n\nUntitled pull\n\n${pull}\n`))
})

test('BLD-10 a well-formed author line is kept byte for byte, whatever its bytes', () => {
  const latin = Buffer.from('author J\xf6rg  .,:;"\' <j@x> 0 -0330', 'latin1')
  assert.deepEqual(authorOf(latin), latin)
  for (const line of ['author 李 <> 999999999999 +9999', 'author a <b c> 1 +0000', `author ${'x'.repeat(512 - 25)} <a@b> 12345 +0000`]) {
    assert.equal(authorOf(line).toString(), line)
  }
})

test('BLD-10 an author line in another encoding becomes UTF-8', () => {
  assert.equal(authorOf(Buffer.from('author J\xf6rg <j@x> 1 +0000', 'latin1'), 'ISO-8859-1').toString(), 'author Jörg <j@x> 1 +0000')
  const japanese = Buffer.concat([Buffer.from('author '), Buffer.from([0x8e, 0x52, 0x93, 0x63]), Buffer.from(' <y@x> 1 +0900')])
  assert.equal(authorOf(japanese, 'shift_jis').toString(), 'author 山田 <y@x> 1 +0900')
  assert.equal(authorOf(Buffer.from('author J\xf6rg <j@x> 1 +0000', 'latin1'), 'UTF-8').toString(), fallback)
  assert.equal(authorOf(Buffer.from('author J\xf6rg <j@x> 1 +0000', 'latin1'), 'klingon').toString(), fallback)
})

test('BLD-10 an author line that is not well formed is replaced by a named one', () => {
  const lines = [
    '',
    'author ',
    'author <a@b> 1 +0000',
    'author    <a@b> 1 +0000',
    'author x<a@b> 1 +0000',
    'author x a@b 1 +0000',
    'author x <a@b 1 +0000',
    'author x <a@b>> 1 +0000',
    'author x <y> <a@b> 1 +0000',
    'author x <a@b> 01 +0000',
    'author x <a@b> 1234567890123 +0000',
    'author x <a@b> -1 +0000',
    'author x <a@b> 1 +000',
    'author x <a@b> 1 +0000 ',
    'author x <a@b>  1 +0000',
    'author x <a@b> 1',
    'author x\0y <a@b> 1 +0000',
    'author x\ny <a@b> 1 +0000',
    'author \x1b[31mx <a@b> 1 +0000',
    'committer x <a@b> 1 +0000',
    `author ${'x'.repeat(513 - 25)} <a@b> 12345 +0000`,
  ]
  for (const line of lines) assert.equal(authorOf(line).toString(), fallback, JSON.stringify(line))
})

test('BLD-10 titles are one line of at most 200 graphemes, bodies of at most 16 KiB, both cut between characters', () => {
  assert.equal(cleanTitle('  a\tb\r\n\u0085c\u202e d <!-- e --> f\u2028 '), 'a b c d f')
  const family = '👩‍👩‍👧‍👦'
  assert.equal(cleanTitle(family.repeat(201)), family.repeat(Math.floor(textBounds.titleBytes / Buffer.byteLength(family))))
  assert.equal(cleanTitle('é'.repeat(201)), 'é'.repeat(200))
  assert.equal(cleanTitle(`a${'\u0301'.repeat(5000)}b`), '')
  assert.equal(cleanBody('🏳️‍🌈'.repeat(5000)), '🏳️‍🌈'.repeat(Math.floor(textBounds.bodyBytes / Buffer.byteLength('🏳️‍🌈'))))
  assert.equal(cleanBody('\n \n  code\r\rb\0\x1b[1m\u2066 \n\n'), '  code\n\nb[1m')
  assert.equal(cleanBody('a<!-- b --><!-- c\n-->d <!-- never'), 'ad <!-- never')
  assert.equal(cleanBody('a<!-<!-- b -->- c -->d'), 'ad')
  assert.equal(cleanBody('<!--<!--'.repeat(30_000)).length, textBounds.bodyBytes)
})

test('BLD-3 readers look at the last line that is not empty, and nowhere else', () => {
  const other = 'at://did:plc:dddddddddddddddddddddddd/dev.knotless.pull/3lother'
  const message = (text: string) => lastLineOf(Buffer.from(text))
  assert.equal(message(squashMessage({ title: other, body: `${other}\n\n${other}`, branch: 'x', pull })), pull)
  assert.equal(message(`a\n\n${pull}`), pull)
  assert.equal(message(`a\n\n${pull}\n \n\n\t\n`), pull)
  assert.equal(message(`${pull}\nx`), 'x')
  assert.equal(message(`${pull} `), `${pull} `)
  assert.equal(message(''), '')
  assert.equal(message('\n\n'), '')
  assert.equal(message('y'.repeat(5000)).length, 2048)
})

test('GWY-4 a message with controls, without UTF-8 or out of bounds is not clean, nor a commit with more headers', () => {
  assert.equal(isCleanMessage(Buffer.from('a\tb\n\nc\n')), true)
  for (const bad of ['\0', '\r', '\x1b', '\x7f', '\u0085', '\u202e', '\u2067']) {
    assert.equal(isCleanMessage(Buffer.from(`a${bad}b`)), false, JSON.stringify(bad))
  }
  assert.equal(isCleanMessage(Buffer.from([0x61, 0xff])), false)
  assert.equal(isCleanMessage(Buffer.alloc(32 * 1024, 'a')), true)
  assert.equal(isCleanMessage(Buffer.alloc(32 * 1024 + 1, 'a')), false)
  const line = Buffer.from('author Ada <ada@example.com> 5 +0200')
  const committer = Buffer.from(line.toString().replace('author', 'committer'))
  const plain = { id: parent, tree, parents: [], author: line, committer, otherHeaders: [], message: Buffer.from('a\n'), cut: false }
  assert.equal(isCleanCommit(plain), true)
  assert.equal(isCleanCommit({ ...plain, otherHeaders: ['gpgsig'] }), false)
  assert.equal(isCleanCommit({ ...plain, cut: true }), false)
  for (const bad of [
    'committer Ada <a@b> 05 +0200',
    'committer \x1b[2J <a@b> 5 +0200',
    `committer ${'a'.repeat(1024)} <a@b> 5 +0200`,
    'author Ada <a@b> 5 +0200',
  ]) {
    assert.equal(isCleanCommit({ ...plain, committer: Buffer.from(bad) }), false, bad)
  }
  assert.equal(isCleanCommit({ ...plain, author: Buffer.from(`author ${'a'.repeat(512)} <a@b> 5 +0200`) }), false)
})

test('a squash is made of ids, a DID, a time and an address, not of text', () => {
  assert.throws(() => squash({ tree: 'x' }))
  assert.throws(() => squash({ parent: `${parent}\nparent ${parent}` }))
  assert.throws(() => squash({ committer: 'did:plc:x> 1 +0000\n' }))
  assert.throws(() => squash({ time: 1.5 }))
  assert.throws(() => squash({ pull: `${pull}\nx` }))
})

const nasty = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'grapheme', maxLength: 400 }) },
  fc.constantFrom(
    '<!--',
    '-->',
    '<!-',
    '\r\n',
    '\r',
    '\n\n',
    '\0',
    '\u202e',
    '\ud800',
    '\u2028',
    '\x1b[2J',
    '>',
    '<',
    ' ',
    '\t',
    '👩‍👧',
    'e\u0301',
    pull,
    '\ufeff',
  ),
)
const text = fc.array(nasty, { maxLength: 30 }).map(parts => parts.join(''))
const long = fc.tuple(text, fc.nat(3000)).map(([part, times]) => part.repeat(Math.min(times, Math.ceil(40_000 / Math.max(1, part.length)))))
const anyText = fc.oneof(text, long)
const bytes = fc.uint8Array({ maxLength: 60 }).map(data => Buffer.from(data))
const author = fc.oneof(
  bytes,
  bytes.map(data => Buffer.concat([Buffer.from('author '), data, Buffer.from(' <a@b> 5 +0200')])),
  fc
    .tuple(bytes, fc.stringMatching(/^\d{0,14} [+-]\d{2,6}$/))
    .map(([data, end]) => Buffer.concat([Buffer.from('author x <'), data, Buffer.from(`> ${end}`)])),
)
const head = fc.record(
  { author, encoding: fc.constantFrom('UTF-8', 'latin1', 'utf-16le', 'iso-2022-jp', 'x') },
  { requiredKeys: ['author'] },
)
const made = fc.record({ title: anyText, body: fc.option(anyText, { nil: undefined }), branch: text, head })

test('BLD-10 whatever a pull says, its squash passes the strict check, ends in the pull, is clean, and comes out the same again', t => {
  const dir = tempDir(t)
  execFileSync('git', ['init', '--quiet', '--bare', dir], { env: gitEnv() })
  fc.assert(
    fc.property(fc.array(made, { minLength: 30, maxLength: 60 }), inputs => {
      const maker = new ObjectMaker()
      const realTree = maker.tree([{ mode: '100644', name: 'f', id: maker.add('blob', 'x') }])
      const realParent = maker.commit(realTree)
      const commits = inputs.map(input => squash({ ...input, tree: realTree, parent: realParent }))
      for (const [at, content] of commits.entries()) {
        const message = content.subarray(content.indexOf('\n\n') + 2)
        assert.equal(lastLineOf(message), pull)
        assert.equal(isCleanMessage(message), true)
        assert.equal(content.includes(0), false)
        const input = inputs[at]
        assert.ok(input !== undefined)
        assert.deepEqual(squash({ ...input, tree: realTree, parent: realParent }), content)
      }
      const unique = new Map(commits.map(content => [content.toString('latin1'), content]))
      for (const content of unique.values()) maker.objects.push({ type: 'commit', data: content })
      execFileSync('git', [`--git-dir=${dir}`, 'index-pack', '--strict', '--stdin'], {
        env: gitEnv(),
        input: maker.pack(),
        stdio: ['pipe', 'pipe', 'pipe'],
      })
    }),
    { numRuns: 12 },
  )
})

test('BLD-10 cleaning what is clean changes nothing', () => {
  fc.assert(
    fc.property(anyText, raw => {
      const [title, body] = [cleanTitle(raw), cleanBody(raw)]
      assert.equal(cleanTitle(title), title)
      assert.equal(cleanBody(body), body)
      assert.ok(isCleanText(title) && isCleanText(body) && !/[\t\n]/.test(title))
      assert.ok(title.isWellFormed() && body.isWellFormed())
      assert.doesNotMatch(body, /<!--[\s\S]*-->/)
      assert.ok(Buffer.byteLength(body) <= textBounds.bodyBytes && Buffer.byteLength(title) <= textBounds.titleBytes)
      const message = squashMessage({ title: raw, body: raw, branch: 'b', pull })
      assert.equal(message, squashMessage({ title, body, branch: 'b', pull }))
    }),
    { numRuns: 400 },
  )
})
