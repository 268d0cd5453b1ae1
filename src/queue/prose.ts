/** A Markdown message without what is not its writer's own prose: code, quotes, folded-up details and comments (LND-6). */

/** Stands where something was left out, so that the words around it do not meet. */
const GAP = '\u{fffc}'

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/
const QUOTE = /^\s{0,3}(?:(?:[-*+]|\d{1,9}[.)])\s+)*>/
const BLANK = /^\s*$/
const INDENTED = /^(?: {4}|\t)/
/** A heading or an item of a list ends a quote, which goes on over other lines. */
const NEW_BLOCK = /^ {0,3}(?:#{1,6}|[-*+]|\d{1,9}[.)])\s/
const LIST_ITEM = /^\s{0,3}(?:[-*+]|\d{1,9}[.)])\s/

/** The prose of a message, line by line as it was; a gap stands for each thing left out. Takes time in proportion to the message's length. */
export function proseOf(message: string): string {
  return withoutSpans(withoutBlocks(message.replace(/\r\n?/g, '\n')))
}

/** Fenced and indented code, and quotes with the lines that go on in them. */
function withoutBlocks(message: string): string {
  let fence: string | undefined
  let isQuote = false
  let isCode = false
  let isList = false
  let afterBlank = true
  return message
    .split('\n')
    .map(line => {
      if (fence !== undefined) {
        const [, close = '', rest = ''] = FENCE.exec(line) ?? []
        if (close.startsWith(fence) && BLANK.test(rest)) fence = undefined
        return GAP
      }
      if (BLANK.test(line)) {
        isQuote = false
        afterBlank = true
        return line
      }
      isCode = INDENTED.test(line) && !isList && !isQuote && (isCode || afterBlank)
      afterBlank = false
      if (isCode) return GAP
      const [, open, info = ''] = FENCE.exec(line) ?? []
      if (open !== undefined && !(open.startsWith('`') && info.includes('`'))) {
        fence = open
        isQuote = false
        return GAP
      }
      if (QUOTE.test(line)) isQuote = true
      else if (NEW_BLOCK.test(line)) isQuote = false
      if (LIST_ITEM.test(line)) isList = true
      else if (/^\S/.test(line)) isList = false
      return isQuote ? GAP : line
    })
    .join('\n')
}

/** Inline code, comments, folded-up and quoting elements, and what stands in quotation marks on one line. */
function withoutSpans(text: string): string {
  const plain = withoutElements(withoutCodeSpans(text))
  return plain.replace(/"[^"\n]*"|“[^“”\n]*”|«[^«»\n]*»/g, GAP)
}

/** A run of backticks opens a span that the next run of the same length closes; one that nothing closes is text. */
function withoutCodeSpans(text: string): string {
  const runs = [...text.matchAll(/`+/g)]
  const ofLength = Map.groupBy(runs, ([run]) => run.length)
  let kept = ''
  let from = 0
  for (const run of runs) {
    const [{ length }] = run
    const same = ofLength.get(length) ?? []
    while ((same[0]?.index ?? Number.POSITIVE_INFINITY) <= run.index) same.shift()
    const close = same[0]
    if (run.index < from || close === undefined) continue
    kept += text.slice(from, run.index) + GAP
    from = close.index + length
  }
  return kept + text.slice(from)
}

/** Comments and elements, which are left out whole; one that is not closed takes the rest with it. */
function withoutElements(text: string): string {
  let kept = ''
  let from = 0
  let depth = 0
  let closing = ''
  for (const { 0: tag, index } of text.matchAll(/<!--|-->|<\/?(?:details|blockquote|pre|code|q)\b[^<>]*>/gi)) {
    const name = tag === '<!--' || tag === '-->' ? '-->' : (/[a-z]+/i.exec(tag)?.[0].toLowerCase() ?? '')
    if (closing === '') {
      if (tag === '-->' || tag.startsWith('</')) continue
      kept += text.slice(from, index) + GAP
      closing = name
      depth = 1
    } else if (name === closing) {
      depth += tag === '-->' || tag.startsWith('</') ? -1 : name === '-->' ? 0 : 1
    }
    if (depth === 0) closing = ''
    from = index + tag.length
  }
  return closing === '' ? kept + text.slice(from) : kept
}
