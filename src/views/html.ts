/** Text into HTML. Whatever is not an `Html` value is text and gets escaped; templates never print anything raw but includes. */

/** Markup that was made here and needs no escaping. */
export class Html {
  readonly markup: string
  constructor(markup: string) {
    this.markup = markup
  }
  toString(): string {
    return this.markup
  }
}

/** What most text has none of: if so, it is done with one look. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const special = /[&<>"'\u0000-\u0008\u000b-\u001f\u007f-\u009f\ud800-\udfff\ufffe\uffff]/
const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\ufffe\uffff]/g

/** Text with control characters (line feed and tab aside) and halves of surrogate pairs made visible as U+FFFD: HTML may not hold them. */
export function visible(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed()
  return whole.replace(controls, '\ufffd')
}

/** Text for an element's content or a quoted attribute. */
export function escapeText(text: string): string {
  if (!special.test(text)) return text
  return visible(text).replace(/[&<>"']/g, found => entities[found] ?? found)
}

/** What templates print: markup as it is, nothing for undefined, null and false, anything else as escaped text. */
export function escapeValue(value: unknown): string {
  if (value instanceof Html) return value.markup
  if (value === undefined || value === null || value === false) return ''
  return escapeText(String(value))
}

/** Template tag: the literal parts are markup, the values are escaped unless they are `Html`; lists are joined. */
export function html(parts: TemplateStringsArray, ...values: readonly unknown[]): Html {
  let markup = parts[0] ?? ''
  for (const [at, value] of values.entries()) {
    markup += Array.isArray(value) ? value.map(escapeValue).join('') : escapeValue(value)
    markup += parts[at + 1] ?? ''
  }
  return new Html(markup)
}
