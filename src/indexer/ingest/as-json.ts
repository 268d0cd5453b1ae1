import { isLexValue } from '@atproto/lex-data'
import { lexToJson } from '@atproto/lex-json'

/** A record in JSON form, from atproto's data model or from JSON; undefined for something that neither can hold. */
export function asJson(record: unknown): unknown {
  return isLexValue(record) ? lexToJson(record) : undefined
}
