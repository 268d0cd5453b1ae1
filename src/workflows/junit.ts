/** What a JUnit report says: how many tests, and which failed. Reports are written by whoever's code ran: nothing in one is followed or expanded. */

export interface FailedTest {
  name: string
  /** Of the group it belongs to, where that is more than its name says. */
  suite?: string | undefined
  file?: string | undefined
  /** `failure`: an assertion did not hold; `error`: it broke otherwise. */
  kind: 'failure' | 'error'
  /** The first words of what went wrong. */
  message: string
  /** The rest: a trace, as a rule. */
  text: string
}

export interface Report {
  tests: number
  skipped: number
  /** How many failed; `failed` lists the first of them. */
  failures: number
  failed: readonly FailedTest[]
  /** It ends too early, or is no XML from some place on: what came before that was read. */
  isDamaged: boolean
}

/** Failed tests that are listed, and characters of a name, a message and a text. */
export const reportBounds = { failed: 200, name: 1_000, message: 2_000, text: 8_000, depth: 100, attributes: 100 } as const

interface Tag {
  name: string
  attributes: ReadonlyMap<string, string>
  isEmpty: boolean
}

interface Open {
  name: string
  suite: string | undefined
  file: string | undefined
  test?: FailedTest | undefined
  /** The failure whose text is being read. */
  into?: FailedTest | undefined
  isSkipped?: boolean
}

const attribute = /\s+([^\s=<>/"']{1,200})\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y
const tagName = /[^\s<>/="']{1,200}/y
const tagEnd = /\s*(\/?)>/y

/** Reads a report. Undefined for what is not one, and for one with a document type, which nothing but an attack has. */
export function readReport(text: string): Report | undefined {
  const failed: FailedTest[] = []
  const counts = { tests: 0, skipped: 0, failures: 0 }
  const stack: Open[] = []
  let isReport = false
  const done = (isDamaged: boolean): Report | undefined =>
    isReport ? { ...counts, failed: failed.map(test => ({ ...test, text: test.text.trim() })), isDamaged } : undefined

  function open(tag: Tag): boolean {
    const parent = stack.at(-1)
    const { name, attributes } = tag
    if (parent === undefined && name !== 'testsuites' && name !== 'testsuite') return false
    isReport = true
    const element: Open = { name, suite: parent?.suite, file: parent?.file }
    if (name === 'testsuite') {
      element.suite = clip(attributes.get('name'), reportBounds.name) ?? parent?.suite
      element.file = clip(attributes.get('file'), reportBounds.name) ?? parent?.file
    } else if (name === 'testcase') {
      counts.tests++
      element.suite = clip(attributes.get('classname'), reportBounds.name) ?? parent?.suite
      element.file = clip(attributes.get('file'), reportBounds.name) ?? parent?.file
      const title = clip(attributes.get('name'), reportBounds.name) ?? ''
      element.test = { name: title, suite: element.suite, file: element.file, kind: 'failure', message: '', text: '' }
    } else if (parent?.name === 'testcase' && parent.test !== undefined && (name === 'failure' || name === 'error')) {
      // A test that failed in more than one way is one test.
      if (parent.into === undefined) {
        counts.failures++
        parent.into = { ...parent.test, kind: name, message: clip(attributes.get('message'), reportBounds.message) ?? '' }
        if (failed.length < reportBounds.failed) failed.push(parent.into)
      }
      element.into = parent.into
    } else if (parent?.name === 'testcase' && name === 'skipped' && !parent.isSkipped) {
      counts.skipped++
      parent.isSkipped = true
    }
    if (!tag.isEmpty) stack.push(element)
    return true
  }

  function take(piece: string): void {
    const into = stack.at(-1)?.into
    if (into !== undefined && into.text.length < reportBounds.text) into.text = (into.text + piece).slice(0, reportBounds.text)
  }

  for (let at = 0; ; ) {
    const next = text.indexOf('<', at)
    if (next < 0) return done(stack.length > 0)
    if (next > at && stack.at(-1)?.into !== undefined) take(decoded(text.slice(at, Math.min(next, at + 4 * reportBounds.text))))
    if (text.startsWith('<!--', next)) at = after(text, '-->', next + 4)
    else if (text.startsWith('<?', next)) at = after(text, '?>', next + 2)
    else if (text.startsWith('<![CDATA[', next)) {
      at = after(text, ']]>', next + 9)
      take(text.slice(next + 9, Math.min(at < 0 ? text.length : at - 3, next + 9 + reportBounds.text)))
    } else if (text.startsWith('<!', next)) return undefined
    else if (text.startsWith('</', next)) {
      at = after(text, '>', next + 2)
      const open = stack.pop()
      if (open === undefined || (at >= 0 && text.slice(next + 2, at - 1).trim() !== open.name)) return done(true)
      if (stack.length === 0) return done(false)
    } else {
      const tag = readTag(text, next + 1)
      if (tag === undefined || stack.length >= reportBounds.depth) return done(true)
      if (!open(tag)) return done(true)
      at = tag.end
      if (stack.length === 0) return done(false)
    }
    if (at < 0) return done(true)
  }
}

/** Where a text goes on behind the next `mark`; negative where there is none. */
function after(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from)
  return found < 0 ? -1 : found + mark.length
}

function readTag(text: string, from: number): (Tag & { end: number }) | undefined {
  tagName.lastIndex = from
  const name = tagName.exec(text)?.[0]
  if (name === undefined) return undefined
  const attributes = new Map<string, string>()
  let at = tagName.lastIndex
  for (let n = 0; n <= reportBounds.attributes; n++) {
    attribute.lastIndex = at
    const found = attribute.exec(text)
    if (found === null) break
    at = attribute.lastIndex
    attributes.set(found[1] ?? '', decoded((found[2] ?? found[3] ?? '').slice(0, 4 * reportBounds.message)))
  }
  tagEnd.lastIndex = at
  const end = tagEnd.exec(text)
  return end === null ? undefined : { name, attributes, isEmpty: end[1] === '/', end: tagEnd.lastIndex }
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

/** The five names that XML has, and characters by number; anything else stays as it stands. */
function decoded(text: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&(?:#(\d{1,7})|#x([\da-fA-F]{1,6})|(lt|gt|amp|quot|apos));/g, (all, decimal, hex, name) => {
    if (name !== undefined) return entities[name] ?? all
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : '\ufffd'
  })
}

function clip(text: string | undefined, most: number): string | undefined {
  const clean = text?.trim()
  if (clean === undefined || clean === '') return undefined
  return clean.length > most ? `${clean.slice(0, most)}…` : clean
}
