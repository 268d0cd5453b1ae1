import { plainLine } from '../../views/ansi.ts'
import type { FailedTest } from '../../workflows/junit.ts'
import type { OpenLog } from './logs.ts'
import { lastAtMost } from './search.ts'

/** Where a log tells of a failed test: from which line, and which of its lines says what went wrong. From 1; absent where that is not found. */
export interface FailedLines {
  from?: number | undefined
  says?: number | undefined
}

/** A log longer than this is not looked through, nor for more tests. */
const MOST_BYTES = 12 * 2 ** 20
const MOST_TESTS = 200
/** A test is named at most so many lines before what went wrong. */
const NEAR = 60
/** Shorter texts stand in many lines. */
const LEAST = 6

/** Where a log tells of these tests, one answer for each. */
export async function findFailed(log: OpenLog, tests: readonly FailedTest[]): Promise<FailedLines[]> {
  if (tests.length === 0 || log.bytes > MOST_BYTES) return tests.map(() => ({}))
  const starts: number[] = []
  const pieces: string[] = []
  let length = 0
  for await (const { lines } of log.all()) {
    for (const line of lines) {
      const text = plainLine(line)
      starts.push(length)
      pieces.push(text)
      length += text.length + 1
    }
  }
  const text = pieces.join('\n')
  // Of tests that failed with the same words each has a line of its own.
  const used = new Map<string, number>()
  return tests.map((test, at) => {
    if (at >= MOST_TESTS) return {}
    const words = firstLine(test.message) ?? firstLine(test.text)
    const saysAt = words === undefined ? -1 : text.indexOf(words, used.get(words) ?? 0)
    if (saysAt >= 0 && words !== undefined) used.set(words, saysAt + words.length)
    const name = test.name.length < LEAST ? undefined : test.name
    const says = saysAt < 0 ? undefined : lineAt(starts, saysAt)
    if (says === undefined) return { from: name === undefined ? undefined : lineOf(starts, text.indexOf(name)) }
    const named = name === undefined ? undefined : lineOf(starts, text.lastIndexOf(name, saysAt))
    return { says, from: named !== undefined && says - named <= NEAR ? named : says }
  })
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
