import { type GitRefusal, refuse } from './refusal.ts'
import { runGit } from './run.ts'
import { words } from './words.ts'

/** The oldest git with `merge-tree --write-tree`. */
const oldest = [2, 38] as const

/** The version of the git in use, as in `2.39.5`; refused when there is none or it is older than 2.38. */
export async function gitVersion(): Promise<{ ok: true; version: string } | GitRefusal> {
  const run = await runGit(['version'])
  const found = /^git version ((\d+)\.(\d+)[^\s]*)/.exec(run.stdout.toString('utf8'))
  if (run.code !== 0 || found === null) return refuse('failed', words.noGit())
  const [version, major, minor] = [found[1] ?? '', Number(found[2]), Number(found[3])]
  if (major < oldest[0] || (major === oldest[0] && minor < oldest[1])) {
    return refuse('failed', words.oldGit(version))
  }
  return { ok: true, version }
}
