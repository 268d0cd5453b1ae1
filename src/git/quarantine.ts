import { randomUUID } from 'node:crypto'
import { chmod, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Mirror } from './mirror.ts'

/** An object directory of its own, in which git finds the objects of others but writes none into theirs (STO-11). */
export interface Quarantine {
  readonly dir: string
  /** Environment for git: objects of the quarantine and of what it stands before. */
  readonly env: Record<string, string>
  /** Environment for git: objects of the quarantine alone. */
  readonly alone: Record<string, string>
  close(): Promise<void>
}

/** A quarantine left behind by a crash is taken for dead after this long, whatever its process id. */
const stale = 60 * 60 * 1000

/** Opens a quarantine before a mirror's objects and those of `others`, on the mirror's own file system. */
export function openQuarantine(mirror: Mirror, others: readonly string[] = []): Promise<Quarantine> {
  return openQuarantineIn(join(mirror.dir, 'quarantine'), [mirror.objects, ...others])
}

/**
 * Opens a quarantine as a directory in `parent`, before the given object directories and those that `env` leads git to, as another quarantine's
 * does.
 */
export async function openQuarantineIn(
  parent: string,
  before: readonly string[],
  env?: Readonly<Record<string, string>>,
): Promise<Quarantine> {
  const dir = join(parent, `${process.pid}-${randomUUID()}`)
  await mkdir(join(dir, 'pack'), { recursive: true })
  const alone = { GIT_OBJECT_DIRECTORY: dir }
  const inner = env?.GIT_OBJECT_DIRECTORY
  const outer = env?.GIT_ALTERNATE_OBJECT_DIRECTORIES
  const all = alternates(inner === undefined ? before : [...before, inner]).GIT_ALTERNATE_OBJECT_DIRECTORIES
  return {
    dir,
    alone,
    env: { ...alone, GIT_ALTERNATE_OBJECT_DIRECTORIES: outer ? `${all}:${outer}` : all },
    close: () => rm(dir, { recursive: true, force: true }),
  }
}

/** Environment in which git reads objects of these object directories as well. */
export function alternates(dirs: readonly string[]): { GIT_ALTERNATE_OBJECT_DIRECTORIES: string } {
  // An entry that starts with a quote is read as a C string, which lets a path hold the separator.
  const quoted = dirs.map(dir => (/^"|:/.test(dir) ? `"${dir.replace(/["\\]/g, '\\$&')}"` : dir))
  return { GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted.join(':') }
}

/** Where a pack lies inside a quarantine. */
export function packFile(quarantine: Quarantine, id: string): string {
  return join(quarantine.dir, 'pack', `pack-${id}.pack`)
}

/** Moves a checked pack into the mirror; git sees it once its index is there. */
export async function admit(mirror: Mirror, quarantine: Quarantine, id: string): Promise<void> {
  const from = packFile(quarantine, id)
  const to = join(mirror.objects, 'pack', `pack-${id}.pack`)
  await chmod(from, 0o444)
  await rename(from, to)
  for (const end of ['rev', 'idx']) {
    await rename(from.replace(/pack$/, end), to.replace(/pack$/, end)).catch((error: unknown) => {
      if (end === 'idx') throw error
    })
  }
}

/** Removes what crashed processes left: quarantines whose process is gone, or that are over an hour old. */
export async function sweepQuarantines(mirror: Mirror, now: number): Promise<void> {
  const parent = join(mirror.dir, 'quarantine')
  const names = await readdir(parent).catch(() => [])
  for (const name of names) {
    const path = join(parent, name)
    const made = (await stat(path).catch(() => undefined))?.mtimeMs ?? now
    if (!isAlive(Number(name.split('-')[0])) || now - made > stale) await rm(path, { recursive: true, force: true })
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
