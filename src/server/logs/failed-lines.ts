import { setImmediate as turn } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { createTerminal, plainLine } from '../../views/ansi.ts'
import type { FailedTest } from '../../workflows/junit.ts'
import type { OpenLog } from './logs.ts'
import { lastAtMost } from './search.ts'

/** Where a log tells of a failed test: from which line, and which of its lines says what went wrong. From 1; absent where that is not found. */
export interface FailedLines {
  from?: number | undefined
  says?: number | undefined
}

/** Where logs tell of failed tests, by the run's key: neither a log nor a report ever changes, so that each is looked through once. */
export interface FailedTests {
  of(key: string, log: OpenLog, tests: readonly FailedTest[]): Promise<readonly FailedLines[]>
}

const KEPT = 500
/** A log longer than this is not looked through, nor for more tests, nor more of a line. */
const MOST_BYTES = 12 * 2 ** 20
const MOST_TESTS = 200
const LONGEST = 4_000
/** Characters that are looked through for all tests of a log together. */
const LOOKED = 2 ** 29
/** A test is named at most so many lines before what went wrong. */
const NEAR = 60
/** Shorter texts stand in many lines. */
const LEAST = 6

export function createFailedTests(): FailedTests {
  const kept = new LRUCache<string, Promise<readonly FailedLines[]>>({ max: KEPT })
  return {
    of(key, log, tests) {
      const known = kept.get(key)
      if (known !== undefined) return known
      const found = findFailed(log, tests)
      kept.set(key, found)
      found.catch(() => kept.delete(key))
      return found
    },
  }
}

/** Where a log tells of these tests, one answer for each. Other work goes on in between. */
export async function findFailed(log: Pick<OpenLog, 'bytes' | 'all'>, tests: readonly FailedTest[]): Promise<FailedLines[]> {
  if (tests.length === 0 || log.bytes > MOST_BYTES) return tests.map(() => ({}))
  const { text, starts } = await plainText(log)
  // Of tests that failed with the same words each has a line of its own.
  const used = new Map<string, number>()
  let left = LOOKED
  const find = (words: string, from: number) => {
    const at = left > 0 ? text.indexOf(words, from) : -1
    left -= (at < 0 ? text.length : at) - from
    return at
  }
  const found: FailedLines[] = []
  for (const test of tests) {
    await turn()
    const name = test.name.length < LEAST ? undefined : test.name
    const words = firstLine(test.message) ?? firstLine(test.text)
    const saysAt = words === undefined || found.length >= MOST_TESTS ? -1 : find(words, used.get(words) ?? 0)
    if (saysAt >= 0 && words !== undefined) {
      used.set(words, saysAt + words.length)
      const says = lineAt(starts, saysAt)
      const near = starts[Math.max(0, says - 1 - NEAR)] ?? 0
      const named = name === undefined ? -1 : text.slice(near, saysAt + name.length).lastIndexOf(name)
      found.push({ says, from: named < 0 ? says : lineAt(starts, near + named) })
    } else found.push({ from: name === undefined || found.length >= MOST_TESTS ? undefined : lineOf(starts, find(name, 0)) })
  }
  return found
}

/** A log without orders to a terminal, and where each of its lines starts. */
async function plainText(log: Pick<OpenLog, 'all'>): Promise<{ text: string; starts: number[] }> {
  const starts: number[] = []
  const pieces: string[] = []
  let length = 0
  for await (const { lines } of log.all()) {
    for (const line of lines) {
      const text = createTerminal(LONGEST)
        .line(line)
        .map(piece => piece.text)
        .join('')
      starts.push(length)
      pieces.push(text)
      length += text.length + 1
    }
    await turn()
  }
  return { text: pieces.join('\n'), starts }
}

function firstLine(text: string): string | undefined {
  const line = text
    .split('\n')
    .map(each => plainLine(each).trim())
    .find(each => each !== '')
  return line === undefined || line.length < LEAST ? undefined : line.slice(0, 200)
}

function lineOf(starts: readonly number[], at: number): number | undefined {
  return at < 0 ? undefined : lineAt(starts, at)
}

/** The number of the line that a place in the text is in. */
function lineAt(starts: readonly number[], at: number): number {
  return lastAtMost(starts.length, line => starts[line] ?? 0, at) + 1
}
