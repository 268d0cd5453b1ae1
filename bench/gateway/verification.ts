/**
 * Verifying a batch of eight: one run of git for all of its merges, against eight bare calls of `git merge-tree`. A program of its own. Arguments:
 * git directory, main, heads with commas between them. Takes how many rounds as a message, gives milliseconds of both.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { z } from 'zod'
import { gitEnv } from '../../src/git/env.ts'
import { type MergePair, mergePairs } from '../../src/git/merge-pairs.ts'
import { openMirror } from '../../src/git/mirror.ts'
import { openQuarantine } from '../../src/git/quarantine.ts'
import { median } from '../figures.ts'
import { line } from './git-client.ts'

const BATCH = 8

/** A stack of squashes on main, as a lander would push it: each head with the commit that it is merged onto. */
async function stack(gitDir: string, main: string, heads: readonly string[]): Promise<MergePair[]> {
  const pairs: MergePair[] = []
  let onto = main
  for (const head of heads.slice(0, BATCH)) {
    pairs.push({ onto, head })
    const tree = await line(gitDir, ['merge-tree', '--write-tree', onto, head])
    const who = 'A Grower <grower@example.com> 1790000000 +0000'
    onto = await line(
      gitDir,
      ['hash-object', '-t', 'commit', '-w', '--stdin'],
      `tree ${tree}\nparent ${onto}\nauthor ${who}\ncommitter ${who}\n\nA pull\n`,
    )
  }
  return pairs
}

async function bare(dir: string, pairs: readonly MergePair[], env: Record<string, string>): Promise<number> {
  const started = performance.now()
  for (const { onto, head } of pairs) {
    const child = spawn('git', ['--git-dir', dir, 'merge-tree', '--write-tree', onto, head], { env: gitEnv(env), stdio: 'ignore' })
    const [code] = await once(child, 'exit')
    if (code !== 0) throw new Error(`git merge-tree ended with ${code}`)
  }
  return performance.now() - started
}

async function ours(dir: string, pairs: readonly MergePair[], env: Record<string, string>): Promise<number> {
  const started = performance.now()
  const merged = await mergePairs({ dir, env }, pairs)
  const took = performance.now() - started
  if (!merged.ok || !merged.outcomes.every(one => one.applies)) throw new Error('the stack does not merge')
  return took
}

/** Both in turn, each in a quarantine of its own: neither finds what the other wrote. */
async function measure(gitDir: string, pairs: readonly MergePair[], rounds: number): Promise<{ ours: number; bare: number }> {
  const mirror = await openMirror(gitDir)
  const took = { ours: [] as number[], bare: [] as number[] }
  for (let round = 0; round <= rounds; round++) {
    for (const [name, one] of [
      ['bare', bare],
      ['ours', ours],
    ] as const) {
      const quarantine = await openQuarantine(mirror)
      try {
        const ms = await one(mirror.dir, pairs, quarantine.env)
        // The first of each warms the caches.
        if (round > 0) took[name].push(ms)
      } finally {
        await quarantine.close()
      }
    }
  }
  return { ours: median(took.ours), bare: median(took.bare) }
}

const [gitDir = '', main = '', heads = ''] = process.argv.slice(2)
const pairs = await stack(gitDir, main, heads.split(','))
process.on('message', asked => {
  const { rounds } = z.object({ rounds: z.number() }).parse(asked)
  void measure(gitDir, pairs, rounds).then(
    figures => process.send?.({ figures }),
    (error: unknown) => process.send?.({ error: String(error) }),
  )
})
process.once('disconnect', () => process.exit(0))
process.send?.({ ready: true })
