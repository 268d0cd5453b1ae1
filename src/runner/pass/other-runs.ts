/** What runs beside queues: reruns that were asked for, pushes, pulls by themselves (RUN-1 to RUN-6), in this order (NOT-4). */
import { emptyTree } from '../../git/bounds.ts'
import { readCommits } from '../../git/commit-objects.ts'
import type { PullView } from '../../queue/view.ts'
import type { RunnerContext } from '../context.ts'
import { covers, type DuePull, duePullRuns } from '../runs/due-pulls.ts'
import { type DuePush, duePushRuns, type SeenRefs } from '../runs/due-pushes.ts'
import { createAnswered, type DueRerun, dueReruns } from '../runs/due-reruns.ts'
import type { OwnRuns } from '../runs/runs.ts'
import type { Builder, Ground, JobClass, Reads } from '../types.ts'
import type { OtherRuns } from './parts.ts'

/** Pulls whose runs are begun in one pass at most, and tips of landed batches that are remembered. */
const MOST_PULLS = 50
const MOST_LANDED = 1_000
/** Pulls that are not queued whose heads are looked at in one pass. */
const MOST_HEADS = 500

interface Deps {
  ctx: RunnerContext
  reads: Reads
  builder: Builder
  runs: OwnRuns
}

/** Why runs are made, for checks that take nothing over (RUN-6). */
interface Why {
  asked?: string
  only?: readonly string[]
}

export function createOtherRuns(deps: Deps): OtherRuns {
  const { ctx, reads, runs } = deps
  const answered = createAnswered(ctx)
  const seen = new Map<string, SeenRefs>()
  const landed = new Set<string>()

  async function rerun(ground: Ground): Promise<void> {
    const asked = await reads.reruns(ground)
    if (asked.length === 0) return
    await answered.look(ground, asked)
    const about = new Set(asked.map(one => one.pull))
    const known = await withHeads(reads, ground, pull => about.has(pull.pull.uri))
    const due = dueReruns(known, asked, { settings: ctx.settings, now: ctx.now(), isOpen: key => answered.isOpen(key) })
    for (const one of due) {
      if (await answer(ground, one)) answered.note(one.key)
    }
  }

  function answer(ground: Ground, one: DueRerun): Promise<boolean> {
    const why: Why = { asked: one.asked, ...(one.only === undefined ? {} : { only: one.only }) }
    return one.of === 'pull' ? runPull(deps, ground, one.pull, one.queued, why) : runPush(deps, ground, one.push, why)
  }

  async function pushes(ground: Ground): Promise<void> {
    const before = seen.get(ground.repo)
    const { due, seen: now } = duePushRuns(ground, before, landed)
    const after = new Map(now)
    for (const push of due) {
      if (await runPush(deps, ground, push)) continue
      // What could not be filed is found to have moved again by the next pass.
      const name = `refs/heads/${push.branch}`
      const was = before?.get(name)
      if (was === undefined) after.delete(name)
      else after.set(name, was)
    }
    seen.set(ground.repo, after)
  }

  async function pulls(ground: Ground): Promise<void> {
    if (ctx.settings.pulls === undefined) return
    const ran = (pull: string, head: string) => runs.ran(pull, head)
    const { roles } = ground.view
    const known = await withHeads(reads, ground, pull => pull.entry === undefined && covers(roles, pull, ctx.settings.pulls))
    for (const due of duePullRuns(known, { setting: ctx.settings.pulls, did: ctx.did, ran, most: MOST_PULLS })) {
      await runPull(deps, ground, due, false)
    }
  }

  return {
    async take(ground) {
      await rerun(ground)
      await pushes(ground)
      await pulls(ground)
    },
    landed(tip) {
      landed.add(tip)
      for (const oldest of landed) {
        if (landed.size <= MOST_LANDED) break
        landed.delete(oldest)
      }
    },
  }
}

/** The ground with the heads of these open pulls where they are now: of pulls that are not queued a pass reads none that lies in a fork. */
async function withHeads(reads: Reads, ground: Ground, wanted: (pull: PullView) => boolean): Promise<Ground> {
  const asked = [...ground.view.pulls.values()].filter(pull => pull.state === 'open' && wanted(pull)).slice(0, MOST_HEADS)
  const heads = await reads.heads(ground, asked)
  const pulls = new Map(ground.view.pulls)
  for (const pull of asked) {
    const head = heads.get(pull.pull.uri)
    if (head?.state === 'at') pulls.set(pull.pull.uri, { ...pull, head: head.commit, headGone: false })
  }
  return { ...ground, view: { ...ground.view, pulls } }
}

/** False when it could not be filed now. */
async function runPull({ builder, runs, ctx }: Deps, ground: Ground, due: DuePull, queued: boolean, why: Why = {}): Promise<boolean> {
  const { pull, head, branch, generation, tip, trusted } = due
  const brought = await builder.bring(ground)
  const [merged] = await builder.merged(ground, [{ pull, head, tip }])
  if (merged?.ok !== true) {
    // A head that does not apply, or cannot be taken, is run again when it is another.
    if (merged !== undefined && 'why' in merged) runs.noteRan(pull, head)
    return merged !== undefined && 'why' in merged
  }
  const { tree } = merged
  const chosen = await builder.workflows(ground, { trigger: 'pull', branch, base: tip, tip: tree })
  if ('code' in chosen || !brought.ok) return false
  const subject = { of: 'pull' as const, pull, head, branch, generation, tip, tree, queued }
  const filed = await runs.file(ground, { subject, chosen, trusted, gitDir: brought.mirror.dir, ...why })
  ctx.log.info(filed.ok ? 'pull runs' : 'pull runs not filed', {
    repo: ground.repo,
    pull,
    head,
    tip,
    why: filed.ok ? undefined : filed.said,
  })
  if (filed.ok) runs.begin(filed.group.id, 'pull')
  return filed.ok
}

/** False when it could not be filed now. */
async function runPush({ builder, runs, ctx }: Deps, ground: Ground, push: DuePush, why: Why = {}): Promise<boolean> {
  const { branch, commit, before, isDefault } = push
  const brought = await builder.bring(ground)
  if (!brought.ok) return false
  const [read] = await readCommits({ dir: brought.mirror.dir }, [commit])
  // A branch that is new has everything changed.
  const chosen = await builder.workflows(ground, { trigger: 'push', branch, base: before ?? emptyTree, tip: commit })
  if (read === undefined || 'code' in chosen) return false
  if (chosen.selected.length + chosen.skipped.length + chosen.faulty.length === 0) return true
  const subject = { of: 'push' as const, ...push, tree: read.tree }
  const filed = await runs.file(ground, { subject, chosen, trusted: true, gitDir: brought.mirror.dir, ...why })
  ctx.log.info(filed.ok ? 'push runs' : 'push runs not filed', {
    repo: ground.repo,
    branch,
    commit,
    why: filed.ok ? undefined : filed.said,
  })
  const as: JobClass = isDefault ? 'next' : 'push'
  if (filed.ok) runs.begin(filed.group.id, as)
  return filed.ok
}
