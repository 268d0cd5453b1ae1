import { isAncestor } from './chain.ts'
import type { ObjectsPlace } from './objects.ts'
import { isCommitId } from './ref-names.ts'
import { runGit } from './run.ts'

/** A move from one commit to another. */
export interface Step {
  from: string
  to: string
}

/** Of each move, whether it only adds to the history; one of a commit that is not there is not. One run of git for all of them. */
export async function areForward(place: ObjectsPlace, steps: readonly Step[]): Promise<boolean[]> {
  if (steps.length === 0) return []
  const known = steps.every(({ from, to }) => isCommitId(from) && isCommitId(to)) ? await basesOf(place, steps) : undefined
  if (known !== undefined) return known.map((base, at) => base === steps[at]?.from)
  const all: boolean[] = []
  for (const { from, to } of steps) {
    const found = await isAncestor(place, from, to)
    all.push(found.ok && found.ancestor)
  }
  return all
}

/** A merge base of each pair, undefined where there is none; nothing at all when one of the ids is no commit that is there. */
async function basesOf(place: ObjectsPlace, steps: readonly Step[]): Promise<(string | undefined)[] | undefined> {
  const run = await runGit(['rev-parse', '--revs-only', ...steps.map(({ from, to }) => `${from}...${to}`)], place)
  if (run.code !== 0) return undefined
  const lines = run.stdout.toString('latin1').split('\n').filter(Boolean)
  const bases: (string | undefined)[] = []
  let at = 0
  for (const { from, to } of steps) {
    if (lines[at] !== to || lines[at + 1] !== from) return undefined
    at += 2
    bases.push(lines[at]?.startsWith('^') ? lines[at]?.slice(1) : undefined)
    while (lines[at]?.startsWith('^')) at += 1
  }
  return bases
}
