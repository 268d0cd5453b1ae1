/** One pass over a repository: read, then reruns, moved refs and pull runs, then queues (NOT-4); safe to make any number of times. */
import type { AtUri } from '../../atproto/ids.ts'
import { plain } from '../../queue/words/phrase.ts'
import { looksWords, waitWords } from '../../queue/words/runner.ts'
import type { Action, StandBy, Wait } from '../planner/types.ts'
import type { Ground } from '../types.ts'
import { isIdle, passBranch } from './branch-pass.ts'
import type { Memory, Parts } from './parts.ts'
import { standingBy } from './stand-by.ts'

export interface PassDone {
  ground: Ground
  /** Sentences, at most 20. */
  waitsFor: readonly string[]
  /** When something is due though nothing rings, in milliseconds since 1970. */
  wakeAt?: number | undefined
  /** It is to be made again at once. */
  again: boolean
  /** What was done, by kind. */
  did: readonly Action['do'][]
}

/** Rejects where a source that must answer does not: the pass has failed, and is made again later (NOT-3). */
export async function makePass(parts: Parts, memory: Memory, repo: AtUri, { stopping }: { stopping: boolean }): Promise<PassDone> {
  const { ctx, builder, runs } = parts
  const { settings } = ctx
  const ground = await parts.reads.ground(repo)
  const brought = await builder.bring(ground)
  if (!brought.ok) throw new Error(`the git state cannot be taken: ${brought.message}`)
  const standBy = settings.queue ? await standingBy(parts, ground) : undefined
  // Another process of this account looks after all that is this account's (WHO-8): its checks, its runs.
  const isOwn = standBy?.why !== 'lease' && !settings.dryRun
  if (!memory.recovered && isOwn) {
    await runs.recover(ground.repo)
    memory.recovered = true
  }
  if (!stopping && isOwn) await parts.others.take(ground)
  await parts.learnNames(ground)
  if (!settings.queue) return { ground, waitsFor: [], wakeAt: ground.view.wakesAt, again: false, did: [] }
  return await passQueues(parts, memory, ground, { stopping, standBy })
}

async function passQueues(
  parts: Parts,
  memory: Memory,
  first: Ground,
  { stopping, standBy }: { stopping: boolean; standBy: StandBy | undefined },
): Promise<PassDone> {
  const { ctx } = parts
  let ground = first
  const repaired = await repair(parts, ground, standBy)
  if (repaired.length > 0) ground = await parts.reads.ground(ground.repo)
  const waits: Wait[] = []
  // A record whose time comes changes the queue though nothing rings (REC-3).
  const wakes: number[] = ground.view.wakesAt === undefined ? [] : [ground.view.wakesAt]
  let again = false
  const did: Action['do'][] = []
  let broke: unknown
  for (const branch of branchesOf(ground, memory)) {
    const pass = { ground, branch, stopping, standBy: standBy ?? standByOf(parts, ground, branch), memory, repaired }
    // What breaks off on one branch holds up no other; the pass counts as failed all the same, and is made again.
    const done = await passBranch(parts, pass).catch((error: unknown) => {
      ctx.log.warn('a pass broke off', { repo: ground.repo, branch, why: error })
      broke ??= error
      return undefined
    })
    if (done === undefined) continue
    ground = done.ground
    waits.push(...done.waits)
    if (done.wakeAt !== undefined) wakes.push(done.wakeAt)
    again ||= done.unfinished
    did.push(...done.did)
  }
  if (broke !== undefined) throw broke
  if (did.includes('land') && !ctx.settings.dryRun) await parts.runs.prune(ground, tipsOf(memory))
  const every = parts.lookEvery()
  const phrases = [...waits.map(waitWords), ...(every > ctx.settings.noticeMs ? [looksWords(every)] : [])]
  const waitsFor = [...new Set(phrases.map(phrase => plain(phrase, ctx.now(), ctx.names)))].slice(0, 20)
  if (ctx.settings.dryRun) for (const why of waitsFor) ctx.log.info('waits', { repo: ground.repo, why })
  return { ground, waitsFor, wakeAt: wakes.length === 0 ? undefined : Math.min(...wakes), again, did }
}

/** GWY-9: an unnamed collaborator's runner lands on branches without a rule only. */
function standByOf(parts: Parts, ground: Ground, branch: string): StandBy | undefined {
  const may = parts.mayLand(ground.view, branch)
  return may.lands ? undefined : { why: 'not-lander', first: may.first }
}

/** LND-8: before anything is built, what an earlier landing left is settled. While nothing may land, that waits too. */
async function repair({ landing, ctx }: Parts, ground: Ground, standBy: StandBy | undefined): Promise<readonly string[]> {
  if (standBy !== undefined || ctx.settings.dryRun) return []
  const done = await landing.repair(ground)
  if (!done.ok) throw new Error(`a landing that was begun cannot be settled: ${done.said}`)
  return done.landed
}

/** Every branch that somebody queues for or that a batch is in flight for, by name. */
function branchesOf({ view }: Ground, memory: Memory): string[] {
  const queued = [...view.branches.values()].filter(branch => branch.queue.length > 0).map(branch => branch.branch)
  const held = [...view.pulls.values()].filter(pull => pull.heldEntry !== undefined).map(pull => pull.branch)
  const going = [...memory.lines].filter(([, { line }]) => !isIdle(line)).map(([branch]) => branch)
  return [...new Set([...queued, ...held, ...going])].sort()
}

function tipsOf(memory: Memory): ReadonlySet<string> {
  return new Set([...memory.lines.values()].flatMap(({ line }) => line.batches.map(batch => batch.tip)))
}
