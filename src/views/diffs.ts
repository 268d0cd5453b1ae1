import type { DiffFile, DiffLine } from '../git/pull.ts'
import { escapeText, Html } from './html.ts'

const kinds: Readonly<Record<DiffLine['kind'], string>> = { '+': ' class="add"', '-': ' class="del"', ' ': '' }

function line(of: DiffLine): string {
  const text = `${escapeText(of.text)}${of.cut ? '…' : ''}${of.noNewline ? ' <small>(no newline at the end)</small>' : ''}`
  return `<span${kinds[of.kind]}><i>${of.old ?? ''}</i><i>${of.new ?? ''}</i><b>${of.kind}</b><span>${text}\n</span></span>`
}

/** The hunks of a file as one block of lines; selecting it copies the text without the numbers. */
export function diffBlock(file: DiffFile): Html {
  const hunks = (file.hunks ?? []).map(hunk => `<span class="hunk">${escapeText(hunk.header)}\n</span>${hunk.lines.map(line).join('')}`)
  return new Html(`<pre class="diff" dir="ltr"><code>${hunks.join('')}</code></pre>`)
}

const folds: Readonly<Record<NonNullable<DiffFile['folded']>, string>> = {
  large: 'Too much changed here to be shown.',
  binary: 'These bytes are no text.',
  many: 'Not shown: too many files before it.',
}

/** Why the hunks of a file are not shown; undefined when they are. */
export function foldedWhy(file: DiffFile): string | undefined {
  if (file.folded !== undefined) return folds[file.folded]
  if (file.binary) return folds.binary
  if (file.hunks === undefined || file.hunks.length === 0)
    return file.change === 'mode' ? 'Only its mode changed.' : 'Its content did not change.'
  return undefined
}
