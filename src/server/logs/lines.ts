/** Characters of a line that are shown: programs print files on one line. */
const LONGEST = 4_000

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const sequences = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[ -/]*[0-~])/g

/** The lines of a log as people read them: without colours and other orders to a terminal; of a line that was written over, what stood at its end. */
export function logLines(text: string): string[] {
  const lines = text.replace(sequences, '').split(/\r*\n/)
  if (lines.at(-1) === '') lines.pop()
  return lines.map(written)
}

function written(line: string): string {
  const over = line.replace(/\r+$/, '')
  const last = over.slice(over.lastIndexOf('\r') + 1)
  return last.length > LONGEST ? `${last.slice(0, LONGEST)} …` : last
}
