import { randomUUID } from 'node:crypto'
import { mkdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { accountRefusal, type PutAnswer, putOutcome, type RefsAccount } from './account.ts'
import { adopt } from './adopt.ts'
import type { Mirror } from './mirror.ts'
import { objectTypes } from './objects.ts'
import { type BuiltPack, buildPack, type LocalRepository, openLocal } from './pack-out.ts'
import { sameRefs, writtenRefs } from './packed-refs.ts'
import { uploadParts } from './parts.ts'
import { branchName } from './ref-names.ts'
import { badTarget } from './ref-targets.ts'
import { checkRefsRecord, type PackRow, type RefsRecord } from './refs-record.ts'
import { type RefUpdate, updatedRecord, updatesFault } from './refs-update.ts'
import { type GitRefusal, refuse } from './refusal.ts'
import { runGit } from './run.ts'
import { words } from './words.ts'

export type { AccountRefusal, AnsweredBlob, PutAnswer, RefsAccount } from './account.ts'
export type { RefUpdate } from './refs-update.ts'

export interface PushInput {
  /** The git directory that holds the commits. */
  gitDir: string
  updates: readonly RefUpdate[]
  account: RefsAccount
  /** The repository's AT-URI. */
  repo: string
  now: () => Date
  /** More environment for git: of the quarantine in which the new objects lie. */
  env?: Readonly<Record<string, string>> | undefined
  /**
   * Whether the push may still be made, asked on each try after the record was read and before anything is sent: `before` is what was read. False
   * ends it as `refused`.
   */
  mayStill?: ((before: RefsRecord | undefined) => Promise<boolean>) | undefined
  /** Commits that are known to be there, of those that refs are set to. */
  commits?: ReadonlySet<string> | undefined
  /** A mirror of the repository that takes what was pushed; not to be held by `exclusive` meanwhile. */
  mirror?: Mirror | undefined
  /** For the jitter between tries: waits so many milliseconds; a number in 0..1. */
  wait?: (ms: number) => Promise<void>
  random?: () => number
}

export interface PushDone {
  ok: true
  /** The record as it stands after the push. */
  record: RefsRecord
  /** False when everything was so already and nothing was written. */
  changed: boolean
  /** True when the mirror has it, without a sync. */
  mirrored: boolean
}

const tries = 10
/** A sync or upkeep may have the mirror to itself for minutes: longer than this, in milliseconds, the answer does not wait for it. */
const mirrorPatience = 1000

/** A push while it goes on. */
interface Push extends PushInput {
  local: LocalRepository
  scratch: string
  /** One and the same over all tries, so that a repeated put is a no-op (STO-7). */
  updatedAt: string
  /** Types of the objects that were asked about, or are known; without one: not here. */
  types: Map<string, string | undefined>
  /** Where the refs were at first; only while they still are is it tried again (STO-6). */
  expected?: Map<string, string | null>
  /** The pack, the packs of the record that it was made against, and the commits that it leans on. */
  built?: { row: PackRow | undefined; file: BuiltPack | undefined; against: ReadonlySet<string>; haves: readonly string[] }
  /** The records before and after the last put. */
  put?: { before: RefsRecord | undefined; after: RefsRecord }
  /** The answer to an earlier put was lost: it may have been made. */
  unsure: boolean
  /** What the last try failed on. */
  last: 'swap-lost' | 'blob-missing' | 'unsettled'
}

/**
 * Pushes commits of a local git directory into an account: what the record does not hold goes up as one pack in parts, then the record is put by
 * compare-and-swap, so that a push is all or nothing (STO-1, STO-2, STO-5). A lost swap is read and judged again (STO-6), a lost answer settled by
 * reading (STO-7), a part that vanished uploaded again (STO-4).
 */
export async function pushRefs(input: PushInput): Promise<PushDone | GitRefusal> {
  const fault = updatesFault(input.updates)
  if (fault !== undefined) return fault
  const opened = await openSource(input)
  if (!opened.ok) return opened
  // What the mirror is to take has to lie on its file system; what a crash leaves there is swept up by the process id in its name.
  const scratch = join(input.mirror === undefined ? tmpdir() : join(input.mirror.dir, 'quarantine'), `${process.pid}-push-${randomUUID()}`)
  await mkdir(scratch, { recursive: true, mode: 0o700 })
  const updatedAt = input.now().toISOString()
  const push: Push = { ...input, local: opened.local, scratch, updatedAt, types: await knownTypes(input), unsure: false, last: 'swap-lost' }
  const clear = () => rm(scratch, { recursive: true, force: true })
  const done = await tryAll(push).catch(async (error: unknown) => {
    await clear()
    throw error
  })
  if (!done.ok || !done.changed) {
    await clear()
    return done
  }
  return { ...done, mirrored: await soon(takeOver(push, done.record).finally(clear)) }
}

/** What the mirror's refs are at is there, with all that it leads to; its branches are at commits. */
async function knownTypes({ mirror, commits }: PushInput): Promise<Map<string, string>> {
  const refs = mirror === undefined ? [] : [...(await writtenRefs(mirror))]
  const branches = refs.filter(([name]) => branchName(name) !== undefined).map(([, commit]) => commit)
  return new Map([...branches, ...(commits ?? [])].map(id => [id, 'commit']))
}

async function tryAll(push: Push): Promise<PushDone | GitRefusal> {
  for (let attempt = 0; attempt < tries; attempt++) {
    if (attempt > 0) await pause(push, attempt)
    const done = await tryPush(push)
    if (done !== 'again') return done
  }
  return gaveUp(push)
}

async function openSource(input: PushInput): Promise<{ ok: true; local: LocalRepository } | GitRefusal> {
  const dir = resolve(input.gitDir)
  const env = input.env === undefined ? {} : { env: { ...input.env } }
  if (dir === input.mirror?.dir) return { ok: true, local: { dir, objects: input.mirror.objects, ...env } }
  const opened = await openLocal(dir)
  return opened.ok ? { ok: true, local: { ...opened.local, ...env } } : opened
}

/** Puts what was pushed into the mirror, if the record is still as this push made it. A mirror that cannot take it is left to the next sync. */
async function takeOver(push: Push, record: RefsRecord): Promise<boolean> {
  const { mirror, put, built } = push
  if (mirror === undefined || put === undefined) return false
  const at = new Map(record.refs.map(row => [row.name, row.commit]))
  if (!sameRefs(at, put.after.refs)) return false
  const made = { before: put.before?.refs ?? [], after: put.after.refs, pack: built?.file, haves: built?.haves ?? [] }
  return adopt(mirror, made).catch(() => false)
}

/** What it comes to, or false when that takes longer than the patience or fails. */
async function soon(promise: Promise<boolean>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => late.resolve(false), mirrorPatience)
  try {
    return await Promise.race([promise.catch(() => false), late.promise])
  } finally {
    clearTimeout(timer)
  }
}

function gaveUp(push: Push): GitRefusal {
  if (push.last === 'blob-missing') return refuse('blob-missing', words.broken())
  return push.last === 'unsettled' ? refuse('upstream-failed', words.unsettled()) : refuse('branch-moved', words.busy(tries))
}

async function tryPush(push: Push): Promise<PushDone | GitRefusal | 'again'> {
  const found = await push.account.read()
  if (found !== undefined && 'code' in found) return push.unsure ? 'again' : accountRefusal(found)
  const checked = found === undefined ? undefined : checkRefsRecord(found.record, push.repo)
  if (checked !== undefined && !checked.ok) return checked
  const before = checked?.record
  const wants = push.updates.flatMap(({ commit }) => commit ?? [])
  const [state] = await Promise.all([judge(push, before), learn(push, [...wants, ...(before?.refs.map(row => row.commit) ?? [])])])
  const commits = await commitsFault(push)
  if (commits !== undefined) return commits
  if (state !== 'go') return state
  if (push.mayStill !== undefined && !(await push.mayStill(before))) return refuse('refused', words.pushRefused())

  const packed = await packFor(push, before)
  if (packed !== undefined) return packed
  const next = updatedRecord(before, { repo: push.repo, updates: push.updates, pack: push.built?.row, updatedAt: push.updatedAt })
  if (!next.ok) return next
  push.put = { before, after: next.record }
  const answer = await push.account.put(next.record, found?.cid ?? null)
  return settle(push, answer, next.record)
}

/** What the answer to a put means. A lost answer is settled by the next try, which begins by reading (STO-7). */
async function settle(push: Push, answer: PutAnswer, record: RefsRecord): Promise<PushDone | GitRefusal | 'again'> {
  const outcome = putOutcome(answer)
  if (outcome === 'done') return { ok: true, record, changed: true, mirrored: false }
  if (typeof outcome !== 'string') return outcome
  push.last = outcome
  if (outcome === 'unsettled') push.unsure = true
  if (outcome === 'blob-missing' && push.built?.file !== undefined && push.built.row !== undefined) {
    const uploaded = await uploadParts(push.built.file.path, push.account)
    if (!uploaded.ok) return uploaded
    push.built.row.parts = uploaded.parts
  }
  return 'again'
}

/** Whether the refs are where this push wants them already, may be moved there, or are somewhere else by now. */
async function judge(push: Push, before: RefsRecord | undefined): Promise<PushDone | GitRefusal | 'go'> {
  const at = new Map(before?.refs.map(row => [row.name, row.commit]))
  const first = push.expected === undefined
  push.expected ??= new Map(push.updates.map(({ name, old }) => [name, old === undefined ? (at.get(name) ?? null) : old]))
  if (before !== undefined && push.updates.every(({ name, commit }) => (at.get(name) ?? null) === commit)) {
    return { ok: true, record: before, changed: push.unsure, mirrored: false }
  }
  for (const { name, commit, force } of push.updates) {
    const present = at.get(name) ?? null
    const expected = push.expected.get(name) ?? null
    if (present === commit) continue
    if (present !== expected) {
      if (before !== undefined && (await wasDone(push, before, commit, present)))
        return { ok: true, record: before, changed: true, mirrored: false }
      return refuse('branch-moved', words.branchMoved(name))
    }
    if (first && commit !== null && present !== null && !force && !(await isForward(push.local, name, present, commit))) {
      return refuse('force-refused', words.forceRefused(name))
    }
  }
  return 'go'
}

/** After a lost answer: our pack in the list, or our commit below the ref's, means that it was made and others pushed on top (STO-7). */
async function wasDone(push: Push, record: RefsRecord, commit: string | null, present: string | null): Promise<boolean> {
  if (!push.unsure) return false
  const id = push.built?.row?.id
  if (id !== undefined && record.packs.some(row => row.id === id)) return true
  return commit !== null && present !== null && (await isBelow(push.local, commit, present))
}

function isForward(local: LocalRepository, name: string, from: string, to: string): Promise<boolean> {
  return name.startsWith('refs/tags/') ? Promise.resolve(false) : isBelow(local, from, to)
}

async function isBelow(local: LocalRepository, commit: string, tip: string): Promise<boolean> {
  const run = await runGit(['merge-base', '--is-ancestor', commit, tip], local)
  return run.code === 0
}

/**
 * Makes and uploads the pack, once: it serves every later try, unless packs that it was made against have left the record (a consolidation may
 * have dropped what it leads to); then it is made anew.
 */
async function packFor(push: Push, before: RefsRecord | undefined): Promise<GitRefusal | undefined> {
  const ids = new Set(before?.packs.map(row => row.id))
  if (push.built !== undefined && [...push.built.against].every(id => ids.has(id))) return undefined
  const wants = push.updates.flatMap(({ commit }) => commit ?? [])
  const haves = wants.length === 0 ? [] : (before?.refs ?? []).map(row => row.commit).filter(id => push.types.get(id) !== undefined)
  const made: Awaited<ReturnType<typeof buildPack>> =
    wants.length === 0 ? { ok: true } : await buildPack(push.local, push.scratch, wants, haves)
  if (!made.ok) return made
  const file = made.pack
  if (file === undefined) {
    push.built = { row: undefined, file, against: ids, haves }
    return undefined
  }
  const uploaded = await uploadParts(file.path, push.account)
  if (!uploaded.ok) return uploaded
  push.built = { row: { id: file.id, parts: uploaded.parts, objects: file.objects, bytes: file.bytes }, file, against: ids, haves }
  return undefined
}

/** Asks for the types of objects, each once in a push. */
async function learn(push: Push, ids: readonly string[]): Promise<void> {
  const fresh = [...new Set(ids)].filter(id => !push.types.has(id))
  const found = await objectTypes(push.local, fresh)
  for (const [at, id] of fresh.entries()) push.types.set(id, found[at]?.type)
}

async function commitsFault(push: Push): Promise<GitRefusal | undefined> {
  const sets = push.updates.flatMap(({ name, commit }) => (commit === null ? [] : [{ name, commit }]))
  const bad = await badTarget(push.local, sets, push.types)
  if (bad === undefined) return undefined
  const { name, commit } = bad.row
  if (bad.type === undefined) return refuse('missing-commit', words.missingCommit(commit))
  return refuse('bad-ref', words.refNoCommit(name, commit, bad.type))
}

/** Waits before the next try: longer each time, and never as long as another that waits (STO-6). */
function pause(push: Push, attempt: number): Promise<void> {
  const wait = push.wait ?? (ms => new Promise(done => setTimeout(done, ms)))
  return wait(Math.min(2000, 20 * 2 ** attempt) * (0.5 + (push.random ?? Math.random)()))
}
