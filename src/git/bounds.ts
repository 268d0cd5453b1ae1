import type { ObjectsPlace } from './objects.ts'
import { type GitRefusal, refuse } from './refusal.ts'
import { type GitRun, runGit } from './run.ts'
import { nulFields } from './split-stream.ts'
import { words } from './words.ts'

/** What a head's files may come to (STO-11): depth in folders, files and folders changed, bytes of a path and of one name in it. */
export const treeBounds = { depth: 512, entries: 500_000, path: 4096, name: 255 } as const

export const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

const diffTree = ['diff-tree', '-r', '-t', '-z', '--raw', '--no-renames']
const memoryKiB = 500_000

/**
 * Walks what `head` changes against `base` (a commit or the empty tree) and refuses what is out of bounds, before anything that would choke on it
 * touches it. The walk itself is killed when it grows: trees may stand for more files than there is memory.
 */
export async function boundsFault(place: ObjectsPlace, base: string, head: string): Promise<GitRefusal | undefined> {
  const walk = newWalk()
  const onOutput = nulFields(treeBounds.path + 1, (field, length) => walk.take(field, length))
  const run = await runGit([...diffTree, base, head], { ...place, onOutput, ulimit: { memoryKiB, cpuSeconds: 10 } })
  if (walk.fault !== undefined) return walk.fault
  return run.code === 0 ? undefined : runFault(run)
}

/** Runs that a call may take to find its way past heads out of bounds; who brings more of them is not helped to find each. */
const mostRuns = 40

/**
 * `boundsFault` of many heads in as few runs of git as possible, in the order asked; bases and heads are commits that are there. One that is out of
 * bounds is refused alone, and the walk goes on after it; after forty of those the rest is refused unseen.
 */
export async function boundsFaults(
  place: ObjectsPlace,
  pairs: readonly { base: string; head: string }[],
): Promise<(GitRefusal | undefined)[]> {
  const faults: (GitRefusal | undefined)[] = []
  for (let runs = 0; faults.length < pairs.length; runs += 1) {
    const rest = pairs.slice(faults.length)
    const [next] = rest
    if (runs >= mostRuns) faults.push(...rest.map(() => refuse('too-large', words.tooManyFaults())))
    else if (next !== undefined && rest.length === 1) faults.push(await boundsFault(place, next.base, next.head))
    else {
      const walked = await walkMany(place, rest)
      faults.push(...walked.faults)
      // Whatever ended the run, the head that it was at is looked at alone.
      const at = walked.lost ? pairs[faults.length] : undefined
      if (at !== undefined) faults.push(await boundsFault(place, at.base, at.head))
    }
  }
  return faults
}

/** One run over many heads: what was found of the first ones, up to one with a fault or to where git was `lost`. */
async function walkMany(
  place: ObjectsPlace,
  pairs: readonly { base: string; head: string }[],
): Promise<{ faults: (GitRefusal | undefined)[]; lost: boolean }> {
  const faults: (GitRefusal | undefined)[] = []
  let walk: Walk | undefined
  const onOutput = nulFields(treeBounds.path + 1, (field, length) => {
    // The head's id stands before what it changes.
    if (walk === undefined || (walk.betweenEntries && length === 40)) {
      if (walk !== undefined) faults.push(undefined)
      walk = newWalk()
      return true
    }
    if (walk.take(field, length)) return true
    faults.push(walk.fault)
    return false
  })
  const run = await runGit([...diffTree, '--stdin', '--always'], {
    ...place,
    input: pairs.map(({ base, head }) => `${head} ${base}\n`).join(''),
    onOutput,
    ulimit: { memoryKiB, cpuSeconds: 10 + pairs.length },
  })
  if (run.code === 0 && walk !== undefined && faults.length === pairs.length - 1) faults.push(undefined)
  return { faults, lost: run.ended !== 'stopped' && faults.length < pairs.length }
}

interface Walk {
  fault: GitRefusal | undefined
  /** No path is due: the next field begins an entry or another head. */
  betweenEntries: boolean
  /** Takes the next field of a raw diff; false when it has found a fault. */
  take(field: Buffer, length: number): boolean
}

function newWalk(): Walk {
  let entries = 0
  let status = ''
  return {
    fault: undefined,
    betweenEntries: true,
    take(field, length) {
      if (this.betweenEntries) {
        status = field.toString('latin1').slice(-1)
        this.betweenEntries = false
        return true
      }
      this.betweenEntries = true
      entries += 1
      if (entries > treeBounds.entries) this.fault = refuse('too-large', words.tooManyEntries(treeBounds.entries))
      else if (status !== 'D') this.fault = pathFault(field, length)
      return this.fault === undefined
    },
  }
}

/** Why a walk ended early: recursion that overran the stack, or more entries than fit into memory or time. */
function runFault(run: GitRun): GitRefusal {
  if (run.ended === 'signal') return refuse('too-large', words.tooDeep(treeBounds.depth))
  if (run.ended === 'timeout' || /out of memory|cannot allocate/i.test(run.stderr)) {
    return refuse('too-large', words.tooManyEntries(treeBounds.entries))
  }
  return refuse('failed', words.gitFailed('walk the files of the branch'))
}

function pathFault(path: Buffer, length: number): GitRefusal | undefined {
  if (length > treeBounds.path) return refuse('too-large', words.pathTooLong(treeBounds.path))
  const parts = path.toString('latin1').split('/')
  if (parts.length > treeBounds.depth) return refuse('too-large', words.tooDeep(treeBounds.depth))
  return parts.some(part => part.length > treeBounds.name) ? refuse('too-large', words.nameTooLong(treeBounds.name)) : undefined
}
