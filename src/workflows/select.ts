import { type Glob, type Text, textOf } from './glob.ts'
import { parseWorkflow, type WorkflowFault, type WorkflowFile } from './parse.ts'
import { words } from './words.ts'
import type { Workflow } from './workflow.ts'

/** What a commit may bring: files, and their bytes together. */
export const mostFiles = 100
export const mostFileBytes = 2 ** 20

/** Most steps that holding paths against patterns may take in one selection: about half a second at the worst. */
const mostSteps = 100_000_000

export interface Asked {
  trigger: 'pull' | 'push'
  /** The branch that a pull goes into, or that was pushed to, without refs/heads/. */
  branch: string
  /** Paths that differ between base and tip, both names of what was renamed; `unknown` where there are too many to list. */
  changedPaths: readonly string[] | 'unknown'
}

export interface Selected {
  /** Those that run, in the order of their file names. */
  selected: readonly Workflow[]
  /** Those that would run, and do not since none of their paths changed. */
  skipped: readonly Workflow[]
  /** Files that cannot be used: each is an error, whatever it would have run on (CHK-6). */
  faulty: readonly WorkflowFault[]
}

/**
 * Which of a commit's workflow files run on a pull into a branch, or on a push to it (CHK-1, PRE-1). The same files and paths give the same answer
 * everywhere. Where there is too much to hold against patterns, none is skipped.
 */
export function selectWorkflows(files: readonly WorkflowFile[], asked: Asked): Selected {
  return selectFrom(readWorkflows(files), asked)
}

/** What a commit's files say. */
export interface ReadWorkflows {
  workflows: readonly Workflow[]
  faulty: readonly WorkflowFault[]
}

/** The same of files that were read already. */
export function selectFrom({ workflows, faulty }: ReadWorkflows, asked: Asked): Selected {
  const branch = textOf(asked.branch)
  const wanted = workflows.filter(({ on }) => {
    const trigger = on[asked.trigger]
    return trigger !== undefined && (trigger.branches?.some(glob => glob.matches(branch)) ?? true)
  })
  const changed = changes(asked.changedPaths, wanted)
  const isSkipped = ({ paths }: Workflow) => paths !== undefined && changed !== undefined && !anyMatches(paths, changed)
  const skipped = wanted.filter(isSkipped)
  return { selected: wanted.filter(one => !skipped.includes(one)), skipped, faulty }
}

/** Every file of a commit that can be used, and the faults of the others, both in the order of their names. */
export function readWorkflows(files: readonly WorkflowFile[]): ReadWorkflows {
  const tooMany = folderFault(files)
  if (tooMany !== undefined) return { workflows: [], faulty: [tooMany] }
  const workflows: Workflow[] = []
  const faulty: WorkflowFault[] = []
  const byName = new Map<string, string>()
  for (const file of [...files].sort((a, b) => (a.file < b.file ? -1 : 1))) {
    const read = parseWorkflow(file)
    if (!read.ok) {
      faulty.push(read.fault)
      continue
    }
    const { name } = read.workflow
    const other = byName.get(name)
    // Readers tell runs apart by the workflow's name: of two with one name the pass of one would hide the failure of the other.
    if (other !== undefined) faulty.push({ file: file.file, key: 'name', message: words.sameName(other, name) })
    else {
      byName.set(name, file.file)
      workflows.push(read.workflow)
    }
  }
  return { workflows, faulty }
}

function folderFault(files: readonly WorkflowFile[]): WorkflowFault | undefined {
  if (files.length > mostFiles) return { file: '', message: words.tooManyFiles(mostFiles) }
  const bytes = files.reduce((sum, file) => sum + (file.bytes === 'too-large' ? 0 : file.bytes.length), 0)
  return bytes > mostFileBytes ? { file: '', message: words.tooManyBytes(mostFileBytes) } : undefined
}

/** The changed paths taken apart; undefined where they are not known, or would take too long. */
function changes(paths: readonly string[] | 'unknown', workflows: readonly Workflow[]): Text[] | undefined {
  if (paths === 'unknown') return undefined
  const patterns = workflows.flatMap(({ paths = [] }) => paths).reduce((sum, glob) => sum + glob.size, 0)
  const characters = paths.reduce((sum, path) => sum + path.length, 0)
  return patterns * characters > mostSteps ? undefined : patterns === 0 ? [] : paths.map(textOf)
}

function anyMatches(globs: readonly Glob[], texts: readonly Text[]): boolean {
  return globs.some(glob => texts.some(text => glob.matches(text)))
}
