/** An SVG badge: what it is about on the left, how that does on the right. */
import { escapeText } from './html.ts'
import { tone } from './labels.ts'
import { clip } from './titles.ts'

/** White text on each of these has a contrast of 5:1 or more. */
const fills: Readonly<Record<string, string>> = {
  success: '#1a7f37',
  attention: '#8a5d00',
  danger: '#c01c28',
  accent: '#0969da',
  done: '#8250df',
  neutral: '#59636e',
}

/** Longest parts, in graphemes. */
const MOST = 40
const MARK = 25
const PAD = 7

export interface BadgeParts {
  /** Such as a branch's name. */
  left: string
  right: string
  /** Read to those who do not see it. */
  says: string
  tone: string
}

/** The badge as an SVG document of 20 px in height. Its text is as wide as it says whatever font there is. */
export function badgeSvg(parts: BadgeParts): string {
  const left = clip(parts.left, MOST)
  const right = clip(parts.right, MOST)
  const says = escapeText(clip(parts.says, 2 * MOST))
  const leftWide = textWidth(left)
  const rightWide = textWidth(right)
  const split = MARK + leftWide + PAD
  const wide = split + rightWide + 2 * PAD
  const text = (at: number, width: number, of: string) =>
    `<text x="${at}" y="14" textLength="${width}" lengthAdjust="spacingAndGlyphs">${escapeText(of)}</text>`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${wide}" height="20" role="img" aria-label="${says}"><title>${says}</title>`,
    `<rect width="${wide}" height="20" rx="4" fill="#12303a"/>`,
    `<path d="M${split} 0H${wide - 4}a4 4 0 0 1 4 4v12a4 4 0 0 1-4 4H${split}z" fill="${fills[tone(parts.tone)] ?? '#59636e'}"/>`,
    '<g fill="none" stroke="#dcb679" stroke-width="1.6" stroke-linecap="round">',
    '<path d="M5 14c5 0 11-1 11-5a4 4 0 0 0-8 0" pathLength="100" stroke-dasharray="16 12 100"/><path d="M8 9c0 4 6 5 11 5"/></g>',
    '<g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11">',
    text(MARK, leftWide, left),
    text(split + PAD, rightWide, right),
    '</g></svg>\n',
  ].join('')
}

/** How wide a line is in 11 px Verdana, near enough, in whole pixels. What it does not know is wide. */
function textWidth(text: string): number {
  let sum = 0
  for (const char of text) sum += charWidth(char)
  return Math.max(1, Math.round(sum))
}

function charWidth(char: string): number {
  if (/\p{M}|\p{Cf}/u.test(char)) return 0
  if ("ijlI.,:;'|!".includes(char)) return 3.8
  if ('frt()[]{}-/\\ "'.includes(char)) return 4.7
  if ('mwMW@%'.includes(char)) return 10.4
  if (/[A-Z]/.test(char)) return 7.7
  return char < '\u0250' ? 6.8 : 11
}
