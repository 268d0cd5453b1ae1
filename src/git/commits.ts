import type { ObjectsPlace } from './objects.ts'
import { type GitRefusal, refuse } from './refusal.ts'
import { runGit } from './run.ts'
import { nulFields } from './split-stream.ts'
import { words } from './words.ts'

/** A commit as listed; texts are decoded, bytes that are no UTF-8 replaced, and cut. `date`: the author's, ISO 8601 in UTC. */
export interface CommitRow {
  commit: string
  subject: string
  author: { name: string }
  date: string
}

/** Bytes of a subject or name that are kept. */
const mostText = 500

/**
 * The commits of a revision range, newest first, at most `limit`, and whether there are more. `range`: revision words and, after `--`, paths; the
 * caller has checked every commit in it.
 */
export async function listCommits(
  place: ObjectsPlace,
  range: readonly string[],
  limit: number,
): Promise<{ ok: true; commits: CommitRow[]; more: boolean } | GitRefusal> {
  const commits: CommitRow[] = []
  let row: string[] = []
  const onOutput = nulFields(mostText, (field, length) => {
    // A character that the cut went through is left out.
    const text = field.toString('utf8')
    row.push(length > mostText ? text.replace(/\uFFFD+$/, '') : text)
    if (row.length < 4) return true
    const [commit = '', name = '', seconds = '', subject = ''] = row
    row = []
    commits.push({ commit, subject, author: { name }, date: isoDate(seconds) })
    return commits.length <= limit
  })
  // "-z" ends each commit with NUL; the dates of "%at" are seconds, whatever zone the author gave.
  const format = '--format=tformat:%H%x00%an%x00%at%x00%s'
  const args = ['log', '-z', '--no-show-signature', '--encoding=UTF-8', format, `--max-count=${limit + 1}`, '--end-of-options', ...range]
  const run = await runGit(args, { ...place, onOutput })
  if (run.code !== 0 && run.ended !== 'stopped') return refuse('failed', words.gitFailed('list the commits'))
  return { ok: true, commits: commits.slice(0, limit), more: commits.length > limit }
}

/** Seconds since 1970 as ISO 8601; the epoch where they are no date. */
function isoDate(seconds: string): string {
  const date = new Date(Number(seconds) * 1000)
  return Number.isNaN(date.getTime()) ? new Date(0).toISOString() : date.toISOString()
}
