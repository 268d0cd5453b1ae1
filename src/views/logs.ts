/** Lines of a log as markup. */
import type { Piece } from './ansi.ts'
import { escapeText, Html } from './html.ts'

/** A line: its pieces, and what it is beside. `step`: a command begins; `bad`: it says why a test failed. */
export interface LogLine {
  pieces: readonly Piece[]
  kind?: 'step' | 'bad' | undefined
}

/** Lines from number `first` on, each with its anchor; without numbers where that is not known. */
export function logBlock(lines: readonly LogLine[], first: number | undefined): Html {
  const rows = lines.map(({ pieces, kind }, at) => {
    const of = kind === undefined ? '' : ` class="${kind}"`
    const text = `<span>${piecesMarkup(pieces)}\n</span></span>`
    if (first === undefined) return `<span${of}><i></i>${text}`
    const n = first + at
    return `<span id="L${n}"${of}><a href="#L${n}" aria-label="Line ${n}">${n}</a>${text}`
  })
  return new Html(`<pre class="log"><code>${rows.join('')}</code></pre>`)
}

/** What a line says, without what is around it. */
export function piecesMarkup(pieces: readonly Piece[]): string {
  return pieces.map(pieceHtml).join('')
}

function pieceHtml({ text, tone, bold }: Piece): string {
  const words = bold === true ? `<b>${escapeText(text)}</b>` : escapeText(text)
  return tone === undefined ? words : `<span class="${tone}">${words}</span>`
}
