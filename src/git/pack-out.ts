import { open, rm, stat } from 'node:fs/promises'
import { indexPack, oversized } from './incoming.ts'
import { holdsOnlyChecked } from './pack-proof.ts'
import { openQuarantineIn, packFile, type Quarantine } from './quarantine.ts'
import { type GitRefusal, refuse } from './refusal.ts'
import { runGit } from './run.ts'
import { splitLines } from './split-stream.ts'
import { words } from './words.ts'

/** A local git directory to push from. */
export interface LocalRepository {
  dir: string
  /** Its object directory, absolute. */
  objects: string
  /** More environment for git, as of a quarantine in which objects lie that are not in `objects`. */
  env?: Record<string, string>
}

/** A pack made in a scratch directory, checked as its readers will check it, with its index beside it. */
export interface BuiltPack {
  id: string
  place: Quarantine
  path: string
  objects: number
  bytes: number
}

export const outBounds = { packBytes: 2 * 2 ** 30, objectBytes: 100 * 2 ** 20 } as const

/** Looks at a git directory, bare or the `.git` of a checkout: a whole repository with SHA-1 objects, or a refusal. */
export async function openLocal(gitDir: string): Promise<{ ok: true; local: LocalRepository } | GitRefusal> {
  const ask = ['rev-parse', '--path-format=absolute', '--git-path', 'objects', '--show-object-format', '--is-shallow-repository']
  const run = await runGit(ask, { dir: gitDir })
  const [objects, format, shallow] = run.stdout.toString('utf8').split('\n')
  if (run.code !== 0 || objects === undefined || format !== 'sha1') return refuse('bad-record', words.notARepository())
  if (shallow !== 'false') return refuse('missing-object', words.shallow())
  return { ok: true, local: { dir: gitDir, objects } }
}

/**
 * Makes the pack of all that `wants` lead to and `haves`, which are there, do not, not thin (STO-2), in a new directory under `scratch`, and sees
 * to it that readers will take it: git's strict check and the bound on objects, unless each object passed both when it came into the quarantine
 * of `local.env`. Nothing when there is nothing to send.
 */
export async function buildPack(
  local: LocalRepository,
  scratch: string,
  wants: readonly string[],
  haves: readonly string[],
): Promise<{ ok: true; pack?: BuiltPack } | GitRefusal> {
  const place = await openQuarantineIn(scratch, [local.objects], local.env)
  const revisions = [...wants, ...haves.map(id => `^${id}`)]
  const args = ['pack-objects', '--revs', '--delta-base-offset', '--non-empty', '-q', `${place.dir}/pack/pack`]
  const run = await runGit(args, { dir: local.dir, env: place.env, input: `${revisions.join('\n')}\n`, timeoutMs: 1_800_000 })
  if (run.code !== 0) return refuse('missing-object', words.missingObjects())
  const id = run.stdout.toString('latin1').trim()
  if (id === '') return { ok: true }
  const path = packFile(place, id)
  const { size } = await stat(path)
  if (size > outBounds.packBytes) return refuse('too-large', words.packTooBig(outBounds.packBytes))
  const pack = { id, place, path, objects: await objectCount(path), bytes: size }
  const quarantine = local.env?.GIT_OBJECT_DIRECTORY
  if (quarantine !== undefined && (await holdsOnlyChecked(path, quarantine))) return { ok: true, pack }
  const index = `${place.dir}/again.idx`
  const [fault, big] = await Promise.all([indexPack(local.dir, place, { id, bytes: size }, { index }), bigObject(local, place, revisions)])
  await rm(index, { force: true })
  return fault ?? big ?? { ok: true, pack }
}

/** The first object that is too large, by the path that it has where it has one. */
async function bigObject(local: LocalRepository, place: Quarantine, revisions: readonly string[]): Promise<GitRefusal | undefined> {
  const big = await oversized(local.dir, place, outBounds.objectBytes)
  if (big === undefined || big.object === undefined) return big?.refusal
  const { id, bytes } = big.object
  let path: string | undefined
  const onOutput = splitLines(4200, field => {
    if (field.toString('latin1', 0, 40) === id) path = field.toString('utf8', 41)
    return path === undefined
  })
  await runGit(['rev-list', '--objects', '--stdin'], {
    dir: local.dir,
    env: local.env ?? {},
    input: `${revisions.join('\n')}\n`,
    onOutput,
    timeoutMs: 600_000,
  })
  return refuse('too-large', words.objectTooBig(id, bytes, outBounds.objectBytes, path || undefined))
}

/** How many objects a pack says it holds. */
export async function objectCount(path: string): Promise<number> {
  const file = await open(path)
  try {
    const { buffer } = await file.read(Buffer.alloc(12), 0, 12, 0)
    return buffer.readUInt32BE(8)
  } finally {
    await file.close()
  }
}
