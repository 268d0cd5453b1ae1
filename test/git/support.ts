import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { PutAnswer, RefsAccount } from '../../src/git/account.ts'
import { gitEnv } from '../../src/git/env.ts'
import type { FetchBlob } from '../../src/git/incoming.ts'
import { type Mirror, openMirror } from '../../src/git/mirror.ts'
import { blobCid } from '../../src/git/parts.ts'
import type { BlobRef, PackRow, RefsRecord } from '../../src/git/refs-record.ts'

export const repoUri = 'at://did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/dev.knotless.repo/orchard'
export const at = new Date('2026-11-30T10:00:00.000Z')

/** A directory that is gone after the test. */
export function tempDir(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'knotless-git-test-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** The output of git in a git directory, trimmed; throws when it fails. */
export function git(dir: string, args: string[], input?: string | Uint8Array): string {
  return gitBytes(dir, args, input).toString('utf8').trim()
}

export function gitBytes(dir: string, args: string[], input?: string | Uint8Array): Buffer {
  const env = gitEnv({
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.com',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.com',
    GIT_ALLOW_PROTOCOL: 'file',
  })
  return execFileSync('git', [`--git-dir=${dir}`, ...args], {
    env,
    input: input ?? '',
    maxBuffer: 2 ** 30,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
}

/** A bare repository to make commits in. */
export function newRepo(t: TestContext): string {
  const dir = join(tempDir(t), 'work.git')
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', dir], { env: gitEnv() })
  return dir
}

type Content = string | Uint8Array | { mode: string; content: string | Uint8Array } | { mode: string; id: string }

let clock = 1_790_000_000

/** Commits files (the whole tree) and moves the branch; answers the commit. `parents`: by default the branch's tip. */
export function commit(
  dir: string,
  branch: string,
  files: { [path: string]: Content },
  options: { parents?: string[]; message?: string; author?: string } = {},
): string {
  const tip = tryGit(dir, ['rev-parse', '--verify', '-q', `refs/heads/${branch}`])
  const parents = options.parents ?? (tip === undefined ? [] : [tip])
  const tree = writeTree(dir, files)
  clock += 60
  const who = options.author ?? 'Ada <ada@example.com>'
  const lines = [
    `tree ${tree}`,
    ...parents.map(id => `parent ${id}`),
    `author ${who} ${clock} +0200`,
    `committer ${who} ${clock} +0200`,
    '',
    options.message ?? `Change ${branch}`,
    '',
  ]
  const id = git(dir, ['hash-object', '-t', 'commit', '-w', '--stdin'], lines.join('\n'))
  git(dir, ['update-ref', `refs/heads/${branch}`, id])
  return id
}

/** Writes a tree of paths; folders are made from them. */
export function writeTree(dir: string, files: { [path: string]: Content }): string {
  const index = join(dir, `index-${Object.keys(files).length}-${clock}-${Math.random()}`)
  const lines = Object.entries(files).map(([path, content]) => {
    const entry = typeof content === 'string' || content instanceof Uint8Array ? { mode: '100644', content } : content
    const id = 'id' in entry ? entry.id : writeBlob(dir, entry.content)
    return `${entry.mode} ${id}\t${path}\0`
  })
  const env = { ...gitEnv(), GIT_INDEX_FILE: index }
  execFileSync('git', [`--git-dir=${dir}`, 'update-index', '-z', '--index-info'], { env, input: lines.join('') })
  const tree = execFileSync('git', [`--git-dir=${dir}`, 'write-tree', '--missing-ok'], { env })
    .toString()
    .trim()
  rmSync(index, { force: true })
  return tree
}

const written = new Map<string, string>()

function writeBlob(dir: string, content: string | Uint8Array): string {
  const key = `${dir} ${createHash('sha1').update(content).digest('hex')}`
  const id = written.get(key) ?? git(dir, ['hash-object', '-w', '--stdin'], content)
  written.set(key, id)
  return id
}

function tryGit(dir: string, args: string[]): string | undefined {
  try {
    return git(dir, args)
  } catch {
    return undefined
  }
}

/** Blobs by CID, as an account would serve them. */
export type Blobs = Map<string, Uint8Array>

export function storeBlob(blobs: Blobs, bytes: Uint8Array): BlobRef {
  const cid = blobCid(bytes)
  blobs.set(cid, bytes)
  return { $type: 'blob', ref: { $link: cid }, mimeType: 'application/octet-stream', size: bytes.length }
}

/** A pack's row, its bytes stored as parts of at most `partBytes`. */
export function packRow(blobs: Blobs, pack: Uint8Array, partBytes = 2 ** 20): PackRow {
  const bytes = Buffer.from(pack)
  const parts: BlobRef[] = []
  for (let start = 0; start < bytes.length; start += partBytes) parts.push(storeBlob(blobs, bytes.subarray(start, start + partBytes)))
  return { id: bytes.subarray(-20).toString('hex'), parts, objects: bytes.readUInt32BE(8), bytes: bytes.length }
}

/** The pack of what `wants` lead to and `haves` do not. */
export function makePack(dir: string, wants: string[], haves: string[] = []): Buffer {
  const input = `${[...wants, ...haves.map(id => `^${id}`)].join('\n')}\n`
  return gitBytes(dir, ['pack-objects', '--revs', '--delta-base-offset', '--stdout', '-q'], input)
}

/** A pack of exactly these objects, whatever they lead to. */
export function packOf(dir: string, ids: string[]): Buffer {
  return gitBytes(dir, ['pack-objects', '--stdout', '-q'], `${ids.join('\n')}\n`)
}

export function recordOf(refs: { [name: string]: string }, packs: PackRow[]): RefsRecord {
  const rows = Object.entries(refs).map(([name, id]) => ({ name, commit: id, generation: 1 }))
  return { $type: 'dev.knotless.refs', repo: repoUri, refs: rows, packs, updatedAt: at.toISOString() }
}

/** A record of all branches and tags of a repository, with one pack. */
export function recordOfRepo(dir: string, blobs: Blobs): RefsRecord {
  const lines = git(dir, ['for-each-ref', '--format=%(objectname) %(refname)']).split('\n')
  const refs = Object.fromEntries(lines.map(line => [line.slice(41), line.slice(0, 40)]))
  return recordOf(refs, [packRow(blobs, makePack(dir, Object.values(refs)))])
}

/** Serves blobs in small chunks; a missing one answers as an account's server does. `seen` collects the CIDs asked for. */
export function blobsFrom(blobs: Blobs, seen: string[] = []): FetchBlob {
  return cid => {
    seen.push(cid)
    const bytes = blobs.get(cid)
    return bytes === undefined ? Promise.resolve({ code: 'blob-missing', message: 'Blob not found' }) : chunks(bytes)
  }
}

async function* chunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += 60_000) yield bytes.subarray(start, start + 60_000)
}

export async function newMirror(t: TestContext): Promise<Mirror> {
  return openMirror(join(tempDir(t), 'mirror.git'))
}

/** Everything that a mirror consists of, as one digest per file: two of them are equal when nothing at all has changed. */
export function snapshot(dir: string): { [path: string]: string } {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  const rows = files.map(entry => {
    const path = join(entry.parentPath, entry.name)
    return [path.slice(dir.length), createHash('sha256').update(readFileSync(path)).digest('hex')] as const
  })
  return Object.fromEntries(rows.sort(([a], [b]) => (a < b ? -1 : 1)))
}

export function dirSize(dir: string): number {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  return files.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}

/**
 * An account in memory that behaves as the reference server was measured to: compare-and-swap by CID, an identical put is a no-op whatever it
 * names, blobs live while a record names them and are gone at once after, and an upload waits to be named.
 */
export class MemoryAccount implements RefsAccount {
  record: RefsRecord | undefined
  readonly named: Blobs = new Map()
  readonly uploaded: Blobs = new Map()
  blobLimit = 100 * 2 ** 20
  puts = 0
  partLimit?: number
  /** Called before each put and each upload: changes the world meanwhile, or answers instead. */
  beforePut: (() => PutAnswer | undefined | Promise<PutAnswer | undefined>) | undefined
  afterPut: (() => PutAnswer | undefined) | undefined

  async read() {
    return this.record === undefined ? undefined : { record: structuredClone(this.record), cid: this.cid() }
  }

  async put(record: RefsRecord, swapCid: string | null): Promise<PutAnswer> {
    this.puts += 1
    const instead = await this.beforePut?.()
    if (instead !== undefined) return instead
    const value = structuredClone(record)
    if (JSON.stringify(value) === JSON.stringify(this.record)) return this.afterPut?.() ?? 'done'
    const wanted = value.packs.flatMap(pack => pack.parts.map(part => part.ref.$link))
    if (wanted.some(cid => !this.named.has(cid) && !this.uploaded.has(cid))) return 'blob-missing'
    if ((this.record === undefined ? null : this.cid()) !== swapCid) return 'swap-lost'
    for (const cid of wanted) {
      const bytes = this.uploaded.get(cid)
      if (bytes !== undefined) this.named.set(cid, bytes)
      this.uploaded.delete(cid)
    }
    for (const cid of this.named.keys()) if (!wanted.includes(cid)) this.named.delete(cid)
    this.record = value
    return this.afterPut?.() ?? 'done'
  }

  async upload(bytes: Uint8Array) {
    if (bytes.length > this.blobLimit) return 'too-large' as const
    return storeBlob(this.uploaded, Uint8Array.from(bytes))
  }

  cid(): string {
    return blobCid(Buffer.from(JSON.stringify(this.record)))
  }

  fetch(seen: string[] = []): FetchBlob {
    return (cid, size, signal) => blobsFrom(this.named, seen)(cid, size, signal)
  }
}
