/** Which pull moved on under a batch that was dropped (MOV-2), as records and heads say. */
import { dropOf, endOf } from './batch-ends.ts'
import { tidMillis } from './tid.ts'
import type { BatchView, PullView, RepositoryView } from './view.ts'
import type { DropSaid } from './words/runner.ts'
import type { MovedOn } from './words/timeline.ts'

/** A drop follows what led to it within this time, in milliseconds. */
const WITHIN = 10 * 60_000

/**
 * The pull of a batch dropped at `at` (milliseconds since 1970) that moved on while it was checked: the last one that a record took out in that time,
 * else one that stands otherwise now than the batch had it. `pull`, whose page it is said on, has no title. Undefined where nothing tells.
 */
export function movedOn(
  view: RepositoryView,
  pull: PullView,
  { batch, at, cause }: { batch: BatchView; at: number; cause: DropSaid | undefined },
): { pull?: { title: string; pull: string } | undefined; how: MovedOn } | undefined {
  const members = batch.members.map(member => ({ member, of: view.pulls.get(member.pull) }))
  const out = members
    .flatMap(({ of }) => (of === undefined ? [] : [{ of, ...lastOut(of, batch.since, at) }]))
    .filter(({ key }) => key !== undefined)
    .sort((a, b) => ((a.key ?? '') < (b.key ?? '') ? 1 : -1))[0]
  if (out?.how !== undefined) return named(pull, out.of, out.how)
  if (cause !== 'pull-moved-on') return undefined
  const others = members.flatMap(({ member, of }) => {
    const how = of === undefined ? undefined : otherwise(of, batch, member.head)
    return of === undefined || how === undefined ? [] : [{ of, how }]
  })
  // Of several nothing tells which it was.
  const [other] = others
  return other === undefined || others.length > 1 ? undefined : named(pull, other.of, other.how)
}

/**
 * When a batch was dropped, in milliseconds since 1970: as its last run ended, and of one that passed not before a pull of it was taken out or it was
 * built anew. `every`: the batches of its branch.
 */
export function droppedAt(view: RepositoryView, batch: BatchView, every: readonly BatchView[]): number {
  const end = endOf(batch)
  if (dropOf(batch, every) !== 'not-landed') return end
  const records = batch.members.flatMap(member => view.pulls.get(member.pull)?.history ?? [])
  const outs = records.filter(({ value }) => isOut(value.state)).map(({ rkey }) => tidMillis(rkey) + 1)
  const anew = every.filter(other => other.runner === batch.runner && other.base === batch.base).map(({ since }) => since - 1)
  const after = [...outs, ...anew].filter(time => time > batch.since)
  return after.length === 0 ? end : Math.max(end, Math.min(...after))
}

function named(page: PullView, of: PullView, how: MovedOn) {
  const { uri, value } = of.pull
  return { pull: uri === page.pull.uri ? undefined : { title: value.title, pull: uri }, how }
}

const OUT: ReadonlySet<string> = new Set<MovedOn>(['left', 'ejected', 'closed', 'merged'])

function isOut(state: string): state is MovedOn {
  return OUT.has(state)
}

/** The last record that took a pull out between these times. */
function lastOut(pull: PullView, from: number, to: number): { key?: string; how?: MovedOn } {
  const last = pull.history.findLast(({ rkey, value }) => {
    const time = tidMillis(rkey)
    return isOut(value.state) && time >= from && time <= to && to - time <= WITHIN
  })
  return last !== undefined && isOut(last.value.state) ? { key: last.rkey, how: last.value.state } : {}
}

/** How it stands otherwise now; nothing of one that was queued again or ended since, of which that says nothing about the batch. */
function otherwise(pull: PullView, batch: BatchView, head: string): MovedOn | undefined {
  if (pull.branch !== batch.branch) return 'retargeted'
  if (pull.draft) return 'draft'
  if (pull.headGone && pull.state === 'open') return 'gone'
  return pull.state === 'open' && pull.head !== undefined && pull.head !== head ? 'head' : undefined
}
