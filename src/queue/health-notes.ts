/** What is said beside how a queue does: who is not named, what is not isolated, and where settings and what runs part (STW-8). */
import type { Asking } from './asking.ts'
import { landerLife } from './lander-life.ts'
import { millis, runState } from './runs.ts'
import type { BranchView, RepositoryView } from './view.ts'
import { type HealthNote, type NoteParts, noteWords } from './words/health-notes.ts'

const SETTINGS = ['batch', 'depth', 'wait', 'timeout'] as const

/** In the order in which they are said; none where nobody lands. */
export function healthNotes(view: RepositoryView, branch: BranchView, asking: Asking): HealthNote[] {
  const { lander } = view
  const { did } = landerLife(view, branch, asking)
  if (lander === undefined || did === undefined || view.roles.runners.length === 0) return []
  const notes: NoteParts[] = []
  const live = lander.record?.value
  if (!lander.named) notes.push({ kind: 'unnamed-lander', lander: did })
  if (live?.executor === 'host') notes.push({ kind: 'host', lander: did })
  const asked = branch.settings
  if (asked?.ok === false) notes.push({ kind: 'unread', said: asked.message })
  if (asked?.ok === true && live !== undefined && live.stoppedAt === undefined) {
    const differing = SETTINGS.flatMap(name => {
      const [want, have] = [asked.settings[name], live[name]]
      return want === undefined || have === undefined || want === have ? [] : [{ name, want, have }]
    })
    if (differing.length > 0) notes.push({ kind: 'drift', differing, lander: did, since: millis(live.startedAt), now: asking.now })
  }
  const runs = runsAtOnce(branch, live?.depth ?? 1)
  if (live?.jobs !== undefined && runs > live.jobs) notes.push({ kind: 'jobs', lander: did, jobs: live.jobs, runs, depth: live.depth })
  return notes.map(noteWords)
}

/** How many runs the batches that may be in flight have, by the last one that was built. */
function runsAtOnce(branch: BranchView, depth: number): number {
  const last = branch.every?.[0] ?? branch.batches.at(-1)
  const counted = (last?.checks ?? []).filter(({ value }) => !['skipped', 'reused'].includes(runState(value)))
  return counted.length * Math.min(depth, 2)
}
