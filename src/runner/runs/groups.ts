/** Groups that are known: by id, and those about a pull at a head and tip together (PRE-8). */
import type { Group } from '../types.ts'
import type { Run, RunGroup } from './types.ts'

/** Groups that have ended and are still known. */
const mostEnded = 2_000

export interface Groups {
  add(group: RunGroup): void
  /** The groups that an id stands for, oldest first; none for one that is not known. */
  named(id: string): readonly RunGroup[]
  flightOf(pull: string, head: string, tip: string): Group | undefined
  all(): Iterable<RunGroup>
}

/** A pull's groups at one head and tip have one id together, so that runs filed by several of them are seen as one. */
export function createGroups(): Groups {
  const groups = new Map<string, RunGroup>()
  const flights = new Map<string, RunGroup[]>()
  const placeOf = (pull: string, head: string, tip: string) => `${pull} ${head} ${tip}`

  function flightPlace({ subject }: RunGroup): string | undefined {
    return subject.of === 'pull' ? placeOf(subject.pull, subject.head, subject.tip) : undefined
  }

  function forget(group: RunGroup): void {
    groups.delete(group.id)
    const place = flightPlace(group)
    if (place === undefined) return
    const left = (flights.get(place) ?? []).filter(other => other !== group)
    if (left.length > 0) flights.set(place, left)
    else flights.delete(place)
  }

  return {
    add(group) {
      groups.set(group.id, group)
      const place = flightPlace(group)
      if (place !== undefined) flights.set(place, [...(flights.get(place) ?? []), group])
      if (groups.size <= mostEnded) return
      for (const old of groups.values()) {
        if (groups.size <= mostEnded) return
        if (hasEnded(old)) forget(old)
      }
    },
    named(id) {
      const group = groups.get(id)
      return group === undefined ? (flights.get(id) ?? []) : [group]
    },
    flightOf(pull, head, tip) {
      const id = placeOf(pull, head, tip)
      const subject = flights.get(id)?.at(-1)?.subject
      return subject === undefined ? undefined : { id, subject }
    },
    all: () => groups.values(),
  }
}

export function hasEnded(group: RunGroup): boolean {
  return group.runs.every(run => run.stage === 'ended' || run.stage === 'gone')
}

/** The runs of groups as they are now, of each workflow the newest; in the order in which they were filed. */
export function newestOf(groups: readonly RunGroup[]): Run[] {
  const runs = new Map<string, Run>()
  for (const group of groups) for (const run of group.runs) runs.set(run.record.workflow, run)
  return [...runs.values()]
}
