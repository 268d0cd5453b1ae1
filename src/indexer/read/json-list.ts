import { type RawBuilder, sql } from 'kysely'

/** A list of values as one parameter, for `where column in (…)`: the text of the statement stays the same whatever the length. */
export function oneOf<T extends string | number>(values: Iterable<T>): RawBuilder<T> {
  return sql<T>`(select value from json_each(${JSON.stringify([...values])}))`
}
