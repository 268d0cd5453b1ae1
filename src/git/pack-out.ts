import { open, rm, stat } from 'node:fs/promises'
import { indexPack, oversized } from './incoming.ts'
import { objectTypes } from './objects.ts'
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
}

/** A pack made in a scratch directory, checked as its readers will check it. */
export interface BuiltPack {
  id: string
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
 * Makes the pack of all that `wants` lead to and `haves` do not, not thin (STO-2), in a new directory under `scratch`, and checks it as readers
 * will: git's strict check and the bound on objects. Haves that are not there are left out. Nothing when there is nothing to send.
 */
export async function buildPack(
  local: LocalRepository,
  scratch: string,
  wants: readonly string[],
  haves: readonly string[],
): Promise<{ ok: true; pack?: BuiltPack } | GitRefusal> {
  const place = await openQuarantineIn(scratch, [local.objects])
  const known = await objectTypes(local, haves)
  const revisions = [...wants, ...haves.filter((_, at) => known[at] !== undefined).map(id => `^${id}`)]
  const args = ['pack-objects', '--revs', '--delta-base-offset', '--non-empty', '-q', `${place.dir}/pack/pack`]
  const run = await runGit(args, { dir: local.dir, env: place.env, input: `${revisions.join('\n')}\n`, timeoutMs: 1_800_000 })
  if (run.code !== 0) return refuse('missing-object', words.missingObjects())
  const id = run.stdout.toString('latin1').trim()
  if (id === '') return { ok: true }
  const path = packFile(place, id)
  const { size } = await stat(path)
  if (size > outBounds.packBytes) return refuse('too-large', words.packTooBig(outBounds.packBytes))
  await Promise.all(['idx', 'rev', 'bitmap'].map(end => rm(path.replace(/pack$/, end), { force: true })))
  const fault = (await indexPack(local.dir, place, { id, bytes: size }, {})) ?? (await bigObject(local, place, revisions))
  return fault ?? { ok: true, pack: { id, path, objects: await objectCount(path), bytes: size } }
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
  await runGit(['rev-list', '--objects', '--stdin'], { dir: local.dir, input: `${revisions.join('\n')}\n`, onOutput, timeoutMs: 600_000 })
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
