import { hash } from 'node:crypto'

/** Stands in a region's first tag until the region is whole. Text that people wrote has no bare quotes, so that it cannot say this. */
const UNSIGNED = ' data-is=""'

/** Letters of a signature: two of the few versions of one region that a page may have are never the same by chance. */
const LETTERS = 8

/**
 * What marks an element as a live region: its name, the place of its signature, and what the page sends along when it asks for changes.
 * `withWords` are names and values of a query.
 */
export function regionMark(part: string, withWords: Readonly<Record<string, string | number>>): Record<string, string> {
  const words = new URLSearchParams()
  for (const [key, value] of Object.entries(withWords)) words.set(key, String(value))
  const query = words.toString()
  return { 'data-live': part, 'data-is': '', ...(query === '' ? {} : { 'data-with': query }) }
}

/** What differs between two renderings of the same: how long ago things were, which the page says itself, and what is of the request alone. */
const passing = [
  /(<time\b[^>]*>)[^<]*/g,
  /(<progress value=")[^"]*(?=" max="100" data-from)/g,
  /( data-with=")[^"]*/g,
  /(name="_csrf" value=")[^"]*/g,
]

/** Signs a region that was just rendered: the same signature means that the reader has it already. */
export function signed(html: string): string {
  const at = html.indexOf(UNSIGNED)
  if (at === -1) return html
  const says = passing.reduce((text, pattern) => text.replace(pattern, '$1'), html)
  const signature = hash('sha1', says, 'base64url').slice(0, LETTERS)
  return `${html.slice(0, at)} data-is="${signature}"${html.slice(at + UNSIGNED.length)}`
}

/** The signature of a signed region; undefined where it has none. */
export function signatureOf(html: string): string | undefined {
  return / data-is="([\w-]+)"/.exec(html)?.[1]
}

/** What a page says that it has: each region's name with its signature, as in `health.x4Gh_2aB,waiting.0Kd31-zz`. */
export function readHave(have: string): ReadonlyMap<string, string> {
  return new Map(
    have.split(',').flatMap(one => {
      const [, part, signature] = /^([a-z-]{1,40})\.([\w-]{0,40})$/.exec(one) ?? []
      return part === undefined || signature === undefined ? [] : [[part, signature] as const]
    }),
  )
}

/** A region for a page that has an older one: htmx puts it in its place. */
export function swapOf(part: string, html: string): string {
  return `<hx-partial hx-target="[data-live=${part}]">${html.trim()}</hx-partial>`
}
