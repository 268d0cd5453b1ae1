import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type CheckedHeads, headFaults } from './merge-pairs.ts'
import type { Mirror } from './mirror.ts'
import { objectTypes } from './objects.ts'
import { buildPack } from './pack-out.ts'
import { admit, alternates, openQuarantine } from './quarantine.ts'
import { type GitRefusal, refuse } from './refusal.ts'

/** A commit of another mirror. */
export interface ForeignCommit {
  commit: string
  /** The object directory of the mirror that has it. */
  objects: string
}

/**
 * Brings commits of other mirrors, and all that they lead to, into a mirror, whose own then everything is: as one pack, checked once more, of what
 * `base`, a commit of the mirror, does not lead to (STO-11). Heads out of bounds are not taken, and keep no other from it. Answers what could not be
 * taken, by commit.
 */
export async function takeOver(
  mirror: Mirror,
  asked: { base: string; commits: readonly ForeignCommit[]; checked?: CheckedHeads | undefined; signal?: AbortSignal | undefined },
): Promise<Map<string, GitRefusal>> {
  const refused = new Map<string, GitRefusal>()
  const { base, checked, signal } = asked
  const present = await objectTypes(
    { dir: mirror.dir },
    asked.commits.map(({ commit }) => commit),
  )
  const lacking = asked.commits.filter((_, at) => present[at] === undefined)
  if (lacking.length === 0) return refused
  const others = [...new Set(lacking.map(({ objects }) => objects))].filter(dir => dir !== mirror.objects)
  const scratch = await openQuarantine(mirror, others)
  try {
    const place = { dir: mirror.dir, env: scratch.env, signal }
    const pairs = lacking.map(({ commit }) => ({ onto: base, head: commit }))
    const faults = await headFaults(place, pairs, checked)
    const good: string[] = []
    for (const [at, { commit }] of lacking.entries()) {
      const fault = faults[at]
      if (fault === undefined) good.push(commit)
      else refused.set(commit, fault)
    }
    const all = await take(mirror, scratch.dir, others, [...new Set(good)], base)
    // One of them may keep the others from it: each by itself then.
    if (all !== undefined && good.length === 1) refused.set(good[0] ?? '', all)
    else if (all !== undefined) {
      for (const commit of good) {
        const fault = await take(mirror, scratch.dir, others, [commit], base)
        if (fault !== undefined) refused.set(commit, fault)
      }
    }
    return refused
  } finally {
    await scratch.close()
  }
}

/** Packs what these commits lead to and the base does not, and puts the pack into the mirror. */
async function take(
  mirror: Mirror,
  scratch: string,
  others: readonly string[],
  commits: readonly string[],
  base: string,
): Promise<GitRefusal | undefined> {
  if (commits.length === 0) return undefined
  const local = { dir: mirror.dir, objects: mirror.objects, env: alternates(others) }
  const built = await buildPack(local, scratch, commits, [base])
  // All that a mirror's commits lead to is there: what cannot be packed is no fault of theirs.
  if (!built.ok) return built.code === 'missing-object' ? refuse('failed', built.message) : built
  if (built.pack === undefined) return undefined
  await admit(mirror, built.pack.place, built.pack.id)
  await rm(dirname(built.pack.path), { recursive: true, force: true })
  return undefined
}
