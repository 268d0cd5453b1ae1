/**
 * Expected refusals of this folder: values, never exceptions.
 *
 * - `bad-record`: the refs record is not one. `bad-ref`: a ref name git refuses, a ref at something that is no commit.
 * - `bad-pack`: corrupt, wrong hash, wrong id, wrong size, or refused by git's strict check. `missing-object`: links lead nowhere.
 * - `blob-missing`: a part is not there. `upstream-failed`: the account's server did not answer well.
 * - `too-large`: over a bound, which the message names. `missing-commit`: asked about a commit that is not there.
 * - `unrelated`: no common history. `branch-moved`: another push came first. `force-refused`: not a fast-forward.
 * - `refused`: who judges the push said no. `bad-path`: a path that no commit may hold, or not beside the others.
 * - `failed`: git itself failed (killed, disk full, too old).
 */
export type GitRefusalCode =
  | 'bad-record'
  | 'bad-ref'
  | 'bad-pack'
  | 'missing-object'
  | 'blob-missing'
  | 'upstream-failed'
  | 'too-large'
  | 'missing-commit'
  | 'unrelated'
  | 'branch-moved'
  | 'force-refused'
  | 'not-allowed'
  | 'rate-limited'
  | 'refused'
  | 'bad-path'
  | 'failed'

/** A refusal: `code` for programs, `message` for people; no path and nothing secret in it. */
export interface GitRefusal {
  ok: false
  code: GitRefusalCode
  message: string
}

/** Makes a refusal. */
export function refuse(code: GitRefusalCode, message: string): GitRefusal {
  return { ok: false, code, message }
}
