/** Sorts a repository's records: those that count to the pull they are about, those that wait, and how many count for nothing, and why. */
import type { PullRecord, QueueRecord, RepositoryFacts, StateRecord, Stored } from './facts.ts'
import type { Deed, Honour, Verdict } from './honour.ts'
import { byPosition } from './positions.ts'
import type { HonouredState } from './pull-state.ts'
import { keyFault, once, queueDeed, stateDeed, wakesAt } from './records.ts'
import { order } from './runs.ts'
import { tidMillis } from './tid.ts'
import type { IgnoredReason, RepositoryView } from './view.ts'

/** Pulls can be opened by anyone, so those that wait for their time are listed up to here; later ones move up as others wake. */
const MOST_SLEEPING_PULLS = 100

/** A pull with the records about it that count, oldest first. */
export interface PullMaterial {
  pull: Stored<PullRecord>
  states: HonouredState[]
  queue: Stored<QueueRecord>[]
}

export interface Collected {
  /** By address. */
  pulls: readonly PullMaterial[]
  sleeping: RepositoryView['sleeping']
  wakesAt?: number | undefined
  ignored: Tally
}

export interface Tally {
  counts: ReadonlyMap<IgnoredReason, number>
  add(reason: IgnoredReason, times?: number): void
}

interface Collecting {
  now: number
  addresses: ReadonlySet<string>
  honour: Honour
}

/** Takes every record once. Sleeping ones are those that would count if their time had come (REC-3). */
export function collect(facts: RepositoryFacts, ctx: Collecting): Collected {
  const ignored = createTally()
  const sleepingPulls: Stored<PullRecord>[] = []
  const sleeping: (Stored<QueueRecord> | Stored<StateRecord>)[] = []
  const pulls = new Map<string, PullMaterial>()
  const elsewhere = new Set<string>()

  for (const pull of once(facts.pulls)) {
    const isHere = ctx.addresses.has(pull.value.repo)
    const time = tidMillis(pull.rkey)
    const fault = keyFault(pull, time) ?? (isHere ? undefined : 'wrong-repository')
    if (!isHere) elsewhere.add(pull.uri)
    if (fault !== undefined) ignored.add(fault)
    else if (wakesAt(time, ctx.now) !== undefined) sleepingPulls.push(pull)
    else pulls.set(pull.uri, { pull, states: [], queue: [] })
  }

  /** The pull that a record counts for, and on what ground; undefined for one that does not count, or not yet. */
  function place(record: Stored<QueueRecord> | Stored<StateRecord>, deed: Deed | { ignored: IgnoredReason }) {
    const material = pulls.get(record.value.subject)
    const time = tidMillis(record.rkey)
    const verdict = judge(record, time, deed, material)
    if ('ignored' in verdict) ignored.add(verdict.ignored)
    else if (wakesAt(time, ctx.now) !== undefined) sleeping.push(record)
    else return material === undefined ? undefined : { material, ground: verdict.ground }
    return undefined
  }

  function judge(
    record: Stored<QueueRecord> | Stored<StateRecord>,
    time: number,
    deed: Deed | { ignored: IgnoredReason },
    about?: PullMaterial,
  ): Verdict {
    const fault = keyFault(record, time)
    if (fault !== undefined) return { ignored: fault }
    if (typeof deed !== 'string') return deed
    if (!ctx.addresses.has(record.value.repo) || elsewhere.has(record.value.subject)) return { ignored: 'wrong-repository' }
    return about === undefined ? { ignored: 'unknown-pull' } : ctx.honour.judge(deed, record, about.pull.did)
  }

  for (const record of once(facts.queue)) place(record, queueDeed(record.value))?.material.queue.push(record)
  for (const record of once(facts.states)) {
    if (isAboutIssue(record.value.subject)) continue
    const placed = place(record, stateDeed(record.value))
    placed?.material.states.push({ record, ground: placed.ground })
  }
  for (const { states, queue } of pulls.values()) {
    states.sort((a, b) => byPosition(a.record, b.record))
    queue.sort(byPosition)
  }

  sleepingPulls.sort(byPosition)
  ignored.add('over-bound', Math.max(0, sleepingPulls.length - MOST_SLEEPING_PULLS))
  const waiting = [...sleeping, ...sleepingPulls.slice(0, MOST_SLEEPING_PULLS)].sort((a, b) => byPosition(a, b) || order(a.uri, b.uri))
  const first = waiting[0]
  return {
    pulls: [...pulls.values()].sort((a, b) => order(a.pull.uri, b.pull.uri)),
    sleeping: waiting,
    wakesAt: first === undefined ? undefined : wakesAt(tidMillis(first.rkey), ctx.now),
    ignored,
  }
}

function isAboutIssue(subject: string): boolean {
  return subject.includes('/dev.knotless.issue/')
}

function createTally(): Tally {
  const counts = new Map<IgnoredReason, number>()
  return {
    counts,
    add(reason, times = 1) {
      if (times > 0) counts.set(reason, (counts.get(reason) ?? 0) + times)
    },
  }
}
