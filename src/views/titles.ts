import { visible } from './html.ts'

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' })
/** Marks that turn the direction of text: in a title or a description there is nothing that would hold them in. */
const turns = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** One line of text, cut after `most` graphemes and never inside one, with control characters and marks of direction taken out. */
export function clip(text: string, most: number): string {
  // A grapheme may be of any length (zalgo), so what goes in is bounded as well.
  const bounded = text.length > most * 16 ? text.slice(0, most * 16) : text
  const line = visible(bounded).replace(turns, '').replace(/\s+/g, ' ').trim()
  if (line.length <= most && bounded === text) return line
  let out = ''
  let count = 0
  for (const { segment } of segmenter.segment(line)) {
    if (count === most) return `${out.trimEnd()}…`
    out += segment
    count++
  }
  return bounded === text ? out : `${out}…`
}
