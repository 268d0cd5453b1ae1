/** YAML of an unknown writer as plain values, counted before it is read. */
import { CST, type Document, isAlias, isMap, isScalar, isSeq, Lexer, LineCounter, type Node, type Pair, parseDocument, visit } from 'yaml'
import { words } from './words.ts'

export const mostBytes = 64 * 2 ** 10
/** A workflow of a hundred steps has about a thousand. Reading takes the square of the keys, so that they are counted first. */
const mostTokens = 2000
const mostAnchors = 50
const deepest = 20

/** A step on the way to a value: a key, or a place in a list. */
export type Path = readonly PropertyKey[]

export interface YamlText {
  ok: true
  value: unknown
  /** The line, counted from 1, of what lies there, or of the nearest thing around it. With `key` that of the key rather than of its value. */
  lineOf(path: Path, key?: string): number | undefined
}

export interface YamlFault {
  ok: false
  line?: number | undefined
  key?: string
  message: string
}

/** One document of plain YAML 1.2 without tags and directives, at most 64 KiB. */
export function readYaml(bytes: Uint8Array | 'too-large'): YamlText | YamlFault {
  if (bytes === 'too-large' || bytes.length > mostBytes) return { ok: false, message: words.tooBig(mostBytes) }
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return { ok: false, message: words.notUtf8() }
  }
  try {
    return tokenFault(text) ?? read(text)
  } catch (error) {
    // Lists in lists by the thousand overrun the stack of whoever walks them.
    if (error instanceof RangeError) return { ok: false, message: words.tooDeep() }
    throw error
  }
}

function tokenFault(text: string): YamlFault | undefined {
  let line = 1
  let tokens = 0
  let anchors = 0
  for (const token of new Lexer().lex(text)) {
    const type = CST.tokenType(token)
    tokens++
    if (type === 'anchor' || type === 'alias') anchors++
    if (type === 'tag') return { ok: false, line, message: words.noTags() }
    if (type === 'directive-line') return { ok: false, line, message: words.noDirectives() }
    if (tokens > mostTokens) return { ok: false, line, message: words.tooManyTokens(mostTokens) }
    if (anchors > mostAnchors) return { ok: false, line, message: words.tooManyAnchors(mostAnchors) }
    for (let at = token.indexOf('\n'); at >= 0; at = token.indexOf('\n', at + 1)) line++
  }
  return undefined
}

function read(text: string): YamlText | YamlFault {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, version: '1.2', schema: 'core', merge: false, prettyErrors: false })
  const [broken] = [...document.errors, ...document.warnings]
  if (broken !== undefined) {
    const why = broken.code === 'MULTIPLE_DOCS' ? words.twoDocuments() : notYaml(broken.message)
    return { ok: false, line: lines.linePos(broken.pos[0]).line, message: why }
  }
  const fault = shapeFault(document, lines)
  if (fault !== undefined) return fault
  if (document.contents === null) return { ok: false, message: words.empty() }
  let value: unknown
  try {
    value = document.toJS({ maxAliasCount: mostAnchors })
  } catch (error) {
    // An alias before its anchor, or aliases of aliases that stand for more than there is.
    if (error instanceof ReferenceError) return { ok: false, message: words.badAlias() }
    throw error
  }
  return { ok: true, value, lineOf: (path, key) => lineOf(document, lines, path, key) }
}

/** Keys that are no text would read as other keys than they are; `__proto__` is a key like any other here and to nobody who uses the value. */
function shapeFault(document: Document.Parsed, lines: LineCounter): YamlFault | undefined {
  let fault: YamlFault | undefined
  const at = (node: unknown) => {
    const range = isScalar(node) || isMap(node) || isSeq(node) || isAlias(node) ? node.range : undefined
    return range ? lines.linePos(range[0]).line : undefined
  }
  visit(document, {
    Pair(_, pair) {
      if (isScalar(pair.key) && typeof pair.key.value === 'string') {
        if (pair.key.value !== '__proto__') return undefined
        fault = { ok: false, line: at(pair.key), key: pair.key.value, message: words.unknownKey() }
      } else fault = { ok: false, line: at(pair.key), message: words.keyNoText() }
      return visit.BREAK
    },
    Node(_, node, path) {
      if (path.length <= deepest * 2) return undefined
      fault = { ok: false, line: at(node), message: words.tooDeep() }
      return visit.BREAK
    },
  })
  return fault
}

function lineOf(document: Document.Parsed, lines: LineCounter, path: Path, key: string | undefined): number | undefined {
  let node: Node | null | undefined = document.contents
  let start = node?.range?.[0]
  for (const step of key === undefined ? path : [...path, key]) {
    const whole: Node | null | undefined = isAlias(node) ? node.resolve(document) : node
    if (isMap(whole)) {
      const pair: Pair<unknown, unknown> | undefined = whole.items.find(item => isScalar(item.key) && item.key.value === step)
      if (pair === undefined) break
      start = (isScalar(pair.key) ? pair.key.range?.[0] : undefined) ?? start
      node = isNodeLike(pair.value) ? pair.value : undefined
    } else if (isSeq(whole) && typeof step === 'number') {
      const item: unknown = whole.items[step]
      node = isNodeLike(item) ? item : undefined
      start = node?.range?.[0] ?? start
    } else break
  }
  return start === undefined ? undefined : lines.linePos(start).line
}

function isNodeLike(value: unknown): value is Node {
  return isScalar(value) || isMap(value) || isSeq(value) || isAlias(value)
}

/** The library's reason as the end of a sentence: one line, no full stop. It catches the overrun of its own stack. */
function notYaml(message: string): string {
  if (/call stack/i.test(message)) return words.tooDeep()
  const [first = ''] = message.split('\n')
  const clean = first
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ')
    .trim()
    .slice(0, 200)
    .replace(/[.:]+$/, '')
  return words.notYaml(clean.charAt(0).toLowerCase() + clean.slice(1))
}
