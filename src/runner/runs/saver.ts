/**
 * Brings checks on file and keeps them as they are to be: by compare-and-swap, so that nothing overwrites a check that ended, and again with
 * back-off for as long as an account's server refuses or does not answer (CHK-13).
 */
import type { WriteFailure } from '../../atproto/write-outcome.ts'
import { readUsable } from '../../indexer/sources/read-about.ts'
import type { Usable } from '../../indexer/validate/usable.ts'
import type { CheckRecord } from '../../queue/facts.ts'
import { isGoing } from '../../queue/runs.ts'
import type { RunnerContext } from '../context.ts'
import { lexOfCheck } from './check-record.ts'
import type { Evidence, Filed } from './types.ts'
import type { Uploaded, Uploads } from './upload.ts'

export const checks = 'dev.knotless.check'

/** The longest that a check's end waits for its log before it is put on file without, and how long a write is tried at most. */
const bounds = {
  uploadFirstMs: 2_000,
  pauseMs: 1_000,
  longestPauseMs: 300_000,
  keepMs: 24 * 3_600_000,
  pendingBytes: 64 * 2 ** 20,
} as const

/** Operations of one write. */
const operations = 200

export interface Saver {
  /** A check that is on file is to be as its `record` says, with its evidence. Settled after the first try; what failed is tried again. */
  save(check: Filed): Promise<void>
  /** Takes a check away that is on file. Settled after the first try; what failed is tried again. */
  remove(check: Filed): Promise<void>
  /** The same of many that nothing else is written of, in as few writes as can be. */
  removeAll(checks: readonly Filed[]): Promise<void>
  /** Whether the check is on file as it is to be, its log aside. */
  isSaved(check: Filed): boolean
  /** Tries at once whatever waits for its next try. Settled when everything was tried. */
  flush(): Promise<void>
  /** Checks with something to be written. */
  readonly pending: number
}

interface Work {
  check: Filed
  remove: boolean
  since: number
  /** Ends the pause before the next try. */
  wake: () => void
  /** Whoever waits for a try that has not begun. */
  waiting: (() => void)[]
  uploading?: Promise<void> | undefined
  /** What its upload's last try came to. */
  uploaded?: Uploaded | undefined
}

export interface SaverDeps {
  ctx: Pick<RunnerContext, 'did' | 'writer' | 'reader' | 'now' | 'log'>
  uploads: Uploads
  /** Settles after so many milliseconds, or when the signal is aborted. */
  pause: (ms: number, signal: AbortSignal) => Promise<void>
}

export function createSaver({ ctx, uploads, pause }: SaverDeps): Saver {
  const works = new Map<string, Work>()

  function start(check: Filed, remove: boolean): Promise<void> {
    let work = works.get(check.rkey)
    const { promise, resolve } = Promise.withResolvers<void>()
    if (work === undefined) {
      work = { check, remove, since: ctx.now(), wake() {}, waiting: [resolve] }
      works.set(check.rkey, work)
      void drive(work)
    } else {
      work.remove ||= remove
      work.waiting.push(resolve)
      work.wake()
    }
    return promise
  }

  async function drive(work: Work): Promise<void> {
    let failures = 0
    try {
      while (isDue(work)) {
        const waiting = work.waiting.splice(0)
        const failed = await attempt(work)
        for (const tried of waiting) tried()
        if (failed === undefined) {
          failures = 0
          continue
        }
        failures++
        ctx.log.warn('check-not-written', { check: work.check.uri, code: failed.code, said: failed.message, tries: failures })
        if (ctx.now() - work.since > bounds.keepMs) return
        await rest(work, failed, failures)
      }
    } catch (error) {
      ctx.log.error('check-lost', { check: work.check.uri, error: error instanceof Error ? error.name : 'unknown' })
    } finally {
      works.delete(work.check.rkey)
      for (const tried of work.waiting.splice(0)) tried()
    }
  }

  function isDue({ check, remove }: Work): boolean {
    if (remove) return check.saved !== undefined
    return check.saved !== undefined && (check.saved.record !== check.record || check.evidence !== undefined)
  }

  /** One try. Undefined when something was done or nothing is left to be. */
  async function attempt(work: Work): Promise<WriteFailure | undefined> {
    const { check } = work
    if (work.remove) return take(check)
    const { record } = check
    const onFile = check.saved?.record === record
    if (check.evidence !== undefined && !isGoing(record) && work.uploaded?.ok !== true) {
      work.uploading ??= upload(work, check.evidence)
      // An end that is not on file yet waits for its log a moment only.
      await (onFile ? work.uploading : Promise.race([work.uploading, pause(bounds.uploadFirstMs, new AbortController().signal)]))
    }
    const uploaded = work.uploaded?.ok === true ? work.uploaded.fields : undefined
    if (!onFile || uploaded !== undefined) {
      const failed = await put(work, record, uploaded)
      if (failed !== undefined) return failed
    }
    return work.uploaded?.ok === false ? work.uploaded : undefined
  }

  async function upload(work: Work, evidence: Evidence): Promise<void> {
    work.uploaded = await uploads.upload(evidence)
    work.uploading = undefined
    if (!work.uploaded.ok && bytesPending() > bounds.pendingBytes) {
      ctx.log.warn('log-given-up', { check: work.check.uri, bytes: evidence.logBytes })
      work.check.evidence = undefined
      work.uploaded = undefined
    }
  }

  function bytesPending(): number {
    let sum = 0
    for (const { check } of works.values()) sum += (check.evidence?.log?.length ?? 0) + (check.evidence?.report?.length ?? 0)
    return sum
  }

  async function put(work: Work, record: CheckRecord, uploaded: Partial<CheckRecord> | undefined): Promise<WriteFailure | undefined> {
    const { check } = work
    if (check.saved === undefined) return undefined
    const { cid } = check.saved
    const full = lexOfCheck({ ...record, ...uploaded })
    const answer = await ctx.writer.putRecord({ collection: checks, rkey: check.rkey, record: full, swapRecord: cid })
    if (answer.ok) {
      check.saved = { cid: answer.cid, record }
      if (uploaded !== undefined) check.evidence = undefined
      return undefined
    }
    if (answer.code === 'swap-lost') return (await reread(check)) ? undefined : answer
    // Uploaded again; what the server does not take beside it, the check does without.
    if (uploaded !== undefined && answer.settled) work.uploaded = undefined
    if (uploaded !== undefined && answer.code === 'refused') check.evidence = undefined
    return answer
  }

  /** The check is another than the one written last: an earlier try of our own, or what somebody else made of it. */
  async function reread(check: Filed): Promise<boolean> {
    try {
      const read = await ctx.reader.getRecord(ctx.did, checks, check.rkey)
      const there = read && readUsable(read, ofCheck, ctx.now())
      if (there === undefined) {
        check.saved = undefined
        return true
      }
      const { value, cid } = there
      const isOurs = isGoing(value) || (value.status === check.record.status && value.finishedAt === check.record.finishedAt)
      if (isOurs) check.saved = { cid, record: value }
      else {
        check.record = value
        check.saved = { cid, record: value }
        check.evidence = undefined
      }
      return true
    } catch {
      return false
    }
  }

  async function take(check: Filed): Promise<WriteFailure | undefined> {
    const swapRecord = check.saved?.cid
    if (swapRecord === undefined) return undefined
    const answer = await ctx.writer.deleteRecord({ collection: checks, rkey: check.rkey, swapRecord })
    if (!answer.ok) return answer.code === 'swap-lost' && (await reread(check)) ? undefined : answer
    check.saved = undefined
    return undefined
  }

  async function rest(work: Work, failed: WriteFailure, failures: number): Promise<void> {
    const wait = Math.max((failed.retryAfter ?? 0) * 1000, Math.min(bounds.longestPauseMs, bounds.pauseMs * 2 ** (failures - 1)))
    const awake = new AbortController()
    work.wake = () => awake.abort()
    // Somebody came while it was tried.
    if (work.waiting.length > 0) return
    await pause(wait, awake.signal)
    work.wake = () => {}
  }

  return {
    save: check => start(check, false),
    remove: check => start(check, true),
    async removeAll(all) {
      const idle = all.filter(check => check.saved !== undefined && !works.has(check.rkey))
      for (let at = 0; at < idle.length; at += operations) {
        const some = idle.slice(at, at + operations)
        const done = await ctx.writer.applyWrites({ writes: some.map(({ rkey }) => ({ action: 'delete', collection: checks, rkey })) })
        if (done.ok) for (const check of some) check.saved = undefined
      }
      await Promise.all(all.filter(check => check.saved !== undefined).map(check => start(check, true)))
    },
    isSaved: check => check.saved?.record.status === check.record.status,
    async flush() {
      await Promise.all([...works.values()].map(work => start(work.check, work.remove)))
    },
    get pending() {
      return works.size
    },
  }
}

export function ofCheck(record: Usable): CheckRecord | undefined {
  return record.kind === 'check' ? record.value : undefined
}
