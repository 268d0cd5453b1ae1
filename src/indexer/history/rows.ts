/** Rows of what is kept, read as plain data, and plain data as rows. */
import { z } from 'zod'
import type { KeptBatch, KeptRun } from '../../queue/stats/kept.ts'
import type { PastRunTable } from '../schema.ts'

const texts = z.array(z.string())
const memberList = z.array(z.object({ pull: z.string(), head: z.string(), commit: z.string() }))

/**
 * Of a row `b` of past_batch: that nothing under it came to another end than passing. What stands on a batch that did not is dropped with it, and its
 * verdict is thrown away (FAI-9); on one that goes on it is not decided yet. The signs keep the search to the index of tips.
 */
export const isDecided = `not exists (select 1 from past_batch u where u.repo = b.repo and u.tip = b.base and +u.branch = b.branch
  and +u.did = b.did and u.id <> b.id and u.outcome is not 'passed')`

/** A run as it was kept. */
export function runOf(row: PastRunTable): KeptRun {
  return {
    uri: row.uri,
    workflow: row.workflow,
    state: row.state,
    verdict: row.verdict ?? undefined,
    filedAt: row.filed_at,
    startedAt: row.started_at ?? undefined,
    endedAt: row.ended_at,
    cause: row.cause ?? undefined,
    retried: row.retried === null ? [] : textsOf(row.retried),
  }
}

/** A JSON array of texts. */
export function textsOf(json: string): string[] {
  return texts.parse(JSON.parse(json))
}

/** The members of a batch, from its row. */
export function membersOf(json: string): { pull: string; head: string; commit: string }[] {
  return memberList.parse(JSON.parse(json))
}

/** Where a batch is told from others: its runner's account is `did`. */
export interface Place {
  repo: string
  tip: string
  base: string
  branch: string
  did: string
}

/** A batch that has not ended yet, as a row. */
export function batchRow(place: Place, { generation, members, of }: KeptBatch) {
  return { ...place, generation, members: JSON.stringify(members), size: members.length, checks: of }
}

/** A run of the batch in this row, as a row. */
export function runRow(batch: number, run: KeptRun): PastRunTable {
  return {
    uri: run.uri,
    batch,
    workflow: run.workflow,
    state: run.state,
    verdict: run.verdict ?? null,
    filed_at: run.filedAt,
    started_at: run.startedAt ?? null,
    ended_at: run.endedAt,
    cause: run.cause ?? null,
    retried: run.retried.length === 0 ? null : JSON.stringify(run.retried),
  }
}
