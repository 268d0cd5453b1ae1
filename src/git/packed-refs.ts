import { randomUUID } from 'node:crypto'
import { open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Mirror } from './mirror.ts'
import type { RefRow } from './refs-record.ts'
import { runGit } from './run.ts'

type Ref = Pick<RefRow, 'name' | 'commit'>

/** The refs of a mirror as git reads them, by full name. */
export async function readRefs(mirror: Mirror): Promise<Map<string, string>> {
  const run = await runGit(['for-each-ref', '--format=%(objectname) %(refname)'], { dir: mirror.dir })
  if (run.code !== 0) throw new Error(`git for-each-ref failed (${run.ended}): ${run.stderr}`)
  const lines = run.stdout.toString('utf8').split('\n').filter(Boolean)
  return new Map(lines.map(line => [line.slice(41), line.slice(0, 40)]))
}

/** The refs as `writeRefs` put them there, without running git: loose ones, which another tool may have left, are not seen. */
export async function writtenRefs(mirror: Mirror): Promise<Map<string, string>> {
  const text = await readFile(join(mirror.dir, 'packed-refs'), 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return ''
    throw error
  })
  return new Map(text.split('\n').flatMap(line => (/^[0-9a-f]{40} /.test(line) ? [[line.slice(41), line.slice(0, 40)] as const] : [])))
}

/** Whether a mirror's refs are these and no others. */
export function sameRefs(present: ReadonlyMap<string, string>, wanted: readonly Ref[]): boolean {
  return present.size === wanted.length && wanted.every(row => present.get(row.name) === row.commit)
}

/**
 * Makes these the mirror's refs, all at once: one packed-refs file, put in place by one rename. A transaction of `update-ref` renames one file per
 * ref and leaves locks behind when it is cut off; this leaves the old refs or the new, and a branch may become a folder of branches in one step.
 */
export async function writeRefs(mirror: Mirror, refs: readonly Ref[]): Promise<void> {
  const lines = refs
    .map(row => `${row.commit} ${row.name}\n`)
    .sort((a, b) => Buffer.compare(Buffer.from(a.slice(41)), Buffer.from(b.slice(41))))
  const fresh = join(mirror.dir, `packed-refs.${randomUUID()}`)
  const file = await open(fresh, 'wx')
  try {
    await file.writeFile(`# pack-refs with: sorted \n${lines.join('')}`)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(fresh, join(mirror.dir, 'packed-refs'))
  await removeLoose(mirror)
}

/** A loose ref, left by another tool, would hide the packed one of its name. */
async function removeLoose(mirror: Mirror): Promise<void> {
  const entries = await readdir(join(mirror.dir, 'refs'), { withFileTypes: true, recursive: true })
  for (const entry of entries) {
    if (!entry.isDirectory()) await rm(join(entry.parentPath, entry.name), { force: true })
  }
}
