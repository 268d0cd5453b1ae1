import { boundsFault, boundsFaults, emptyTree } from './bounds.ts'
import { indexFault, oversized } from './incoming.ts'
import type { Mirror } from './mirror.ts'
import { type ObjectsPlace, objectTypes } from './objects.ts'
import { outBounds } from './pack-out.ts'
import { markChecked } from './pack-proof.ts'
import { openQuarantine, type Quarantine } from './quarantine.ts'
import { isCommitId } from './ref-names.ts'
import { type GitRefusal, refuse } from './refusal.ts'
import { runGit } from './run.ts'
import { words } from './words.ts'

/** Limits on a pack that comes in by a push. */
export interface ReceiveLimits {
  /** Bytes of the pack; default 1 GiB. */
  bytes?: number
  /** Bytes of one object; default 100 MiB (STO-2). */
  objectBytes?: number
  /** What the indexing may take: address space in KiB (1,500,000), seconds of CPU (60). */
  memoryKiB?: number
  cpuSeconds?: number
  /** Milliseconds for all of it, the upload included; default 30 min. */
  timeoutMs?: number
  signal?: AbortSignal | undefined
  /** What the refs are to be at, to be walked within bounds as `checkHeads` does: the first fault refuses the pack. */
  heads?: readonly { old: string | null; new: string }[]
  /** Commits that the mirror is known to have. */
  known?: ReadonlySet<string>
}

/** A pack that was taken in. `commits` are those in it, as far as they are few. */
export interface Received {
  ok: true
  quarantine: Quarantine
  commits: ReadonlySet<string>
}

/** More commits of a pack than this are not remembered. */
const mostCommits = 10_000

/**
 * Takes a pack of a push, thin or not, into a quarantine before the mirror's objects, under git's strict check and with bounded memory and CPU
 * (STO-11): every object well formed and within its bound, every link leading to an object of the quarantine or the mirror. The mirror is not
 * touched. The quarantine is the caller's to close; of a refused pack none is left. A pack without a byte, as of a push that only deletes, is an
 * empty quarantine. Commits that are not among `heads` are to be looked at by `checkHeads` before anything walks their files.
 */
export async function receivePack(
  mirror: Mirror,
  pack: AsyncIterable<Uint8Array>,
  limits: ReceiveLimits = {},
): Promise<Received | GitRefusal> {
  const quarantine = await openQuarantine(mirror)
  const commits = new Set<string>()
  let fault: GitRefusal | undefined = refuse('failed', words.gitFailed('index a pack'))
  try {
    fault = await takeIn(mirror, quarantine, pack, limits, commits)
  } finally {
    if (fault !== undefined) await quarantine.close()
  }
  return fault ?? { ok: true, quarantine, commits }
}

async function takeIn(
  mirror: Mirror,
  quarantine: Quarantine,
  pack: AsyncIterable<Uint8Array>,
  limits: ReceiveLimits,
  commits: Set<string>,
): Promise<GitRefusal | undefined> {
  const source = pack[Symbol.asyncIterator]()
  let first: IteratorResult<Uint8Array>
  try {
    do first = await source.next()
    while (!first.done && first.value.length === 0)
  } catch {
    return refuse('bad-pack', words.uploadCutOff())
  }
  const place = { dir: mirror.dir, env: quarantine.env, signal: limits.signal }
  const heads = limits.heads ?? []
  if (first.done) return firstFault(await checkHeads(place, heads))
  const bytes = limits.bytes ?? 2 ** 30
  const run = await runGit(['index-pack', '--stdin', '--fix-thin', '--strict', '--threads=2', `--max-input-size=${bytes}`], {
    dir: mirror.dir,
    env: quarantine.env,
    input: resumed(first.value, source),
    ulimit: { memoryKiB: limits.memoryKiB ?? 1_500_000, cpuSeconds: limits.cpuSeconds ?? 60 },
    timeoutMs: limits.timeoutMs ?? 1_800_000,
    signal: limits.signal,
  })
  if (run.ended === 'input' || run.ended === 'aborted') return refuse('bad-pack', words.uploadCutOff())
  if (run.code !== 0) {
    if (/exceeds maximum allowed size/.test(run.stderr)) return refuse('too-large', words.packTooBig(bytes))
    return indexFault(run, undefined)
  }
  const most = limits.objectBytes ?? outBounds.objectBytes
  const note = (id: string, type: string) => {
    if (type === 'commit' && commits.size < mostCommits) commits.add(id)
  }
  // Nearly always there is one head, a commit of the pack on one of the mirror: its files are walked while the objects are listed.
  const [only, more] = heads
  const near = more === undefined && only?.old != null && limits.known?.has(only.old) === true ? { ...only, old: only.old } : undefined
  const [big, walked] = await Promise.all([
    oversized(mirror.dir, quarantine, most, limits.signal, note),
    near && boundsFault(place, near.old, near.new),
  ])
  if (big !== undefined) return big.refusal
  if (most <= outBounds.objectBytes) await markChecked(quarantine, run.stdout.toString('latin1').split('\t')[1]?.trim() ?? '')
  return near !== undefined && commits.has(near.new) ? walked : firstFault(await checkHeads(place, heads))
}

function firstFault(faults: readonly (GitRefusal | undefined)[]): GitRefusal | undefined {
  return faults.find(fault => fault !== undefined)
}

/** The stream from its first chunk on. Stopping early leaves the rest to whoever gave it, so that an answer can still be sent. */
function resumed(first: Uint8Array, source: AsyncIterator<Uint8Array>): AsyncIterable<Uint8Array> {
  let begun = false
  return {
    [Symbol.asyncIterator]: () => ({
      next() {
        if (begun) return source.next()
        begun = true
        return Promise.resolve({ done: false, value: first })
      },
    }),
  }
}

/**
 * Why each head may not be taken (STO-11), in the order asked: it is not there, or what it changes against `old` is out of bounds. `new` is a
 * commit or a tag of one. `old`: where the ref was, or for a new one any commit of the mirror that it is close to; null walks all of its files.
 */
export async function checkHeads(
  place: ObjectsPlace,
  heads: readonly { old: string | null; new: string }[],
): Promise<(GitRefusal | undefined)[]> {
  if (heads.length === 0) return []
  const [only] = heads
  if (heads.length === 1 && only !== undefined && only.old !== null && isCommitId(only.old) && isCommitId(only.new)) {
    // Nearly always these are commits that are there: the files are walked while that is looked up.
    const [[head, base], fault] = await Promise.all([objectTypes(place, [only.new, only.old]), boundsFault(place, only.old, only.new)])
    if (head?.type === 'commit' && base?.type === 'commit') return [fault]
  }
  const found = await objectTypes(
    place,
    heads.flatMap(row => [peel(row.new), row.old === null ? 'none' : peel(row.old)]),
  )
  return walkHeads(
    place,
    heads.map((row, at) => ({ named: row.new, head: found[2 * at]?.id, base: found[2 * at + 1]?.id })),
  )
}

async function walkHeads(
  place: ObjectsPlace,
  heads: readonly { named: string; head: string | undefined; base: string | undefined }[],
): Promise<(GitRefusal | undefined)[]> {
  const faults = heads.map((row): GitRefusal | undefined => refuse('missing-commit', words.missingCommit(row.named)))
  const toWalk: { at: number; base: string; head: string }[] = []
  let within: string | undefined
  for (const [at, row] of heads.entries()) {
    const { head } = row
    // All files of one head are walked where there is nothing else; the others are close to that one, or are walked as far as they are not.
    const base = row.base ?? within
    if (head === undefined) continue
    if (base !== undefined) {
      toWalk.push({ at, base, head })
      continue
    }
    faults[at] = await boundsFault(place, emptyTree, head)
    if (faults[at] === undefined) within = head
  }
  const walked = await boundsFaults(place, toWalk)
  for (const [n, { at }] of toWalk.entries()) faults[at] = walked[n]
  return faults
}

function peel(id: string): string {
  return isCommitId(id) ? `${id}^{commit}` : 'none'
}
