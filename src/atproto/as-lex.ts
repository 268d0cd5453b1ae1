import { isPlainObject, type LexMap } from '@atproto/lex-data'
import { lexParse } from '@atproto/lex-json'

/**
 * A record in atproto's data model: what is a link, or bytes, in its JSON is one. Its CID is computed from that. Throws a TypeError for what is
 * no object.
 */
export function asLex(record: object): LexMap {
  const value = lexParse(JSON.stringify(record))
  if (!isLexMap(value)) throw new TypeError('a record is an object')
  return value
}

function isLexMap(value: unknown): value is LexMap {
  return isPlainObject(value)
}
