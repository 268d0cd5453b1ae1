/** Runs and their checks as records: filed, begun, ended, cancelled, taken away. */
import { setTimeout as wait } from 'node:timers/promises'
import { cidForLex } from '@atproto/lex-cbor'
import { LRUCache } from 'lru-cache'
import type { AtUri } from '../../atproto/ids.ts'
import { isTid } from '../../queue/tid.ts'
import { checkWords } from '../../queue/words/check.ts'
import type { RunnerContext } from '../context.ts'
import type { Executor, Ground, Group, Runs, Slots, Subject } from '../types.ts'
import { cancelledRecord, lexOfCheck, restartedRecord, runNow } from './check-record.ts'
import { type Counts, createCounter } from './counts.ts'
import { fileAll, prepare } from './filing.ts'
import { createGroups, hasEnded, newestOf } from './groups.ts'
import { createPasses } from './passes.ts'
import { perform } from './perform.ts'
import { pruneChecks, pruning } from './prune.ts'
import { createRecovery } from './recover.ts'
import { checks, createSaver } from './saver.ts'
import { takeCache } from './take-cache.ts'
import type { Run, RunGroup } from './types.ts'
import { createUploads } from './upload.ts'

export interface RunsOptions {
  ctx: RunnerContext
  executor: Executor
  slots: Slots
  /** Rings a repository's door (NOT-5). */
  ring: (repo: AtUri, why: string) => void
  /** Output while a run goes on: its check, where the piece starts in bytes, the piece, and the repository. */
  live?: ((check: string, offset: number, text: string, repo: AtUri) => void) | undefined
  /** Secrets of a repository by name, for pushes only. */
  secrets?: ((repo: AtUri) => Readonly<Record<string, string>>) | undefined
  /** Settles after so many milliseconds, or when the signal is aborted. */
  pause?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined
}

export interface OwnRuns extends Runs {
  /** Whether every end of a group is on file, waited for at most so many milliseconds: who lands through a gateway shows it these checks (GWY-11). */
  recorded(group: string, withinMs: number): Promise<boolean>
  /** RUN-2: whether a pull was run at this head, pre-flights aside: filed here, left by an earlier process (`recover`), or noted. */
  ran(pull: string, head: string): boolean
  /** Notes a head that cannot be run, such as one in conflict with its branch, as run. */
  noteRan(pull: string, head: string): void
  /** Ends what runs now, and whatever else waits: its checks have no verdict, as after a restart (MOV-6). Settled when every process has ended. */
  kill(): Promise<void>
  /** For metrics. */
  counts(): Counts
}

/** How long a group that could not be filed is kept for another try. */
const unsettledMs = 120_000

/** Heads of pulls that are remembered as run. */
const mostRan = 20_000

/** How long a cancelled run may take to end before its check says so all the same. */
const cancelMs = 5_000

export function createRuns(options: RunsOptions): OwnRuns {
  const { ctx, executor, slots, ring } = options
  const pause = options.pause ?? sleep
  const leftOut = (what: string, bytes: number) => ctx.log.warn('evidence-left-out', { what, bytes })
  const saver = createSaver({ ctx, uploads: createUploads(ctx.writer, leftOut), pause })
  const passes = createPasses(ctx, executor.isolated)
  const groups = createGroups()
  const counter = createCounter()
  /** Groups that could not be filed for a trouble that passes: their keys are kept (STO-7). */
  const unsettled = new Map<string, { group: RunGroup }>()
  /** Runs that an executor has. */
  const going = new Set<Promise<void>>()
  const tookCaches = new WeakSet<RunGroup>()
  const ran = new LRUCache<string, true>({ max: mostRan })
  const prunedAt = new Map<string, number>()
  const recovery = createRecovery({
    ctx,
    saver,
    passes,
    own: () => new Set([...groups.all()].flatMap(group => group.runs.map(run => run.uri))),
    ranAt: (pull, head) => void ran.set(`${pull} ${head}`, true),
  })
  let stopping = false

  async function file(ground: Ground, asked: Parameters<Runs['file']>[1]): ReturnType<Runs['file']> {
    if (stopping) return { ok: false, said: checkWords.stopping() }
    const place = JSON.stringify([ground.repo, asked.subject, asked.only, asked.asked])
    const kept = unsettled.get(place)
    unsettled.delete(place)
    const group = kept?.group ?? (await prepared(ground, asked))
    const done = await fileAll(ctx, group)
    if (done.ok && !stopping) {
      groups.add(group)
      for (const run of group.runs) if (run.stage === 'ended') passes.note(run)
      supersede(group)
      const { subject } = group
      if (subject.of === 'pull' && asked.only === undefined) ran.set(`${subject.pull} ${subject.head}`, true)
      return { ok: true, group: { id: group.id, subject: group.subject } }
    }
    if ('trouble' in done) {
      // A rerun that an earlier process answered: its runs have these keys.
      if (done.trouble.code !== 'key-taken') void keepFor(place, { group })
      return { ok: false, said: done.trouble.message }
    }
    await discard(group)
    if (done.ok) return { ok: false, said: checkWords.stopping() }
    return { ok: false, unfiled: done.unfiled, said: done.said }
  }

  /** Keeps a group for another try; what nobody tries again is taken away, lest it read as being checked. */
  async function keepFor(place: string, kept: { group: RunGroup }): Promise<void> {
    unsettled.set(place, kept)
    await pause(unsettledMs, new AbortController().signal)
    if (unsettled.get(place) !== kept) return
    unsettled.delete(place)
    await discard(kept.group)
  }

  /** Takes away what of a group is on file, or may be: nothing else that has its keys. */
  async function discard(group: RunGroup): Promise<void> {
    const away = async (run: Run) => {
      if (run.saved !== undefined) return saver.remove(run)
      const swapRecord = (await cidForLex(lexOfCheck(run.record))).toString()
      await ctx.writer.deleteRecord({ collection: checks, rkey: run.rkey, swapRecord })
    }
    await Promise.all(group.runs.map(away))
  }

  async function prepared(ground: Ground, asked: Parameters<Runs['file']>[1]): Promise<RunGroup> {
    const group: RunGroup = {
      id: ctx.nextKey(),
      repo: ground.repo,
      subject: asked.subject,
      trusted: asked.trusted,
      gitDir: asked.gitDir,
      others: ground.view.roles.runners.filter(did => did !== ctx.did),
      runs: [],
    }
    const key = asked.asked?.slice(asked.asked.lastIndexOf('/') + 1)
    const rerun = key !== undefined && isTid(key) ? key : undefined
    await prepare(ctx, group, { chosen: asked.chosen, only: asked.only, rerun, isolated: executor.isolated }, passes)
    return group
  }

  /** RUN-2: what is checked now is newer than what was. CHK-10: batches never end one another. */
  function supersede(group: RunGroup): void {
    for (const other of groups.all()) {
      if (other === group || other.repo !== group.repo || !isOlder(other.subject, group.subject)) continue
      for (const run of other.runs) if (run.workflow?.supersede === 'cancel') void end(run, checkWords.superseded())
    }
  }

  function begin(id: string, as: Parameters<Runs['begin']>[1]): void {
    if (stopping) return
    for (const group of groups.named(id)) {
      group.class = as
      const waiting = group.runs.filter(run => run.stage === 'waiting')
      for (const run of waiting) {
        run.asked ??= slots.ask({ class: as, signal: run.abort.signal, work: () => work(run) })
      }
      if (waiting.length === 0) ring(group.repo, 'runs-ended')
      if (tookCaches.has(group)) continue
      tookCaches.add(group)
      for (const run of group.runs) {
        const taking = takeCache({ ctx, executor }, run)
        going.add(taking)
        void taking.finally(() => going.delete(taking))
      }
    }
  }

  function work(run: Run): Promise<void> {
    const done = perform(
      { ...options, secrets: options.secrets ?? (() => ({})), saver, counter, passes, pause, stopping: () => stopping },
      run,
    )
    going.add(done)
    return done.finally(() => going.delete(done))
  }

  /** Ends a run that has not ended; the first cause stays (MOV-4). Settled when its check was tried to be written. */
  async function end(run: Run, cause: string): Promise<void> {
    if (run.stage !== 'waiting' && run.stage !== 'running') return
    const wasRunning = run.stage === 'running'
    run.stage = 'ended'
    run.record = cancelledRecord(run.record, cause, ctx.now())
    counter.ended('cancelled')
    run.abort.abort()
    // One that runs is written with its log, once its process tree has ended.
    if (wasRunning)
      void (async () => {
        await Promise.race([run.asked?.ended, pause(cancelMs, new AbortController().signal)])
        await saver.save(run)
      })()
    else await saver.save(run)
  }

  async function cancel(id: string, cause: string): Promise<void> {
    const runs = groups.named(id).flatMap(group => group.runs)
    await Promise.all(runs.map(run => end(run, cause)))
  }

  async function stop(): Promise<void> {
    stopping = true
    const waiting = [...groups.all()].flatMap(group => group.runs).filter(run => run.stage === 'waiting')
    for (const run of waiting) run.abort.abort()
    await Promise.all([saver.removeAll(waiting), ...[...unsettled.values()].map(({ group }) => discard(group))])
    unsettled.clear()
  }

  async function kill(): Promise<void> {
    stopping = true
    for (const run of [...groups.all()].flatMap(group => group.runs)) {
      if (run.stage === 'running') {
        run.stage = 'ended'
        run.record = restartedRecord(run.record, ctx.now())
        counter.ended('error-restart')
      }
      run.abort.abort()
    }
    await idle()
  }

  async function idle(): Promise<void> {
    while (going.size > 0) await Promise.all(going)
    // An end is written first, then its log where that took longer.
    for (let round = 0; round < 3 && saver.pending > 0; round++) await saver.flush()
  }

  async function prune(ground: Ground, keep: ReadonlySet<string>): Promise<void> {
    if (ctx.now() - (prunedAt.get(ground.repo) ?? 0) < pruning.everyMs) return
    prunedAt.set(ground.repo, ctx.now())
    const inFlight = [...groups.all()].filter(group => !hasEnded(group)).map(({ subject }) => (subject.of === 'batch' ? subject.tip : ''))
    for (const uri of await pruneChecks(ctx, ground, new Set([...keep, ...inFlight]))) passes.forget(uri)
  }

  async function recorded(id: string, withinMs: number): Promise<boolean> {
    const isThere = () => groups.named(id).every(group => group.runs.every(run => run.stage !== 'ended' || saver.isSaved(run)))
    const over = new AbortController()
    const late = pause(withinMs, over.signal).then(() => true)
    while (!isThere() && !(await Promise.race([late, saver.flush().then(() => false)]))) {
      if (isThere()) break
      await Promise.race([late, pause(100, over.signal)])
    }
    over.abort()
    return isThere()
  }

  return {
    file,
    begin,
    promote(id, to) {
      for (const group of groups.named(id)) {
        group.class = to
        for (const run of group.runs) run.asked?.move(to)
      }
    },
    cancel,
    of: id => newestOf(groups.named(id)).map(runNow),
    flightOf: (pull, head, tip): Group | undefined => groups.flightOf(pull, head, tip),
    recover: recovery.recover,
    prune,
    ran: (pull, head) => ran.has(`${pull} ${head}`),
    noteRan: (pull, head) => void ran.set(`${pull} ${head}`, true),
    stop,
    kill,
    idle,
    recorded,
    counts: () => ({ ...counter.counts(), unwritten: saver.pending }),
  }
}

function isOlder(other: Subject, subject: Subject): boolean {
  if (subject.of === 'pull') return other.of === 'pull' && other.pull === subject.pull && other.head !== subject.head
  return subject.of === 'push' && other.of === 'push' && other.branch === subject.branch && other.commit !== subject.commit
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal, ref: false }).catch(() => {})
}
