import type { Mirror } from './mirror.ts'
import type { CommitRow } from './pull.ts'
import type { GitRefusal } from './refusal.ts'

/** The workflow files at a commit: `.knotless/workflows/*.yml` and `*.yaml`, full paths (ADM-11). */
export function workflowsAt(_mirror: Mirror, _commit: string): Promise<{ ok: true; workflows: string[] } | GitRefusal> {
  throw new Error('not written yet')
}

/** The newest commit in the history of `commit` that changed `path`. */
export function lastChangeOf(_mirror: Mirror, _commit: string, _path: string): Promise<{ ok: true; change?: CommitRow } | GitRefusal> {
  throw new Error('not written yet')
}

/** Whether `commit` is `tip` or in its history; a commit that the mirror does not have is not (STA-5, HON-8). */
export function isAncestor(_mirror: Mirror, _commit: string, _tip: string): Promise<{ ok: true; ancestor: boolean } | GitRefusal> {
  throw new Error('not written yet')
}

/** The bytes of a file at a commit, at most `max`; undefined when there is no such file. */
export function fileAt(
  _mirror: Mirror,
  _commit: string,
  _path: string,
  _max: number,
): Promise<{ ok: true; bytes?: Uint8Array } | GitRefusal> {
  throw new Error('not written yet')
}
