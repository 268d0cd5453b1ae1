import type { ObjectsPlace } from './objects.ts'
import { isCommitId } from './ref-names.ts'
import { runGit } from './run.ts'
import { nulFields } from './split-stream.ts'
import { lastLineOf } from './squash.ts'

/** Commits that are looked at, and bytes of a message; the builder's are shorter. */
const bounds = { commits: 5_000, message: 33 * 1024, timeoutMs: 10_000 } as const

/**
 * For each of these addresses of pulls the newest commit whose message's last line it is (BLD-8, BLD-10): of the first 5,000 commits on the
 * first-parent line that ends in `tip`. What is not found is left out, as is everything when git fails: it only makes a sentence better.
 */
export async function commitsNaming(place: ObjectsPlace, asked: { tip: string; pulls: Iterable<string> }): Promise<Map<string, string>> {
  const wanted = new Set(asked.pulls)
  const found = new Map<string, string>()
  if (wanted.size === 0 || !isCommitId(asked.tip)) return found
  const onOutput = nulFields(bounds.message, (field, length) => {
    if (length > bounds.message) return true
    const line = lastLineOf(field.subarray(41))
    if (wanted.has(line) && !found.has(line)) found.set(line, field.toString('latin1', 0, 40))
    return found.size < wanted.size
  })
  const args = ['log', '-z', '--first-parent', '--no-show-signature', '--encoding=UTF-8', '--format=tformat:%H%n%B']
  await runGit([...args, `--max-count=${bounds.commits}`, asked.tip, '--'], { ...place, onOutput, timeoutMs: bounds.timeoutMs })
  return found
}
