import type { Filterable } from '../jetstream/filter.ts'
import { createSignal } from '../signal.ts'
import { type FaultInput, type FaultRule, faultSchema, fits } from './schema.ts'

/** A fault that is switched on. */
export interface Fault {
  readonly id: number
  readonly rule: FaultRule
  /** Events or calls that it has hit. */
  hits(): number
  /** Switches this one off; what it held back goes on. */
  clear(): void
}

/** What happens to one event on its way to a consumer. */
export interface Fate {
  readonly drop: boolean
  readonly copies: number
  readonly delayMs: number
  /** How many later events overtake it, 0 for none; after `reorderMs` with nothing to overtake it, it goes out anyway. */
  readonly reorder: number
  readonly reorderMs: number
  /** Whether the faults that gave this fate still stand. */
  active(): boolean
}

/** One call to the PDS, as its gate sees it. */
export interface Call {
  readonly method: string
  /** DIDs and handles that it is made by or about. */
  readonly accounts: readonly string[]
}

/** The faults of the stream, as subscribers ask for them. */
export interface StreamFaults {
  any(): boolean
  held(): boolean
  judge(event: Filterable & { readonly seq: number }): Fate
}

/** The switchboard of a network's faults. */
export interface Faults extends StreamFaults {
  /** Switches a fault on. `cut` and `garbage` act at once on whoever is connected. Throws a ZodError on a fault that is none. */
  add(input: FaultInput): Fault
  list(): Fault[]
  /** Switches everything off and lets go what was held. */
  clear(): void
  /** Holds the stream: events pile up in the log until `release`. */
  hold(): void
  release(): void
  /** Cuts every connection to the stream; with `refuse`, new ones get 503 until cleared. */
  cut(options?: { refuse?: boolean }): void
  /** Sends every consumer a frame that is no event. */
  garbage(frame?: string): void
  /** Whether new connections to the stream are refused. */
  refusing(): boolean
  /** The faults that hit this call, counted as hits. */
  forCall(call: Call): Fault[]
  /** Settles at the next change of the switches. */
  changed(): Promise<void>
  /** Is told of each change, after it. */
  onChange(listener: () => void): void
  /** Is told of each `cut` and `garbage`. */
  onStrike(listener: (rule: FaultRule) => void): void
}

interface Entry extends Fault {
  readonly seqs: Set<number>
  count: number
}

/** Makes a switchboard with everything off. `sameAccount` says whether two names (DID or handle) are one account's. */
export function createFaults(sameAccount: (a: string, b: string) => boolean = (a, b) => a === b): Faults {
  const entries = new Map<number, Entry>()
  const listeners: Array<() => void> = []
  const strikers: Array<(rule: FaultRule) => void> = []
  const change = createSignal()
  let lastId = 0

  function changed(): void {
    change.fire()
    for (const listener of listeners) listener()
  }

  function remove(match: (entry: Entry) => boolean): void {
    for (const entry of entries.values()) if (match(entry)) entries.delete(entry.id)
    changed()
  }

  function add(input: FaultInput): Fault {
    const rule = faultSchema.parse(input)
    const id = ++lastId
    const entry: Entry = { id, rule, seqs: new Set(), count: 0, hits: () => entry.count, clear: () => remove(other => other === entry) }
    const momentary = rule.fault === 'garbage' || (rule.fault === 'cut' && !rule.refuse)
    if (!momentary) entries.set(id, entry)
    if (rule.fault === 'garbage' || rule.fault === 'cut') for (const strike of strikers) strike(rule)
    changed()
    return entry
  }

  /** Counts events, not deliveries: an event that was hit stays hit for every consumer and every replay. */
  function hitsEvent(entry: Entry, event: Filterable & { readonly seq: number }): boolean {
    const { rule } = entry
    if (!isEventFault(rule) || !fits(rule.collection, event.collection) || !fits(rule.did, event.did)) return false
    if (entry.seqs.has(event.seq)) return true
    if (rule.times !== undefined && entry.count >= rule.times) return false
    entry.seqs.add(event.seq)
    entry.count += 1
    return true
  }

  function judge(event: Filterable & { readonly seq: number }): Fate {
    const hit = [...entries.values()].filter(entry => hitsEvent(entry, event))
    const fate = { drop: false, copies: 1, delayMs: 0, reorder: 0, reorderMs: 0, active: () => hit.every(entry => entries.has(entry.id)) }
    for (const { rule } of hit) {
      if (rule.fault === 'drop') fate.drop = true
      if (rule.fault === 'duplicate') fate.copies = Math.max(fate.copies, rule.copies)
      if (rule.fault === 'delay') fate.delayMs = Math.max(fate.delayMs, rule.ms)
      if (rule.fault === 'reorder') Object.assign(fate, { reorder: rule.by, reorderMs: rule.ms })
    }
    return fate
  }

  function forCall(call: Call): Fault[] {
    const hit: Entry[] = []
    for (const entry of entries.values()) {
      const { rule, count } = entry
      if (!isCallFault(rule) || !fits(rule.method, call.method)) continue
      const { account, times } = rule
      if (account !== undefined && !call.accounts.some(name => sameAccount(name, account))) continue
      if (times !== undefined && count >= times) continue
      entry.count += 1
      hit.push(entry)
    }
    return hit
  }

  return {
    add,
    list: () => [...entries.values()],
    clear: () => remove(() => true),
    hold: () => void add({ fault: 'hold' }),
    release: () => remove(entry => entry.rule.fault === 'hold'),
    cut: options => void add({ fault: 'cut', ...options }),
    garbage: frame => void add({ fault: 'garbage', ...(frame === undefined ? {} : { frame }) }),
    any: () => entries.size > 0,
    held: () => [...entries.values()].some(entry => entry.rule.fault === 'hold'),
    refusing: () => [...entries.values()].some(entry => entry.rule.fault === 'cut'),
    judge,
    forCall,
    changed: () => change.next(),
    onChange: listener => void listeners.push(listener),
    onStrike: listener => void strikers.push(listener),
  }
}

type EventFault = Extract<FaultRule, { fault: 'drop' | 'delay' | 'duplicate' | 'reorder' }>
type CallFault = Extract<FaultRule, { fault: 'refuse' | 'stall' | 'garble' | 'lose' }>

function isEventFault(rule: FaultRule): rule is EventFault {
  return rule.fault === 'drop' || rule.fault === 'delay' || rule.fault === 'duplicate' || rule.fault === 'reorder'
}

function isCallFault(rule: FaultRule): rule is CallFault {
  return rule.fault === 'refuse' || rule.fault === 'stall' || rule.fault === 'garble' || rule.fault === 'lose'
}
