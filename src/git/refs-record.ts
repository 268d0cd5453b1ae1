import { isCommitId, isRefName, refName } from './ref-names.ts'
import { type GitRefusal, refuse } from './refusal.ts'
import { words } from './words.ts'

/** A blob reference as the account's server answered it, in its JSON form (STO-5). */
export interface BlobRef {
  $type: 'blob'
  ref: { $link: string }
  mimeType: string
  size: number
}

/** A ref: full name, the object it is at, and how many times a branch of that name was created. */
export interface RefRow {
  name: string
  commit: string
  generation: number
}

/** A pack cut into parts; `id` is its trailer and its file name in a mirror (STO-2). Its links lead into itself and into packs before it. */
export interface PackRow {
  id: string
  parts: BlobRef[]
  objects: number
  bytes: number
}

/**
 * A checked `dev.knotless.refs` record: the git state of a repository (STO-1). `gone` remembers the generations of deleted branches, the newest
 * last, and `floor` the highest generation that it has forgotten, so that a branch made again never gets a generation that was used.
 */
export interface RefsRecord {
  $type: 'dev.knotless.refs'
  repo: string
  refs: RefRow[]
  packs: PackRow[]
  gone?: { name: string; generation: number }[]
  floor?: number
  updatedAt: string
}

export const refsBounds = { refs: 2000, bytes: 256 * 1024, parts: 2000, partBytes: 50 * 2 ** 20, gone: 200 } as const

type Fields = { readonly [name: string]: unknown }

/**
 * Parses a refs record as it came from an account, as JSON or with decoded links: shape, names, ids, counts and sizes (STO-1, STO-11). Unknown
 * fields are dropped. `repo`: the AT-URI that it must name.
 */
export function checkRefsRecord(value: unknown, repo?: string): { ok: true; record: RefsRecord } | GitRefusal {
  if (!isFields(value) || value.$type !== 'dev.knotless.refs') return notOne('it has another type')
  const { refs, packs, updatedAt } = value
  const named = value.repo
  if (typeof named !== 'string' || !/^at:\/\/did:[a-z]+:[\w.:%-]{1,500}\/dev\.knotless\.repo\/[\w.~:-]{1,512}$/.test(named)) {
    return notOne('"repo" is no address of a repository')
  }
  if (repo !== undefined && named !== repo) return refuse('bad-record', words.otherRepository())
  if (typeof updatedAt !== 'string' || updatedAt.length > 64) return notOne('"updatedAt" is no date')
  if (!Array.isArray(refs) || !Array.isArray(packs)) return notOne('it lists no refs or no packs')
  const readRefs = checkRefs(refs)
  if (!readRefs.ok) return readRefs
  const readPacks = checkPacks(packs)
  if (!readPacks.ok) return readPacks
  const record: RefsRecord = { $type: 'dev.knotless.refs', repo: named, refs: readRefs.refs, packs: readPacks.packs, updatedAt }
  const gone = checkGone(value.gone)
  if (gone.length > 0) record.gone = gone
  if (isCount(value.floor) && value.floor > 0) record.floor = value.floor
  const bytes = recordBytes(record)
  if (bytes > refsBounds.bytes) return refuse('too-large', words.recordTooBig(bytes, refsBounds.bytes))
  return { ok: true, record }
}

/** The record's size as it is sent, in bytes of JSON. */
export function recordBytes(record: RefsRecord): number {
  return Buffer.byteLength(JSON.stringify(record))
}

/** The commit that a branch is at; undefined when the record has no such branch. */
export function branchTip(record: RefsRecord, branch: string): string | undefined {
  const name = refName(branch)
  return record.refs.find(row => row.name === name)?.commit
}

function checkRefs(rows: readonly unknown[]): { ok: true; refs: RefRow[] } | GitRefusal {
  if (rows.length > refsBounds.refs) return refuse('too-large', words.tooManyRefs(rows.length, refsBounds.refs))
  const refs: RefRow[] = []
  for (const row of rows) {
    if (!isFields(row) || typeof row.name !== 'string') return notOne('a ref has no name')
    const { name, commit, generation } = row
    if (!isRefName(name)) return refuse('bad-ref', words.badRefName(name))
    if (typeof commit !== 'string' || !isCommitId(commit)) return refuse('bad-ref', words.badCommit(name))
    if (!isCount(generation)) return notOne('a ref has no generation')
    refs.push({ name, commit, generation })
  }
  const fault = namesFault(refs.map(row => row.name))
  return fault ?? { ok: true, refs }
}

/** Names that cannot stand side by side: the same twice, or one that is a folder of another. */
export function namesFault(names: readonly string[]): GitRefusal | undefined {
  const all = new Set(names)
  if (all.size < names.length) {
    const seen = new Set<string>()
    const double = names.find(name => seen.size === seen.add(name).size)
    return refuse('bad-ref', words.doubleRef(double ?? ''))
  }
  for (const name of names) {
    for (let slash = name.lastIndexOf('/'); slash > 0; slash = name.lastIndexOf('/', slash - 1)) {
      const folder = name.slice(0, slash)
      if (all.has(folder)) return refuse('bad-ref', words.nestedRef(name, folder))
    }
  }
  return undefined
}

function checkPacks(rows: readonly unknown[]): { ok: true; packs: PackRow[] } | GitRefusal {
  const packs: PackRow[] = []
  const ids = new Set<string>()
  let count = 0
  for (const row of rows) {
    if (!isFields(row) || typeof row.id !== 'string' || !isCommitId(row.id)) return notOne('a pack has no id')
    if (ids.has(row.id)) return notOne('a pack is listed twice')
    ids.add(row.id)
    const { id, objects, bytes } = row
    if (!Array.isArray(row.parts) || row.parts.length === 0) return notOne('a pack has no parts')
    count += row.parts.length
    if (count > refsBounds.parts) return refuse('too-large', words.tooManyParts(count, refsBounds.parts))
    const parts: BlobRef[] = []
    for (const part of row.parts) {
      const ref = readBlobRef(part)
      if (ref === undefined) return notOne('a part of a pack is no blob')
      if (ref.size > refsBounds.partBytes) return refuse('too-large', words.partTooBig(ref.size, refsBounds.partBytes))
      parts.push(ref)
    }
    const sum = parts.reduce((total, part) => total + part.size, 0)
    if (!isCount(bytes) || bytes !== sum) return notOne('the parts of a pack do not add up to its size')
    if (!isCount(objects) || objects === 0 || objects > bytes) return notOne('a pack has no sane number of objects')
    packs.push({ id, parts, objects, bytes })
  }
  return { ok: true, packs }
}

/** A blob reference in JSON form, from JSON or from a decoded record whose link is an object that prints as its CID; undefined if it is none. */
export function readBlobRef(value: unknown): BlobRef | undefined {
  if (!isFields(value) || value.$type !== 'blob' || !isCount(value.size) || value.size === 0) return undefined
  if (typeof value.mimeType !== 'string' || value.mimeType.length > 256) return undefined
  const { ref } = value
  if (typeof ref !== 'object' || ref === null) return undefined
  const link = '$link' in ref ? ref.$link : String(ref)
  // A blob's CID: version 1, raw bytes, SHA-256. Nothing else can be checked against its bytes here.
  if (typeof link !== 'string' || !/^bafkrei[a-z2-7]{52}$/.test(link)) return undefined
  return { $type: 'blob', ref: { $link: link }, mimeType: value.mimeType, size: value.size }
}

function checkGone(value: unknown): { name: string; generation: number }[] {
  if (!Array.isArray(value)) return []
  return value.slice(-refsBounds.gone).flatMap((row: unknown) => {
    if (!isFields(row) || typeof row.name !== 'string' || !isRefName(row.name) || !isCount(row.generation)) return []
    return [{ name: row.name, generation: row.generation }]
  })
}

function notOne(what: string): GitRefusal {
  return refuse('bad-record', words.notARecord(what))
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
