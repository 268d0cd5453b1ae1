/** Output as a terminal would show it, line by line: colours stay, every other order is taken out and does nothing. */

/** A piece of a line that looks the same throughout; `tone` is a letter of the style's log colours. */
export interface Piece {
  text: string
  tone?: Tone | undefined
  bold?: true | undefined
}

export type Tone = 'r' | 'g' | 'y' | 'b' | 'm' | 'c' | 'd'

export interface Terminal {
  /** The next line, without its line feed. */
  line(raw: string): Piece[]
}

/** Characters of a line that are shown: programs print files on one line. */
const LONGEST = 4_000
/** Pieces of a line: one that changes its colour at each letter would weigh fifty times its text. */
const MOST_PIECES = 200

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const special = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/
// Of orders: those with parameters, those that hold a text up to a bell or ESC \, and short ones. What is begun and not ended ends with the line.
const token =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /(?:\u001b\[|\u009b)([0-?]*)[ -/]*([@-~]?)|(?:\u001b[\]PX^_]|[\u009d\u0090\u0098\u009e\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c|$)|\u001b[ -/]*[0-~]?|[^\u001b\u0090\u0098\u009b\u009d-\u009f]+/gy
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const begin = /^[\u001b\u0090\u0098\u009b\u009d-\u009f]/
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controls = /[\u0000-\u0007\u000b-\u001f\u007f-\u009f]/g
/** What turns the text around it would make a line read as another. */
const turning = /[\u202a-\u202e\u2066-\u2069]/g

const eight: readonly (Tone | undefined)[] = ['d', 'r', 'g', 'y', 'b', 'm', 'c', undefined]

/** A terminal that begins with no colour. What a line sets holds for those after it, as it does in a terminal. `longest`: characters of a line. */
export function createTerminal(longest = LONGEST): Terminal {
  let fore: Tone | undefined
  let dim = false
  let bold = false

  /** Select graphic rendition; what is not known is passed over. */
  function select(parameters: string): void {
    const codes = parameters.slice(0, 200).split(/[;:]/).map(Number)
    for (let at = 0; at < codes.length; at++) {
      const code = codes[at] ?? 0
      if (code === 0) {
        fore = undefined
        dim = false
        bold = false
      } else if (code === 1) bold = true
      else if (code === 2) dim = true
      else if (code === 22) {
        bold = false
        dim = false
      } else if (code >= 30 && code <= 37) fore = eight[code - 30]
      else if (code === 39) fore = undefined
      else if (code >= 90 && code <= 97) fore = eight[code - 90]
      else if (code === 38 || code === 48) {
        const of = codes[at + 1]
        const tone =
          of === 5
            ? indexed(codes[at + 2] ?? 7)
            : of === 2
              ? nearest(codes[at + 2] ?? 0, codes[at + 3] ?? 0, codes[at + 4] ?? 0)
              : undefined
        if (code === 38) fore = tone
        at += of === 5 ? 2 : of === 2 ? 4 : 0
      }
    }
  }

  return {
    line(raw) {
      const over = raw.replace(/\r+$/, '')
      if (!special.test(over)) return over === '' ? [] : [style(cut(over, longest))]
      let pieces: Piece[] = []
      let length = 0
      token.lastIndex = 0
      for (let found = token.exec(over); found !== null && found[0] !== ''; found = token.exec(over)) {
        const [all, parameters, order] = found
        if (order === 'm') select(parameters ?? '')
        // To the first column.
        else if (order === 'G' && (parameters === '' || parameters === '0' || parameters === '1')) {
          pieces = []
          length = 0
        } else if (!begin.test(all)) {
          const back = all.lastIndexOf('\r')
          if (back >= 0) {
            pieces = []
            length = 0
          }
          const text = shown(all.slice(back + 1), pieces)
          if (text === '' || length > longest) continue
          const piece = style(cut(text, longest - length))
          length += text.length
          const last = pieces.at(-1)
          if (last !== undefined && ((last.tone === piece.tone && last.bold === piece.bold) || pieces.length >= MOST_PIECES))
            last.text += piece.text
          else pieces.push(piece)
        }
      }
      return pieces.filter(piece => piece.text !== '')
    },
  }

  function style(text: string): Piece {
    const tone = dim ? 'd' : fore
    return { text, ...(tone === undefined ? {} : { tone }), ...(bold ? { bold } : {}) }
  }
}

/** One line as plain text, whole and as it stood at its end. */
export function plainLine(raw: string): string {
  return createTerminal(Number.POSITIVE_INFINITY)
    .line(raw)
    .map(piece => piece.text)
    .join('')
}

/** Text without controls; a step back takes the letter before it, of the pieces before where there is none. */
function shown(text: string, before: readonly Piece[]): string {
  const seen = text.replace(turning, '\ufffd').replace(controls, '')
  if (!seen.includes('\b')) return seen
  // Letter by letter: a text that is cut and added to a thousand times is copied as often.
  const out: string[] = []
  for (const char of seen) {
    if (char !== '\b') out.push(char)
    else if (out.pop() === undefined) {
      const last = before.at(-1)
      if (last !== undefined) last.text = last.text.slice(0, -1)
    }
  }
  return out.join('')
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)} …` : text
}

/** One of the 256 colours of a terminal. */
function indexed(n: number): Tone | undefined {
  if (n < 16) return eight[n % 8]
  if (n >= 232) return n < 248 ? 'd' : undefined
  const cube = n - 16
  const level = (step: number) => (step === 0 ? 0 : 55 + 40 * step)
  return nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6))
}

/** The tone of the style that is nearest to a colour; greys are dim or plain. */
function nearest(red: number, green: number, blue: number): Tone | undefined {
  const most = Math.max(red, green, blue)
  if (most - Math.min(red, green, blue) < 40) return most < 170 ? 'd' : undefined
  const is = [red, green, blue].map(part => part > most * 0.66)
  if (is[0] && is[1]) return is[2] ? undefined : 'y'
  if (is[0]) return is[2] ? 'm' : 'r'
  if (is[1]) return is[2] ? 'c' : 'g'
  return 'b'
}
