import type { DiffFile, DiffLine } from '../git/pull.ts'
import { escapeText, Html } from './html.ts'

const kinds: Readonly<Record<DiffLine['kind'], string>> = { '+': ' class="add"', '-': ' class="del"', ' ': '' }

/** What turns text around or takes no room: code may read as something else than what it does. */
const unseen = /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g

function named(char: string): string {
  return `<small>[U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]</small>`
}

/** Text of a line, with what could not be seen in it named in its place. */
function seen(text: string): string {
  return escapeText(text).replace(unseen, named)
}

function line(of: DiffLine): string {
  const text = `${seen(of.text)}${of.cut ? '…' : ''}${of.noNewline ? ' <small>(no newline at the end)</small>' : ''}`
  return `<span${kinds[of.kind]}><i>${of.old ?? ''}</i><i>${of.new ?? ''}</i><b>${of.kind}</b><span>${text}\n</span></span>`
}

/** The hunks of a file as one block of lines; selecting it copies the text without the numbers. */
export function diffBlock(file: DiffFile): Html {
  const hunks = (file.hunks ?? []).map(hunk => `<span class="hunk">${seen(hunk.header)}\n</span>${hunk.lines.map(line).join('')}`)
  return new Html(`<pre class="diff" dir="ltr"><code>${hunks.join('')}</code></pre>`)
}

const folds: Readonly<Record<NonNullable<DiffFile['folded']>, string>> = {
  large: 'Too much changed here to be shown.',
  binary: 'These bytes are no text.',
  many: 'Not shown: too much changed before it.',
}

/** Why the hunks of a file are not shown; undefined when they are. */
export function foldedWhy(file: DiffFile): string | undefined {
  const lines = file.additions + file.deletions
  if (file.folded === 'large' && lines > 0) return `${lines.toLocaleString('en')} changed lines are not shown.`
  if (file.folded !== undefined) return folds[file.folded]
  if (file.binary) return folds.binary
  if (file.hunks === undefined || file.hunks.length === 0)
    return file.change === 'mode' ? 'Only its mode changed.' : 'Its content did not change.'
  return undefined
}

/** Whether a file that is folded can be asked for alone, with larger bounds. */
export function isAskable(file: DiffFile): boolean {
  return file.folded === 'large' || file.folded === 'many'
}
