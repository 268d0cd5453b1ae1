/** JSON for people, of values that strangers wrote: laid out as `JSON.stringify` does with two spaces, and no further than it is shown. */

export interface JsonText {
  text: string
  /** There is more of it. */
  cut: boolean
}

class Full extends Error {}

/**
 * The first `most` UTF-16 units of a JSON value laid out. Laying out all of it first would not do: a record that nests deep weighs a thousand times as
 * much with its indents.
 */
export function jsonText(value: unknown, most: number): JsonText {
  const parts: string[] = []
  let left = most

  function put(text: string): void {
    parts.push(text.slice(0, left))
    left -= text.length
    if (left < 0) throw new Full()
  }

  function putAll(
    items: readonly (readonly [key: string, value: unknown])[],
    [open, close]: readonly [string, string],
    indent: string,
  ): void {
    put(open)
    for (const [at, [key, item]] of items.entries()) {
      put(`${at === 0 ? '' : ','}\n${indent}  ${key}`)
      putValue(item, `${indent}  `)
    }
    put(items.length === 0 ? close : `\n${indent}${close}`)
  }

  function putValue(of: unknown, indent: string): void {
    if (Array.isArray(of)) {
      putAll(
        of.map(item => ['', item]),
        ['[', ']'],
        indent,
      )
    } else if (typeof of === 'object' && of !== null) {
      putAll(
        Object.entries(of).map(([key, item]) => [`${JSON.stringify(key)}: `, item]),
        ['{', '}'],
        indent,
      )
    } else put(JSON.stringify(of))
  }

  try {
    putValue(value, '')
  } catch (error) {
    if (!(error instanceof Full)) throw error
  }
  return { text: parts.join('').toWellFormed(), cut: left < 0 }
}
