import { rm, stat } from 'node:fs/promises'
import { accountRefusal, putOutcome, type RefsAccount } from './account.ts'
import { indexPack } from './incoming.ts'
import { type Mirror, packsOf } from './mirror.ts'
import { objectCount } from './pack-out.ts'
import { uploadParts } from './parts.ts'
import { admit, openQuarantine, packFile, type Quarantine } from './quarantine.ts'
import { checkRefsRecord, type PackRow, type RefsRecord } from './refs-record.ts'
import { recordFault } from './refs-update.ts'
import { type GitRefusal, refuse } from './refusal.ts'
import { runGit } from './run.ts'
import { words } from './words.ts'

/** More packs than this are consolidated (STO-3), down to this many. */
const packBounds = { most: 32, wanted: 16 } as const
/** The smallest size class: packs under it are always worth joining. */
const smallest = 64 * 1024

/**
 * Which packs of a list to join, as ranges of positions: neighbours below a size, the smallest power of two for which few enough are left. Bigger
 * packs are not touched, so that what moves is small against what stays; neighbours only, so that each pack's links still lead into itself and
 * packs before it. Empty when the list is short enough.
 */
export function planConsolidation(packs: readonly { bytes: number }[]): { start: number; end: number }[] {
  if (packs.length <= packBounds.most) return []
  for (let limit = smallest; ; limit *= 2) {
    const ranges = smallRanges(packs, limit)
    const left = ranges.reduce((sum, range) => sum - (range.end - range.start) + 1, packs.length)
    if (left <= packBounds.wanted) return ranges
  }
}

/** Ranges of at least two neighbours that are each smaller than `limit`. */
function smallRanges(packs: readonly { bytes: number }[], limit: number): { start: number; end: number }[] {
  const ranges: { start: number; end: number }[] = []
  let start = 0
  for (let at = 0; at <= packs.length; at++) {
    const pack = packs[at]
    if (pack !== undefined && pack.bytes < limit) continue
    if (at - start >= 2) ranges.push({ start, end: at })
    start = at + 1
  }
  return ranges
}

/**
 * Joins small packs of a record that lists more than 32, under compare-and-swap: a push that comes first wins, and nothing is changed (STO-3). The
 * mirror must hold the record's packs (`syncMirror` with `allPacks`); refused as `missing-object` when it does not. `packs`: how many there are now.
 */
export async function consolidate(input: {
  mirror: Mirror
  account: RefsAccount
  repo: string
  now: () => Date
}): Promise<{ ok: true; changed: boolean; packs: number } | GitRefusal> {
  const { mirror, account } = input
  const found = await account.read()
  if (found === undefined) return { ok: true, changed: false, packs: 0 }
  if ('code' in found) return accountRefusal(found)
  const checked = checkRefsRecord(found.record, input.repo)
  if (!checked.ok) return checked
  const { record } = checked
  const ranges = planConsolidation(record.packs)
  if (ranges.length === 0) return { ok: true, changed: false, packs: record.packs.length }
  const held = await packsOf(mirror)
  const lacking = record.packs.find(pack => !held.has(pack.id))
  if (lacking !== undefined) return refuse('missing-object', words.packNotHere(lacking.id))

  const quarantine = await openQuarantine(mirror)
  try {
    const joined = new Map<number, PackRow>()
    for (const { start, end } of ranges) {
      const made = await joinPacks(mirror, quarantine, record.packs.slice(start, end), account)
      if (!made.ok) return made
      joined.set(start, made.pack)
    }
    const packs = record.packs.flatMap((pack, at) => joined.get(at) ?? (ranges.some(row => row.start < at && at < row.end) ? [] : [pack]))
    const next: RefsRecord = { ...record, packs, updatedAt: input.now().toISOString() }
    const fault = recordFault(next)
    if (fault !== undefined) return fault
    const outcome = putOutcome(await account.put(next, found.cid))
    if (outcome === 'unsettled') return refuse('upstream-failed', words.unsettled())
    if (typeof outcome !== 'string') return outcome
    if (outcome !== 'done') return { ok: true, changed: false, packs: record.packs.length }
    for (const pack of joined.values()) if (!held.has(pack.id)) await admit(mirror, quarantine, pack.id)
    return { ok: true, changed: true, packs: packs.length }
  } finally {
    await quarantine.close()
  }
}

/** One pack of all objects of these, checked like any that comes in, and uploaded. */
async function joinPacks(
  mirror: Mirror,
  quarantine: Quarantine,
  packs: readonly PackRow[],
  account: RefsAccount,
): Promise<{ ok: true; pack: PackRow } | GitRefusal> {
  const input = packs.map(pack => `pack-${pack.id}.pack\n`).join('')
  const args = ['pack-objects', '--stdin-packs', '--delta-base-offset', '-q', `${quarantine.dir}/pack/pack`]
  const run = await runGit(args, { dir: mirror.dir, env: quarantine.env, input, timeoutMs: 600_000 })
  const id = run.stdout.toString('latin1').trim()
  if (run.code !== 0 || id === '') return refuse('failed', words.gitFailed('join packs'))
  const path = packFile(quarantine, id)
  const bytes = (await stat(path)).size
  await Promise.all(['idx', 'rev'].map(end => rm(path.replace(/pack$/, end), { force: true })))
  const fault = await indexPack(mirror.dir, quarantine, { id, bytes }, {})
  if (fault !== undefined) return fault
  const uploaded = await uploadParts(path, account)
  if (!uploaded.ok) return uploaded
  return { ok: true, pack: { id, parts: uploaded.parts, objects: await objectCount(path), bytes } }
}
