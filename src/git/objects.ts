import { runGit } from './run.ts'

/**
 * Where to look for objects: a git directory, the environment of a quarantine or of alternates, and what calls long runs off. The look-ups of this
 * file are short and run to their end.
 */
export interface ObjectsPlace {
  dir: string
  env?: Record<string, string>
  signal?: AbortSignal | undefined
}

/**
 * What each name stands for, in the order asked: `id` and `type`, or undefined when there is nothing of the name. Names are object ids, optionally
 * with `^{commit}`, `^{tree}` or `:path`; no newline in them.
 */
export async function objectTypes(place: ObjectsPlace, names: readonly string[]): Promise<({ id: string; type: string } | undefined)[]> {
  if (names.length === 0) return []
  const { dir, env = {} } = place
  const run = await runGit(['cat-file', '--batch-check=%(objectname) %(objecttype)'], { dir, env, input: `${names.join('\n')}\n` })
  if (run.code !== 0) throw new Error(`git cat-file failed (${run.ended}): ${run.stderr}`)
  const lines = run.stdout.toString('utf8').split('\n')
  return names.map((_, at) => {
    const found = /^([0-9a-f]{40}) (commit|tree|blob|tag)$/.exec(lines[at] ?? '')
    return found?.[1] === undefined || found[2] === undefined ? undefined : { id: found[1], type: found[2] }
  })
}

/** The size of each object in bytes, in the order asked; undefined for what is not there. */
export async function objectSizes(place: ObjectsPlace, ids: readonly string[]): Promise<(number | undefined)[]> {
  if (ids.length === 0) return []
  const { dir, env = {} } = place
  const run = await runGit(['cat-file', '--batch-check=%(objectsize)'], { dir, env, input: `${ids.join('\n')}\n` })
  if (run.code !== 0) throw new Error(`git cat-file failed (${run.ended}): ${run.stderr}`)
  const lines = run.stdout.toString('latin1').split('\n')
  return ids.map((_, at) => (/^\d+$/.test(lines[at] ?? '') ? Number(lines[at]) : undefined))
}
