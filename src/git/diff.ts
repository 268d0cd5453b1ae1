import { type Change, type ChangedFile, changedFiles, diffLimits, renameWords } from './diff-list.ts'
import { type DiffHunk, type PatchSection, patchReader } from './diff-patch.ts'
import { type ObjectsPlace, objectSizes } from './objects.ts'
import type { GitRefusal } from './refusal.ts'
import { runGit } from './run.ts'

export interface DiffFile {
  /** Bytes that are no UTF-8 are replaced. */
  path: string
  /** Before a rename. */
  oldPath?: string
  change: Change
  /** No text, so that there are no lines to show. */
  binary: boolean
  additions: number
  deletions: number
  hunks?: DiffHunk[]
  /** Why no hunks are given: many or big lines, bytes that are no text, too many lines before it. */
  folded?: 'large' | 'binary' | 'many'
}

export interface Diff {
  ok: true
  /** What the diff starts from: the merge base. */
  base: string
  /** At most 300. */
  files: DiffFile[]
  /** Files after those by their names alone, at most 1,000. */
  others: { path: string; oldPath?: string }[]
  /** Of all files, listed or not; lines only of those that were counted: `exact` says whether all were. */
  totals: { files: number; additions: number; deletions: number; exact: boolean }
}

/** Bounds of a diff: files listed, lines and bytes of hunks shown per file and of all files together, bytes of a line. */
const bounds = { files: 300, names: 1000, lines: 400, bytes: 256 * 1024, lineBytes: 2000, allLines: 10_000, allBytes: 2 ** 19 } as const
/** The same when a person asked for these files. */
const onlyBounds = { ...bounds, files: 10, lines: 20_000, bytes: 4 * 2 ** 20, allLines: 20_000, allBytes: 4 * 2 ** 20 } as const
/** A file over this has no lines compared. */
const bigFile = 4 * 2 ** 20

/** What `head` changes against `base`, both there; within bounds whatever it is. `paths`: only these, with larger bounds per file. */
export async function diffBetween(place: ObjectsPlace, base: string, head: string, paths?: readonly string[]): Promise<Diff | GitRefusal> {
  const most = paths === undefined ? bounds : onlyBounds
  const all = await changedFiles(place, base, head, { most: most.files + most.names, paths })
  if (!all.ok) return all
  const listed = { ...all, files: all.files.slice(0, most.files) }
  const { sections, enough } = await readPatch(place, base, head, listed, most, paths)
  const files = listed.files.map((file, at) => diffFile(file, sections[at], at >= enough))
  await markLarge(place, files, listed.files)
  const counted = files.every((_, at) => sections[at] !== undefined) && listed.count === files.length
  const totals = {
    files: listed.count,
    additions: files.reduce((sum, file) => sum + file.additions, 0),
    deletions: files.reduce((sum, file) => sum + file.deletions, 0),
    exact: counted && files.every(file => file.folded !== 'large' || file.additions + file.deletions > 0),
  }
  const others = all.files.slice(most.files).map(({ path, oldPath }) => (oldPath === undefined ? { path } : { path, oldPath }))
  return { ok: true, base, files, others, totals }
}

/**
 * What git's patch says per listed file; files that it did not get to are missing at the end. From the file at `enough` on all files together hold
 * more lines or bytes than are shown, and theirs are not kept.
 */
async function readPatch(
  place: ObjectsPlace,
  base: string,
  head: string,
  listed: { files: ChangedFile[]; renames: boolean },
  most: { lines: number; bytes: number; lineBytes: number; allLines: number; allBytes: number },
  paths?: readonly string[],
): Promise<{ sections: PatchSection[]; enough: number }> {
  const sections: PatchSection[] = []
  const all = { lines: 0, bytes: 0 }
  let enough = Number.POSITIVE_INFINITY
  let patches = 0
  const reader = patchReader(most, section => {
    const at = sections.length - (patches > 0 ? 1 : 0)
    const file = listed.files[at]
    if (file === undefined) return false
    for (const { lines } of section.hunks ?? []) {
      all.lines += lines.length
      all.bytes += lines.reduce((sum, line) => sum + line.text.length, 0)
    }
    if (all.lines > most.allLines || all.bytes > most.allBytes) enough = Math.min(enough, at)
    if (at >= enough && section.hunks !== undefined) section.hunks = []
    if (patches > 0) joinSections(sections, section)
    else sections.push(section)
    patches = patches + 1 < file.patches ? patches + 1 : 0
    return sections.length < listed.files.length || patches > 0
  })
  const rename = listed.renames ? renameWords : ['--no-renames']
  const args = ['diff-tree', '-r', '-p', '--unified=3', '--no-color', '--no-ext-diff', '--no-textconv', ...rename, base, head]
  const run = await runGit([...args, ...(paths === undefined ? [] : ['--', ...paths])], {
    ...place,
    ...diffLimits,
    config: [`core.bigFileThreshold=${bigFile}`],
    onOutput: reader.push,
  })
  if (run.code === 0) reader.end()
  return { sections, enough }
}

/** A file that became a link is written as two patches, one file going and one coming. */
function joinSections(sections: PatchSection[], next: PatchSection): void {
  const last = sections.pop()
  if (last === undefined) return
  const joined: PatchSection = {
    binary: last.binary || next.binary,
    additions: last.additions + next.additions,
    deletions: last.deletions + next.deletions,
  }
  if (last.hunks !== undefined && next.hunks !== undefined) joined.hunks = [...last.hunks, ...next.hunks]
  sections.push(joined)
}

function diffFile(file: ChangedFile, section: PatchSection | undefined, overAll: boolean): DiffFile {
  const row: DiffFile = {
    path: file.path,
    ...(file.oldPath === undefined ? {} : { oldPath: file.oldPath }),
    change: file.change,
    binary: section?.binary ?? false,
    additions: section?.additions ?? 0,
    deletions: section?.deletions ?? 0,
  }
  if (section === undefined || (overAll && section.hunks !== undefined)) row.folded = 'many'
  else if (section.binary) row.folded = 'binary'
  else if (section.hunks === undefined) row.folded = 'large'
  else row.hunks = section.hunks
  return row
}

/** What git did not compare for its size is no binary file for that. */
async function markLarge(place: ObjectsPlace, files: DiffFile[], listed: readonly ChangedFile[]): Promise<void> {
  const binaries = files.flatMap((file, at) => (file.folded === 'binary' ? [{ file, blobs: listed[at] }] : []))
  const sizes = await objectSizes(
    place,
    binaries.flatMap(({ blobs }) => [blobs?.oldBlob ?? '', blobs?.newBlob ?? '']),
  )
  for (const [at, { file }] of binaries.entries()) {
    if (Math.max(sizes[2 * at] ?? 0, sizes[2 * at + 1] ?? 0) >= bigFile) {
      file.binary = false
      file.folded = 'large'
    }
  }
}
