/** What one consumer asked to be sent. */
export interface Filter {
  readonly collections: ReadonlySet<string>
  /** Collection prefixes with their dot: `dev.knotless.*` is kept as `dev.knotless.`. */
  readonly prefixes: readonly string[]
  readonly dids: ReadonlySet<string>
  /** Bytes of the largest frame wanted, 0 for no bound. */
  readonly maxBytes: number
}

/** What a filter looks at in an event. `collection` is empty for identity and account events. */
export interface Filterable {
  readonly did: string
  readonly kind: string
  readonly collection: string
}

const nsid = /^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)+\.[a-z][a-z0-9]{0,62}$/i
const nsidPrefix = /^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*\.\*$/i
const didShape = /^did:[a-z]+:[a-zA-Z0-9._:%-]*[a-zA-Z0-9._-]$/
const maxCollections = 100
const maxDids = 10_000

/** Makes a filter of what was asked, by Jetstream's rules, or gives the sentence that says what is wrong with it. */
export function parseFilter(asked: {
  collections: readonly string[]
  dids: readonly string[]
  maxBytes: unknown
}): Filter | { wrong: string } {
  const collections = new Set<string>()
  const prefixes = new Set<string>()
  for (const wanted of asked.collections) {
    if (nsid.test(wanted)) collections.add(wanted)
    else if (nsidPrefix.test(wanted)) prefixes.add(wanted.slice(0, -1))
    else return { wrong: `invalid collection: ${wanted.slice(0, 200)}` }
  }
  if (collections.size + prefixes.size > maxCollections) return { wrong: `too many wanted collections: at most ${maxCollections}` }
  const dids = new Set(asked.dids)
  for (const did of dids) if (!didShape.test(did) || did.length > 2048) return { wrong: `invalid DID: ${did.slice(0, 200)}` }
  if (dids.size > maxDids) return { wrong: `too many wanted DIDs: at most ${maxDids}` }
  const bytes = Number(asked.maxBytes)
  return { collections, prefixes: [...prefixes], dids, maxBytes: Number.isInteger(bytes) && bytes > 0 ? bytes : 0 }
}

/** Whether the filter lets this event through, its size aside. Identity and account events pass whatever collections are wanted. */
export function wants(filter: Filter, event: Filterable): boolean {
  if (filter.dids.size > 0 && !filter.dids.has(event.did)) return false
  if (event.kind !== 'commit' || filter.collections.size + filter.prefixes.length === 0) return true
  return filter.collections.has(event.collection) || filter.prefixes.some(prefix => event.collection.startsWith(prefix))
}
