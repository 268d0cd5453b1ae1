/**
 * Keys of check records (CHK-3, STO-10): `queue:`, `pull:` or `push:`, a digest of what is checked (repository and ref, or the pull), tip or head,
 * base, a digest of the workflow's file name, and a TID for each run, with `:` between them. All keys of a branch start alike, and so do those of
 * one tip on one base, so that `listRecords` finds them with a cursor; a rerun never overwrites a run before it. Pushes have a beginning of their
 * own: what a scan of `queue:` finds are batches.
 */
import { createHash } from 'node:crypto'
import { isTid } from '../queue/tid.ts'

/** What a check of a batch or of a push is about: the repository's AT-URI with a DID, and the full ref name. */
export interface QueueScope {
  repo: string
  ref: string
}

/** What the key of a check says. `of` and `workflow` are digests. */
export interface CheckKey {
  kind: 'queue' | 'pull' | 'push'
  of: string
  /** The tip of the stack, the pull's head, or the commit that was pushed. */
  tip: string
  base: string
  workflow: string
  tid: string
}

/** One run: where it was checked, by which workflow (`file`: its file's name, such as `test.yml`), and the run's own TID. */
export interface CheckRun {
  tip: string
  base: string
  file: string
  tid: string
}

/** The key of a batch's run. */
export function queueCheckKey(scope: QueueScope, run: CheckRun): string {
  return `${queueCheckPrefix(scope, run)}${digest(run.file)}:${run.tid}`
}

/** The key of a pull's own run; `pull` is its AT-URI. */
export function pullCheckKey(pull: string, run: CheckRun): string {
  return `${pullCheckPrefix(pull, run)}${digest(run.file)}:${run.tid}`
}

/** The key of a push's run; `tip` is where the branch is then, `base` where it was: for a branch that was made by it, `noCommit`. */
export function pushCheckKey(scope: QueueScope, run: CheckRun): string {
  return `${pushCheckPrefix(scope, run)}${digest(run.file)}:${run.tid}`
}

/** What stands for the commit before a branch was made. */
export const noCommit = '0'.repeat(40)

/** How the keys of every batch's checks on a branch start, or with `at` those of one tip on one base. Ends with `:`. */
export function queueCheckPrefix({ repo, ref }: QueueScope, at?: { tip: string; base: string }): string {
  return prefix('queue', `${repo}\n${ref}`, at)
}

/** How the keys of a pull's checks start, or with `at` those of one head on one tip. Ends with `:`. */
export function pullCheckPrefix(pull: string, at?: { tip: string; base: string }): string {
  return prefix('pull', pull, at)
}

/** How the keys of the checks of every push to a branch start, or with `at` those of one push. Ends with `:`. */
export function pushCheckPrefix({ repo, ref }: QueueScope, at?: { tip: string; base: string }): string {
  return prefix('push', `${repo}\n${ref}`, at)
}

function prefix(kind: CheckKey['kind'], what: string, at: { tip: string; base: string } | undefined): string {
  return `${kind}:${digest(what)}:${at === undefined ? '' : `${at.tip}:${at.base}:`}`
}

const kinds = ['queue', 'pull', 'push'] as const
const shape = /^(queue|pull|push):([a-z2-7]{26}):([0-9a-f]{40}):([0-9a-f]{40}):([a-z2-7]{26}):([a-z2-7]{13})$/

/** The parts of a check's key; undefined for what is none. */
export function parseCheckKey(key: string): CheckKey | undefined {
  const [, named, of, tip, base, workflow, tid] = shape.exec(key) ?? []
  const kind = kinds.find(one => one === named)
  if (kind === undefined || of === undefined || tip === undefined || base === undefined || workflow === undefined || tid === undefined)
    return undefined
  return isTid(tid) ? { kind, of, tip, base, workflow, tid } : undefined
}

const letters = 'abcdefghijklmnopqrstuvwxyz234567'

/** The first 16 bytes of the SHA-256 of a text, in base32: 26 lower-case letters and digits, no padding. */
export function digest(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, 16)
  let written = ''
  let held = 0
  let bits = 0
  for (const byte of bytes) {
    held = (held << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      written += letters[(held >> bits) & 31]
    }
    held &= (1 << bits) - 1
  }
  return bits === 0 ? written : written + letters[(held << (5 - bits)) & 31]
}
