import type { Mirror } from './mirror.ts'
import type { GitRefusal } from './refusal.ts'

/** Which two commits, and in which mirrors they lie. */
export interface PullRange {
  target: Mirror
  tip: string
  source: Mirror
  head: string
}

/** A commit as listed; texts are decoded and cut. `date`: the author's, ISO 8601 in UTC. */
export interface CommitRow {
  commit: string
  subject: string
  author: { name: string }
  date: string
}

export interface DiffLine {
  kind: ' ' | '+' | '-'
  /** Line numbers before and after, counted from 1. */
  old?: number
  new?: number
  text: string
  /** The text was cut. */
  cut?: true
  /** The file ends here without a newline. */
  noNewline?: true
}

export interface DiffHunk {
  header: string
  lines: DiffLine[]
}

export interface DiffFile {
  path: string
  /** Before a rename. */
  oldPath?: string
  change: 'added' | 'deleted' | 'modified' | 'renamed' | 'mode'
  binary: boolean
  additions: number
  deletions: number
  hunks?: DiffHunk[]
  /** Why no hunks are given: many or big lines, bytes that are no text, too many files before it. */
  folded?: 'large' | 'binary' | 'many'
}

export interface Diff {
  ok: true
  /** The merge base that the diff starts from. */
  base: string
  files: DiffFile[]
  /** Of all files, listed or not; lines only of those counted. `exact` is false when lines of some file were not counted. */
  totals: { files: number; additions: number; deletions: number; exact: boolean }
}

/** The commits of `tip..head`, newest first, at most `limit` (default 100); `more` when there are more. */
export function commitsOf(_input: PullRange & { limit?: number }): Promise<{ ok: true; commits: CommitRow[]; more: boolean } | GitRefusal> {
  throw new Error('not written yet')
}

/** What `head` changes since its merge base with `tip` (or since `base`). `only`: these paths, with larger bounds. */
export function diffOf(_input: PullRange & { base?: string; only?: string[] }): Promise<Diff | GitRefusal> {
  throw new Error('not written yet')
}
