import type { GitRefusal } from './refusal.ts'

/** A blob reference as the account's server answered it, in its JSON form. */
export interface BlobRef {
  $type: 'blob'
  ref: { $link: string }
  mimeType: string
  size: number
}

/** A ref: full name, the object it is at, and how many times a branch of that name was created. */
export interface RefRow {
  name: string
  commit: string
  generation: number
}

/** A pack cut into parts; `id` is its trailer and its file name in a mirror (STO-2). */
export interface PackRow {
  id: string
  parts: BlobRef[]
  objects: number
  bytes: number
}

/** A checked `dev.knotless.refs` record: the git state of a repository (STO-1). */
export interface RefsRecord {
  $type: 'dev.knotless.refs'
  repo: string
  refs: RefRow[]
  packs: PackRow[]
  updatedAt: string
}

/** Parses a refs record as it came from an account, JSON or decoded (STO-1, STO-11). `repo`: the AT-URI it must name. */
export function checkRefsRecord(_value: unknown, _repo?: string): { ok: true; record: RefsRecord } | GitRefusal {
  throw new Error('not written yet')
}

/** The commit that a branch is at; undefined when the record has no such branch. */
export function branchTip(record: RefsRecord, branch: string): string | undefined {
  return record.refs.find(row => row.name === `refs/heads/${branch}`)?.commit
}
