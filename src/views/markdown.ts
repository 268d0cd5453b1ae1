import { Marked, type Tokens } from 'marked'
import sanitize from 'sanitize-html'
import { escapeText, Html, visible } from './html.ts'

/** Up to here a text is laid out; up to `shown` it is shown as it was typed; the rest is left out, which is said. In UTF-16 units. */
const laidOut = 65_536
const shown = 262_144
/** What a line may open in quotes and lists, and how far it may be indented. */
const deepest = 16
const indent = 80
/** Marks of emphasis in one paragraph: telling which belong together takes the square of their number. */
const marks = 1000
/** Short lines that are a block each take the square of their number as well. */
const lines = 4000

const opening = /^[ \t]*(?:>|[-+*](?=[ \t])|\d{1,9}[.)](?=[ \t]))/

/** True for a text whose layout would take too long or nest too deep. */
function tooTangled(text: string): boolean {
  let found = 0
  const all = text.split('\n')
  if (all.length > lines) return true
  for (const line of all) {
    let rest = line
    let depth = 0
    for (let open = opening.exec(rest); open !== null; open = opening.exec(rest)) {
      if (++depth > deepest || open[0].length > indent) return true
      rest = rest.slice(open[0].length)
    }
    if (rest.trim() === '') found = 0
    for (const char of rest) if (char === '*' || char === '_' || char === '~') found++
    if (found > marks) return true
  }
  return false
}

/** Only what leads elsewhere on the web: an address without a scheme would lead into this site. */
function leadsOut(href: string): boolean {
  return /^(?:https?:\/\/|mailto:)/i.test(href)
}

function link(href: string, text: string): string {
  return leadsOut(href) ? `<a href="${escapeText(href)}">${text}</a>` : text
}

function parser(): Marked {
  let level = 2
  const marked = new Marked({ gfm: true, async: false })
  marked.use({
    hooks: {
      preprocess(text) {
        level = 2
        return text
      },
    },
    renderer: {
      html: ({ text }: Tokens.HTML | Tokens.Tag) => escapeText(text),
      // Headings stand under the page's own `h2`, and never skip a level.
      heading({ tokens, depth }: Tokens.Heading) {
        level = Math.min(6, depth + 2, level + 1)
        return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>\n`
      },
      link({ href, tokens }: Tokens.Link) {
        return link(href, this.parser.parseInline(tokens))
      },
      // An image from elsewhere would tell that elsewhere who reads: it is a link.
      image: ({ href, text }: Tokens.Image) => link(href, escapeText(text === '' ? href : text)),
      checkbox: ({ checked }: Tokens.Checkbox) => (checked ? '☑ ' : '☐ '),
    },
  })
  return marked
}

const blocks = ['p', 'li', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'td', 'th'] as const

const rules: sanitize.IOptions = {
  allowedTags: [...blocks, 'ul', 'ol', 'pre', 'code', 'em', 'strong', 'del', 'a', 'br', 'hr', 'table', 'thead', 'tbody', 'tr'],
  allowedAttributes: { a: ['href', 'rel'], ol: ['start'], pre: ['tabindex'], '*': ['dir'] },
  allowedSchemes: ['http', 'https', 'mailto'],
  allowProtocolRelative: false,
  disallowedTagsMode: 'discard',
  nestingLimit: 64,
  transformTags: {
    a: (_, attribs) => ({ tagName: 'a', attribs: { ...attribs, rel: 'nofollow noopener noreferrer' } }),
    // What scrolls can be scrolled by keyboard.
    pre: sanitize.simpleTransform('pre', { tabindex: '0' }, true),
    ...Object.fromEntries(blocks.map(tag => [tag, sanitize.simpleTransform(tag, { dir: 'auto' }, true)])),
  },
}

/** The text as it was typed, with what did not fit said. */
function plain(text: string): Html {
  const rest = text.length - shown
  const typed = `<div class="do"><pre dir="auto" tabindex="0"><code>${escapeText(text.slice(0, shown))}</code></pre></div>`
  return new Html(rest > 0 ? `${typed}<p class="muted">${rest.toLocaleString('en')} more characters are not shown.</p>` : typed)
}

/**
 * Markdown that a stranger wrote, as markup that is safe to show: no scripts, styles, images or attributes of its own, links that lead out
 * only. A text that is too long or too tangled to lay out is shown as typed.
 */
export function createMarkdown(): (text: string) => Html {
  const marked = parser()
  return text => {
    if (text.length > laidOut || tooTangled(text)) return plain(text)
    try {
      return new Html(sanitize(marked.parse(visible(text), { async: false }), rules))
    } catch {
      // The parser gives up by throwing on what it cannot nest.
      return plain(text)
    }
  }
}
