/** What a landing is about to write, chosen before it pushes (LND-8): keys of states, and issues to close. */
import { type AtUri, parseAtUri, parseTid } from '../../atproto/ids.ts'
import type { Write } from '../../atproto/writer.ts'
import type { Closing, Closings } from '../../queue/closing.ts'
import { keysToExceed } from '../../queue/keys-to-exceed.ts'
import { tidMillis } from '../../queue/tid.ts'
import type { RepositoryView } from '../../queue/view.ts'
import type { RunnerContext } from '../context.ts'
import { keyAbove, madeAt } from './keys.ts'
import type { Intent } from './lander-record.ts'

export const stateCollection = 'dev.knotless.state'

/** As many issues as one landing closes in its call, and as a pull does (LND-6). */
export const bounds = { perLanding: 100, perPull: 20 } as const

type Keys = Pick<RunnerContext, 'nextKey'>

export interface Planned {
  branch: string
  generation: number
  base: string
  tip: string
  ranNothing: boolean
  members: readonly { pull: string; entry: string; head: string; commit: string }[]
}

/**
 * The intent of a landing; each state's key is greater than every honoured one about its pull (REC-7). `kept`: an intent of the same tip whose keys
 * go on. Undefined where no key can be had, or an address is none.
 */
export function makeIntent(
  ctx: Keys,
  view: RepositoryView,
  planned: Planned,
  more: { closings: readonly Closing[]; kept?: Intent | undefined },
): Intent | undefined {
  const before = new Map(more.kept?.pulls.map(one => [String(one.pull), one.state]))
  const pulls: Intent['pulls'] = []
  for (const member of planned.members) {
    const above = keysToExceed(view, member.pull)
    const kept = before.get(member.pull)
    const state = parseTid(kept !== undefined && kept > (above ?? '') ? kept : keyAbove(ctx, above))
    const [pull, entry] = [atUri(member.pull), atUri(member.entry)]
    if (state === undefined || pull === undefined || entry === undefined) return undefined
    pulls.push({ pull, entry, head: member.head, commit: member.commit, state })
  }
  const issues = closingsOf(ctx, more.closings, more.kept)
  const { branch, generation, base, tip } = planned
  return {
    branch,
    generation,
    base,
    tip,
    ...(planned.ranNothing ? { nothingRan: true } : {}),
    pulls,
    ...(issues.length === 0 ? {} : { issues }),
  }
}

/** Closings with the keys that their states will have; what `kept` closes already keeps its key. */
export function closingsOf(ctx: Keys, closings: readonly Closing[], kept?: Intent | undefined): NonNullable<Intent['issues']> {
  const before = new Map(kept?.issues?.map(one => [String(one.issue), one.state]))
  return closings.flatMap(closing => {
    const [issue, pull] = [atUri(closing.issue), atUri(closing.pull)]
    const state = before.get(closing.issue) ?? parseTid(ctx.nextKey())
    return issue === undefined || pull === undefined || state === undefined ? [] : [{ issue, pull, state }]
  })
}

/** As many of these as one call closes (LND-6), and how many are left for the next. */
export function nextClosings({ now, later }: Closings): { now: Closing[]; left: number } {
  const all = [...now, ...later]
  const perPull = new Map<string, number>()
  const taken = all.filter(({ pull }) => {
    const mine = perPull.get(pull) ?? 0
    perPull.set(pull, mine + 1)
    return mine < bounds.perPull
  })
  const first = taken.slice(0, bounds.perLanding)
  return { now: first, left: all.length - first.length }
}

/** The states that an intent asks for, as creates: the same bytes however often they are made (LND-5, LND-6, STO-7). */
export function statesOf(repo: AtUri, intent: Intent): (Write & { action: 'create' })[] {
  const create = (rkey: Intent['pulls'][number]['state'], fields: Record<string, string | true>) => ({
    action: 'create' as const,
    collection: stateCollection as typeof stateCollection,
    rkey,
    record: { $type: stateCollection, repo, ...fields, createdAt: madeAt(rkey) },
  })
  return [
    ...intent.pulls.map(({ pull, head, commit, state }) =>
      create(state, {
        subject: pull,
        state: 'merged',
        commit,
        batch: intent.tip,
        head,
        ...(intent.nothingRan === true ? { nothingRan: true as const } : {}),
      }),
    ),
    ...(intent.issues ?? []).map(({ issue, pull, state }) => create(state, { subject: issue, state: 'closed', pull })),
  ]
}

/** The keys of the records that queued what lands. */
export function entryKeys(intent: Intent): string[] {
  return intent.pulls.flatMap(({ entry }) => parseAtUri(entry)?.rkey ?? [])
}

/** When an intent was made, in milliseconds since 1970: as the first of its keys says. */
export function intendedAt(intent: Intent): number {
  const times = [...intent.pulls, ...(intent.issues ?? [])].map(({ state }) => tidMillis(state))
  return times.length === 0 ? 0 : Math.min(...times)
}

function atUri(text: string): AtUri | undefined {
  const at = parseAtUri(text)
  return at === undefined ? undefined : `at://${at.did}/${at.collection}/${at.rkey}`
}
