import { plainLine } from '../../views/ansi.ts'

/** The lines of a text as they were printed. */
export function rawLines(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** The lines of a text as people read them: without colours and other orders to a terminal; of a line that was written over, what stood at its end. */
export function logLines(text: string): string[] {
  return rawLines(text).map(plainLine)
}
