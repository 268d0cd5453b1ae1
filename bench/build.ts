/**
 * Building a batch of eight on a repository of 50,000 files and 20,000 commits, by the builder of the runner as a pass calls it, against eight bare calls
 * of `git merge-tree` and `git commit-tree`, and against `git merge --squash` in a worktree that is checked out already.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gitEnv } from '../src/git/env.ts'
import { type BuildWorld, makeBuildWorld } from './build/world.ts'
import { type Figure, figure, median } from './figures.ts'
import { line } from './gateway/git-client.ts'
import type { Size } from './gateway/repository.ts'

export interface BuildBench {
  size: Size
  rounds: number
  /**
   * `limits`: what is asked of a machine that does nothing else. `alarm`: looser, and beside plumbing only, since whoever runs the tests may do other
   * things as well.
   */
  bounds: 'limits' | 'alarm'
}

const whole: BuildBench = { size: { files: 50_000, commits: 20_000, pulls: 9 }, rounds: 15, bounds: 'limits' }
const bounds = { limits: { bare: 1.2, worktree: 0.0666 }, alarm: { bare: 2 } } as const
const BATCH = 8

const who = {
  GIT_AUTHOR_NAME: 'A Grower',
  GIT_AUTHOR_EMAIL: 'grower@example.com',
  GIT_COMMITTER_NAME: 'A Grower',
  GIT_COMMITTER_EMAIL: 'grower@example.com',
}

export async function benchBuild(bench: BuildBench = whole): Promise<Figure[]> {
  // Files are in memory where that can be had: what is compared is work, not a disk.
  const dir = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'knotless-bench-build-'))
  try {
    const world = await makeBuildWorld(dir, bench.size)
    const took = await measure(world, bench.rounds)
    const ours = median(took.ours)
    const bare = { name: '8 bare calls of git merge-tree and git commit-tree', value: median(took.bare) }
    if (bench.bounds === 'alarm') return [figure('batch of 8 built', ours, 'ms', bare, bounds.alarm.bare)]
    const worktree = await worktrees(dir, world, Math.max(3, Math.floor(bench.rounds / 4)))
    return [
      figure('batch of 8 built, heads and bounds of its pulls looked at', ours, 'ms', bare, bounds.limits.bare),
      figure('the same', ours, 'ms', { name: 'git merge --squash in a warm worktree', value: worktree }, bounds.limits.worktree),
      figure('batch of 8 built, a ninth in conflict', median(took.conflict), 'ms', { name: 'without it', value: ours }),
      figure('batch of 8 built again', median(took.again), 'ms', { name: 'the first time', value: ours }),
      figure('a pull of 9 that is on the branch already, its commit named', median(took.named), 'ms', { name: 'without it', value: ours }),
    ]
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Each in turn, each time in a mirror that has nothing of what another one made. */
async function measure(world: BuildWorld, rounds: number) {
  const took = { ours: [] as number[], bare: [] as number[], conflict: [] as number[], again: [] as number[], named: [] as number[] }
  for (let round = 0; round <= rounds; round++) {
    const bare = await timed(() => bareStack(world))
    const { builder, ground, order } = await world.fresh()
    const build = async (most: number, candidates = order.candidates) => {
      const built = await builder.build(ground, { ...order, candidates: candidates.slice(0, most) })
      if (!built.ok || built.stack?.members.length !== BATCH) throw new Error(`the batch is not built: ${JSON.stringify(built)}`)
    }
    const ours = await timed(() => build(BATCH))
    const again = await timed(() => build(BATCH))
    await builder.close()
    const other = await world.fresh()
    const [first, ...rest] = other.order.candidates
    const conflict = await timed(async () => {
      if (first === undefined) return
      const built = await other.builder.build(other.ground, {
        ...other.order,
        candidates: [first, world.conflicting, ...rest.slice(0, BATCH - 1)],
      })
      if (!built.ok || built.stack?.members.length !== BATCH || built.left.size !== 1)
        throw new Error(`not built: ${JSON.stringify(built)}`)
    })
    await other.builder.close()
    const last = await world.fresh()
    const named = await timed(async () => {
      const built = await last.builder.build(last.ground, {
        ...last.order,
        candidates: [world.landed, ...last.order.candidates.slice(0, BATCH)],
      })
      if (!built.ok || built.stack?.members.length !== BATCH || built.left.size !== 1)
        throw new Error(`not built: ${JSON.stringify(built)}`)
    })
    await last.builder.close()
    // The first of each warms the caches.
    if (round === 0) continue
    took.bare.push(bare)
    took.ours.push(ours)
    took.again.push(again)
    took.conflict.push(conflict)
    took.named.push(named)
  }
  return took
}

async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

async function bareStack(world: BuildWorld): Promise<void> {
  const dir = await world.freshMirror()
  let onto = world.repository.main
  for (const head of world.repository.heads.slice(0, BATCH)) {
    const tree = await line(dir, ['merge-tree', '--write-tree', onto, head])
    onto = await line(dir, ['commit-tree', tree, '-p', onto, '-m', 'A pull'], '', who)
  }
}

/** A checkout that is there before, and reset between rounds, which is not counted. */
async function worktrees(dir: string, { repository }: BuildWorld, rounds: number): Promise<number> {
  const tree = join(dir, 'worktree')
  const git = (...args: string[]) => run(tree, args)
  await run(dir, ['--git-dir', repository.gitDir, 'worktree', 'add', '--quiet', '--detach', tree, repository.main])
  const took: number[] = []
  for (let round = 0; round <= rounds; round++) {
    await git('reset', '--quiet', '--hard', repository.main)
    const ms = await timed(async () => {
      for (const head of repository.heads.slice(0, BATCH)) {
        await git('merge', '--quiet', '--squash', head)
        await git('commit', '--quiet', '-m', 'A pull')
      }
    })
    if (round > 0) took.push(ms)
  }
  return median(took)
}

async function run(cwd: string, args: readonly string[]): Promise<void> {
  const child = spawn('git', args, { cwd, env: gitEnv(who), stdio: 'ignore' })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`git ${args[0]} ended with ${code}`)
}
