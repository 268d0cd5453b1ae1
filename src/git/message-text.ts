/** Titles and bodies of pulls made fit for a commit message (BLD-10). Cleaning what is clean changes nothing. */

/** Graphemes of a title; bytes of a title, since a grapheme has no end of its own; bytes of a body. */
export const textBounds = { titleGraphemes: 200, titleBytes: 4096, bodyBytes: 16 * 1024 } as const

const bidi = '\u202a-\u202e\u2066-\u2069'
/** Characters that no clean text holds. */
const unclean = new RegExp(`[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f${bidi}]`)
const dropped = new RegExp(unclean.source, 'g')
const spaced = new RegExp(`[\\s\\u0000-\\u001f\\u007f-\\u009f${bidi}]+`, 'g')
const invisible = /^[\p{Cc}\p{Cf}\p{Z}]*$/u

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' })

/** A title as one line: controls, line ends and bidi overrides as spaces, comments dropped, at most 200 graphemes. Empty when nothing of it shows. */
export function cleanTitle(title: string): string {
  const line = withoutComments(title.slice(0, 100_000).toWellFormed().replace(spaced, ' ')).replace(spaced, ' ').trim()
  const cut = cutAt(line, textBounds.titleBytes, textBounds.titleGraphemes).trim()
  return invisible.test(cut) ? '' : cut
}

/** A body with one kind of line ends and without controls, bidi overrides and comments, at most 16 KiB on whole graphemes. */
export function cleanBody(body: string): string {
  const lines = body
    .slice(0, 300_000)
    .toWellFormed()
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(dropped, '')
  const text = trimLines(withoutComments(lines))
  const cut = trimLines(cutAt(text, textBounds.bodyBytes))
  return invisible.test(cut) ? '' : cut
}

/** Whether a text holds no control but tab and newline, and no bidi override. */
export function isCleanText(text: string): boolean {
  return !unclean.test(text)
}

/** Empty lines at the start and white space at the end say nothing; an indented first line may be code. */
function trimLines(text: string): string {
  return text.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd()
}

/**
 * The text without `<!-- … -->`, in one pass over it: what is left when a comment goes may open or end another one with what comes after. A
 * comment that never ends is text.
 */
function withoutComments(text: string): string {
  if (!text.includes('-->')) return text
  const kept: string[] = []
  let open = -1
  const endsIn = (mark: string) => [...mark].every((char, at) => kept[kept.length - mark.length + at] === char)
  for (let at = 0; at < text.length; at++) {
    kept.push(text[at] ?? '')
    if (open < 0 && endsIn('<!--')) open = kept.length - 4
    if (open >= 0 && endsIn('-->')) {
      kept.length = open
      open = -1
    }
  }
  return kept.join('')
}

/** The longest start of the text with so many bytes of UTF-8 and so many graphemes, none of them cut through. */
function cutAt(text: string, mostBytes: number, mostGraphemes = Number.POSITIVE_INFINITY): string {
  if (text.length <= mostGraphemes && Buffer.byteLength(text) <= mostBytes) return text
  let [bytes, count, end] = [0, 0, 0]
  for (const { segment, index } of graphemes.segment(text.slice(0, mostBytes + 1))) {
    bytes += Buffer.byteLength(segment)
    count += 1
    if (bytes > mostBytes || count > mostGraphemes) break
    end = index + segment.length
  }
  return text.slice(0, end)
}
