/** Checks of a group, all on file before any of its runs begins (REC-5, STO-10). */
import { makeAtUri, parseRecordKey } from '../../atproto/ids.ts'
import type { WriteFailure } from '../../atproto/write-outcome.ts'
import type { Write } from '../../atproto/writer.ts'
import { dev } from '../../lexicons/index.ts'
import { toAtUri, toDatetime } from '../../queue/answers/formats.ts'
import type { CheckRecord } from '../../queue/facts.ts'
import { isGoing } from '../../queue/runs.ts'
import { checkWords } from '../../queue/words/check.ts'
import { words as workflowWords } from '../../workflows/words.ts'
import type { Workflow } from '../../workflows/workflow.ts'
import type { RunnerContext } from '../context.ts'
import type { Chosen } from '../types.ts'
import { commonOf, cutBytes, keyOf, lexOfCheck } from './check-record.ts'
import type { Passes } from './passes.ts'
import { checks } from './saver.ts'
import type { Run, RunGroup } from './types.ts'

/** Operations and bytes of one write; the server's own bounds are 200 and 1,000,000. */
const bounds = { operations: 200, bytes: 500_000, summary: 10_000 } as const

type FilingContext = Pick<RunnerContext, 'did' | 'writer' | 'now' | 'nextKey' | 'log'>

export interface Asked {
  chosen: Chosen
  only?: readonly string[] | undefined
  /** Key of the rerun that asks for it: the runs' own TID, so that their keys say that it was answered (RUN-6). */
  rerun?: string | undefined
  isolated: boolean
}

/** Gives a group its runs, none on file yet: what runs, what is skipped, what cannot be used, and what is taken over (CHK-6, RUN-4, RUN-5). */
export async function prepare(ctx: FilingContext, group: RunGroup, asked: Asked, passes: Passes): Promise<void> {
  const { chosen, only, rerun, isolated } = asked
  const { repo, subject, trusted } = group
  const isAsked = ({ name, file }: { name: string; file: string }) => only === undefined || only.includes(name) || only.includes(file)
  const selected = chosen.selected.filter(isAsked)
  const skipped = chosen.skipped.filter(isAsked)
  const faulty = chosen.faulty.map(fault => ({ ...fault, name: fault.file === '' ? workflowWords.folder() : fault.file })).filter(isAsked)
  // Readers tell runs apart by their workflow's name, so names are what they count (CHK-12).
  const of = new Set([...selected, ...skipped, ...faulty].map(({ name }) => name)).size
  const common = commonOf(repo, subject, { of, trusted, isolated, now: ctx.now() })
  const ended = { finishedAt: toDatetime(ctx.now()) }

  const add = (file: string, fields: Pick<CheckRecord, 'workflow' | 'status'> & Partial<CheckRecord>, workflow?: Workflow) => {
    const rkey = parseRecordKey(keyOf(repo, subject, { file, tid: rerun ?? ctx.nextKey() }))
    if (rkey === undefined) throw new TypeError('a key that is none')
    const record: CheckRecord = { ...common, ...fields }
    const stage = isGoing(record) ? 'waiting' : 'ended'
    const uri = makeAtUri(ctx.did, checks, rkey)
    group.runs.push({
      rkey,
      uri,
      file,
      group,
      record,
      stage,
      abort: new AbortController(),
      ...(workflow === undefined ? {} : { workflow }),
    })
  }

  for (const workflow of selected) {
    const { name, file, first } = workflow
    const reusedFrom = rerun === undefined ? await passes.find(repo, subject, workflow) : undefined
    const flight = first && subject.of === 'pull' ? { queue: 'first' as const } : {}
    if (reusedFrom === undefined) add(file, { workflow: name, status: 'queued', ...flight }, workflow)
    else {
      const reused = { reusedFrom: toAtUri(reusedFrom), summary: checkWords.reused() }
      add(file, { workflow: name, status: 'success', ...flight, ...reused, ...ended }, workflow)
    }
  }
  for (const { name, file, first } of skipped) {
    const flight = first && subject.of === 'pull' ? { queue: 'first' as const } : {}
    add(file, { workflow: name, status: 'skipped', summary: checkWords.skipped(), ...flight, ...ended })
  }
  for (const { file, name, summary } of faulty) {
    add(file, { workflow: name, status: 'error', summary: cutBytes(summary, bounds.summary), ...ended })
  }
}

export type FiledGroup = { ok: true } | { ok: false; unfiled: string; said: string } | { ok: false; trouble: WriteFailure }

/**
 * Puts a group's checks on file, in as few writes as the server's bounds allow. `unfiled` is the workflow whose check the server does not take,
 * whoever asks (STO-10). With `trouble` some may be there or on their way: called again, the same keys are written (STO-7).
 */
export async function fileAll(ctx: FilingContext, group: RunGroup): Promise<FiledGroup> {
  const misfit = group.runs.find(({ record }) => !dev.knotless.check.main.matches(record))
  if (misfit !== undefined) return unfiled(misfit)
  for (const chunk of chunksOf(group.runs.filter(run => run.saved === undefined))) {
    const failed = await fileSome(ctx, chunk)
    if (failed === undefined) continue
    if (!isRefusal(failed)) return { ok: false, trouble: failed }
    for (const run of chunk) {
      const refused = await fileSome(ctx, [run])
      if (refused === undefined) continue
      return isRefusal(refused) && (await accountWrites(ctx, run)) ? unfiled(run) : { ok: false, trouble: refused }
    }
  }
  return { ok: true }
}

async function fileSome(ctx: FilingContext, runs: readonly Run[]): Promise<WriteFailure | undefined> {
  const records = runs.map(run => run.record)
  const writes = runs.map(({ rkey, record }): Write => ({ action: 'create', collection: checks, rkey, record: lexOfCheck(record) }))
  const done = await ctx.writer.applyWrites({ writes })
  if (!done.ok) return done
  for (const [at, run] of runs.entries()) {
    const cid = done.cids[at]
    const record = records[at]
    if (cid !== undefined && record !== undefined) run.saved = { cid, record }
  }
  return undefined
}

function isRefusal({ code, settled }: WriteFailure): boolean {
  return settled && (code === 'refused' || code === 'too-large')
}

/** Whether the account's server takes writes at all: taking away what is not there changes nothing, and is refused where every write is. */
async function accountWrites(ctx: FilingContext, { rkey }: Run): Promise<boolean> {
  return (await ctx.writer.deleteRecord({ collection: checks, rkey })).ok
}

function unfiled({ record }: Run): FiledGroup {
  return { ok: false, unfiled: record.workflow, said: checkWords.cannotBeFiled(record.workflow) }
}

function chunksOf(runs: readonly Run[]): Run[][] {
  const chunks: Run[][] = []
  let bytes = 0
  for (const run of runs) {
    const size = Buffer.byteLength(JSON.stringify(run.record)) + 1_000
    const chunk = chunks.at(-1)
    if (chunk === undefined || chunk.length >= bounds.operations || bytes + size > bounds.bytes) {
      chunks.push([run])
      bytes = size
    } else {
      chunk.push(run)
      bytes += size
    }
  }
  return chunks
}
