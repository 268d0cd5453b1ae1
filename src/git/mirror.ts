import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { sweepQuarantines } from './quarantine.ts'
import { runGit } from './run.ts'

/** A bare repository that mirrors one refs record. */
export interface Mirror {
  /** The git directory. */
  readonly dir: string
  /** Its object directory. */
  readonly objects: string
  /** Runs `work` alone: one at a time per mirror, in the order asked. */
  exclusive<T>(work: () => Promise<T>): Promise<T>
}

/** The mirrors of one data directory, each opened once. */
export interface Mirrors {
  /** The mirror of the repository with this AT-URI, created when it is not there. */
  of(repo: string): Promise<Mirror>
}

/**
 * Attributes of every mirror, over whatever a tree says: nothing is left out of or rewritten in an archive (STO-12), and merges and diffs know
 * no drivers, text kinds or encodings, in every version of git (GWY-14).
 */
const wholeArchives = '* -export-ignore -export-subst'
const attributes = [
  wholeArchives,
  '* !merge !diff !text !eol !crlf !ident !filter !working-tree-encoding !conflict-marker-size !whitespace !delta',
  '',
].join('\n')

/**
 * Opens the mirror at `path`, creating it there when there is none. Creation is one rename: a crash leaves none or a whole one.
 * Two parts of one process share mirrors through `createMirrors`, since `exclusive` holds per opened mirror.
 */
export async function openMirror(path: string): Promise<Mirror> {
  // Git is run in the root folder, so that a path from anywhere else would lead it astray.
  const dir = resolve(path)
  if (!(await exists(join(dir, 'HEAD')))) await create(dir)
  await pinAttributes(dir)
  let last: Promise<unknown> = Promise.resolve()
  const mirror: Mirror = {
    dir,
    objects: join(dir, 'objects'),
    exclusive(work) {
      const mine = last.then(work)
      last = mine.catch(() => undefined)
      return mine
    },
  }
  // A push that a crash cut off leaves a pack of any size, and no later one need come by.
  await sweepQuarantines(mirror, Date.now())
  return mirror
}

/** Whether these are attributes of a mirror, by which an archive holds every file as it is (STO-12). */
export function archivesWhole(text: string): boolean {
  return text.split('\n', 1)[0] === wholeArchives
}

/** Mirrors under `root`, a directory per repository, named by a digest of its AT-URI (STO-10). */
export function createMirrors(root: string): Mirrors {
  const opened = new Map<string, Promise<Mirror>>()
  return {
    of(repo) {
      const known = opened.get(repo)
      if (known !== undefined) return known
      const digest = createHash('sha256').update(repo).digest('hex').slice(0, 32)
      const opening = openMirror(join(root, `${digest}.git`))
      opened.set(repo, opening)
      opening.catch(() => opened.delete(repo))
      return opening
    },
  }
}

/** The ids of the packs that a mirror holds, index and all. */
export async function packsOf(mirror: Mirror): Promise<Set<string>> {
  const names = new Set(await readdir(join(mirror.objects, 'pack')))
  const ids = [...names].flatMap(name => /^pack-([0-9a-f]{40})\.idx$/.exec(name)?.[1] ?? [])
  return new Set(ids.filter(id => names.has(`pack-${id}.pack`)))
}

async function create(dir: string): Promise<void> {
  await mkdir(dirname(dir), { recursive: true })
  const fresh = `${dir}.${randomUUID()}.new`
  try {
    const run = await runGit(['init', '--quiet', '--bare', '--template=', '--initial-branch=main', fresh])
    if (run.code !== 0) throw new Error(`git init failed (${run.ended}): ${run.stderr}`)
    await mkdir(join(fresh, 'objects', 'pack'), { recursive: true })
    await pinAttributes(fresh)
    await rename(fresh, dir)
  } catch (error) {
    await rm(fresh, { recursive: true, force: true })
    // Somebody else may have created it in the meantime.
    if (!(await exists(join(dir, 'HEAD')))) throw error
  }
}

async function pinAttributes(dir: string): Promise<void> {
  const file = join(dir, 'info', 'attributes')
  const present = await readFile(file, 'utf8').catch(() => undefined)
  if (present === attributes) return
  await mkdir(dirname(file), { recursive: true })
  const fresh = `${file}.${randomUUID()}`
  await writeFile(fresh, attributes)
  await rename(fresh, file)
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined
}
