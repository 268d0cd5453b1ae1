/**
 * Patterns of branches and paths, as globs are known: `*` and `?` stay in one folder, `**` as a part of its own goes through any number of
 * them, `[a-z]` is one of these, `{a,b}` is either, `\` takes the next sign as itself. Names that start with a dot are like any other.
 *
 * Not by regular expressions: a library's glob of thirteen signs took six seconds on a name of a hundred, and a pattern is written by whoever
 * opens a pull. Here a match takes at most the pattern's length times the text's.
 */

/** A sign of a pattern: one character as itself, any one, any number, or one of a class. */
type Sign =
  | { kind: 'is'; char: string }
  | { kind: 'any' }
  | { kind: 'many' }
  | { kind: 'class'; not: boolean; ranges: readonly (readonly [string, string])[] }
type Part = readonly Sign[] | 'through'

/** A branch or path, taken apart once for all that it is held against. */
export type Text = readonly (readonly string[])[]

export interface Glob {
  /** How long it is with its alternatives: a match takes at most this times the text's length in steps. */
  readonly size: number
  matches(text: Text): boolean
}

/** A branch or path in its parts, and those in their characters. */
export function textOf(text: string): Text {
  return text.split('/').map(name => [...name])
}

/** What is wrong with a pattern, by a word that `words.ts` makes a sentence of. */
export type GlobFault =
  | 'empty'
  | 'too-long'
  | 'bracket'
  | 'brace'
  | 'escape'
  | 'negated'
  | 'folder'
  | 'extended'
  | 'control'
  | 'alternatives'

const longest = 250
const mostAlternatives = 16

/** Compiles a pattern of at most 250 characters and 16 alternatives. */
export function parseGlob(pattern: string): { ok: true; glob: Glob } | { ok: false; fault: GlobFault } {
  const fault = roughFault(pattern)
  if (fault !== undefined) return { ok: false, fault }
  const expanded = expand(pattern)
  if (typeof expanded === 'string') return { ok: false, fault: expanded }
  const alternatives: Part[][] = []
  for (const one of expanded) {
    const parts = partsOf(one)
    if (typeof parts === 'string') return { ok: false, fault: parts }
    alternatives.push(parts)
  }
  return {
    ok: true,
    glob: {
      size: expanded.reduce((sum, one) => sum + one.length, 0),
      matches: text => alternatives.some(parts => matchParts(parts, text)),
    },
  }
}

function roughFault(pattern: string): GlobFault | undefined {
  if (pattern === '') return 'empty'
  if (pattern.length > longest) return 'too-long'
  if (/\p{Cc}/u.test(pattern)) return 'control'
  if (pattern.startsWith('!')) return 'negated'
  return /(?<!\\)[@+*?!]\(/.test(pattern) ? 'extended' : undefined
}

/** The pattern once for each way through its braces. */
function expand(pattern: string): string[] | GlobFault {
  const done: string[] = []
  const open = [pattern]
  while (open.length > 0) {
    const next = open.pop() ?? ''
    const split = firstBraces(next)
    if (split === 'brace') return 'brace'
    if (split === undefined) done.push(next)
    else open.push(...split.choices.map(choice => split.before + choice + split.after).reverse())
    if (done.length + open.length > mostAlternatives) return 'alternatives'
  }
  return done
}

function firstBraces(text: string): { before: string; choices: string[]; after: string } | 'brace' | undefined {
  let depth = 0
  let start = 0
  let from = 0
  let inClass = false
  const choices: string[] = []
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '\\') at++
    else if (inClass) inClass = char !== ']'
    else if (char === '[') inClass = true
    else if (char === '{') {
      if (depth === 0) {
        start = at
        from = at + 1
      }
      depth++
    } else if (char === '}') {
      depth--
      if (depth < 0) return 'brace'
      if (depth === 0) {
        choices.push(text.slice(from, at))
        return choices.length < 2 ? 'brace' : { before: text.slice(0, start), choices, after: text.slice(at + 1) }
      }
    } else if (char === ',' && depth === 1) {
      choices.push(text.slice(from, at))
      from = at + 1
    }
  }
  return depth === 0 ? undefined : 'brace'
}

function partsOf(pattern: string): Part[] | GlobFault {
  const parts: Part[] = []
  for (const text of pattern.split('/')) {
    if (text === '' || text === '.' || text === '..') return 'folder'
    const part = text === '**' ? 'through' : signsOf(text)
    if (part === 'bracket' || part === 'escape') return part
    parts.push(part)
  }
  return parts
}

function signsOf(text: string): Sign[] | 'bracket' | 'escape' {
  const signs: Sign[] = []
  const chars = [...text]
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] ?? ''
    if (char === '\\') {
      at++
      const next = chars[at]
      if (next === undefined) return 'escape'
      signs.push({ kind: 'is', char: next })
    } else if (char === '*') {
      if (signs.at(-1)?.kind !== 'many') signs.push({ kind: 'many' })
    } else if (char === '?') signs.push({ kind: 'any' })
    else if (char === '[') {
      const read = classOf(chars, at)
      if (read === undefined) return 'bracket'
      signs.push(read.sign)
      at = read.end
    } else if (char === ']') return 'bracket'
    else signs.push({ kind: 'is', char })
  }
  return signs
}

/** The class that opens at `at`; `end` is its closing bracket. */
function classOf(chars: readonly string[], at: number): { sign: Sign; end: number } | undefined {
  let next = at + 1
  const not = chars[next] === '!' || chars[next] === '^'
  if (not) next++
  const ranges: [string, string][] = []
  for (; next < chars.length; next++) {
    if (chars[next] === ']') return ranges.length === 0 ? undefined : { sign: { kind: 'class', not, ranges }, end: next }
    if (chars[next] === '\\') next++
    const low = chars[next]
    const high = chars[next + 1] === '-' && chars[next + 2] !== ']' ? chars[next + 2] : undefined
    if (low === undefined || low === '[') return undefined
    if (high === undefined) ranges.push([low, low])
    else {
      if (high < low) return undefined
      ranges.push([low, high])
      next += 2
    }
  }
  return undefined
}

/** Goes back to the last `**` only: the one before it need not take more. */
function matchParts(parts: readonly Part[], names: readonly (readonly string[])[]): boolean {
  return greedy(
    parts,
    names,
    part => part === 'through',
    (part, name) => part !== 'through' && matchName(part, name),
  )
}

function matchName(signs: readonly Sign[], name: readonly string[]): boolean {
  return greedy(signs, name, sign => sign.kind === 'many', matchSign)
}

function matchSign(sign: Sign, char: string): boolean {
  if (sign.kind === 'is') return sign.char === char
  if (sign.kind !== 'class') return sign.kind === 'any'
  return sign.ranges.some(([low, high]) => low <= char && char <= high) !== sign.not
}

/** Matches a list against a pattern of ones and of stars that take any number: at most the product of their lengths in steps. */
function greedy<P, T>(
  pattern: readonly P[],
  list: readonly T[],
  isStar: (one: P) => boolean,
  matches: (one: P, item: T) => boolean,
): boolean {
  let p = 0
  let star = -1
  let from = 0
  for (let t = 0; t < list.length; ) {
    const one = pattern[p]
    const item = list[t]
    if (one !== undefined && isStar(one)) {
      star = p++
      from = t
    } else if (one !== undefined && item !== undefined && matches(one, item)) {
      p++
      t++
    } else if (star >= 0) {
      p = star + 1
      t = ++from
    } else return false
  }
  while (p < pattern.length) {
    const one = pattern[p]
    if (one === undefined || !isStar(one)) return false
    p++
  }
  return true
}
