/** Kysely's queries run in one step on better-sqlite3, so that several of them see one state of the database and no promise stands between. */
import type { RunResult, Database as Sqlite, Statement } from 'better-sqlite3'
import type { CompiledQuery } from 'kysely'
import { LRUCache } from 'lru-cache'

/** What kysely's builders have in common. */
export interface Compilable<O> {
  compile(): CompiledQuery<O>
}

export interface SyncQueries {
  all<O>(query: Compilable<O>): O[]
  first<O>(query: Compilable<O>): O | undefined
  run(query: Compilable<unknown>): RunResult
}

/** Statements are prepared once per text, the last 200 are kept. */
export function createSyncQueries(sqlite: Sqlite): SyncQueries {
  const kept = new LRUCache<string, Statement<unknown[], unknown>>({ max: 200 })

  function prepare<O>(text: string): Statement<unknown[], O> {
    const known = kept.get(text)
    // The text of a query decides what its rows are.
    if (known !== undefined) return known as Statement<unknown[], O>
    const made = sqlite.prepare<unknown[], O>(text)
    kept.set(text, made)
    return made
  }

  return {
    all<O>(query: Compilable<O>) {
      const { sql, parameters } = query.compile()
      return prepare<O>(sql).all(...parameters)
    },
    first<O>(query: Compilable<O>) {
      const { sql, parameters } = query.compile()
      return prepare<O>(sql).get(...parameters)
    },
    run(query) {
      const { sql, parameters } = query.compile()
      return prepare(sql).run(...parameters)
    },
  }
}

/** A statement compiled and prepared once, whose parameters are bound by name. */
export interface Bound<P, O> {
  run(params: P): RunResult
  get(params: P): O | undefined
  all(params: P): O[]
}

class Marker {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

/**
 * Compiles a query whose parameters are named: `build` gets a stand-in for each of `names` and uses it where the value goes. Throws when a
 * parameter of the query is neither a stand-in nor a constant, or a name is not used.
 */
export function bind<P extends object, O>(
  sqlite: Sqlite,
  names: ReadonlyArray<keyof P & string>,
  build: (param: P) => Compilable<O>,
): Bound<P, O> {
  // The stand-ins take the values' places, and with them their types.
  const markers = Object.fromEntries(names.map(name => [name, new Marker(name)])) as unknown as P
  const { sql, parameters } = build(markers).compile()
  const slots = parameters.flatMap((parameter, at) =>
    parameter instanceof Marker ? [{ at, name: parameter.name as keyof P & string }] : [],
  )
  const unused = names.find(name => !slots.some(slot => slot.name === name))
  if (unused !== undefined) throw new Error(`the parameter ${unused} is not in the statement`)
  const statement = sqlite.prepare<[unknown[]], O>(sql)
  // One array for all calls, since none overlap: this is the hottest path of the index.
  const bound = [...parameters]
  function values(params: P): unknown[] {
    for (const slot of slots) bound[slot.at] = params[slot.name]
    return bound
  }
  return {
    run: params => statement.run(values(params)),
    get: params => statement.get(values(params)),
    all: params => statement.all(values(params)),
  }
}
