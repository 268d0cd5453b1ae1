import type { IndexDatabase } from '../database.ts'
import { createKeeper } from '../history/keep.ts'
import type { MemberTable } from '../schema.ts'
import { isDid } from '../validate/addresses.ts'
import { createAccounts, readStatus } from './accounts.ts'
import { applyRecord } from './apply-record.ts'
import { type Batch, startBatch } from './batch.ts'
import type { IngestEvent } from './events.ts'
import { createMissedRows } from './missed-rows.ts'
import { createPlacer } from './placer.ts'
import { createRecordRows } from './record-rows.ts'
import { createRepositories } from './repositories.ts'
import { createSteps } from './steps.ts'
import { createTally } from './tally.ts'
import { createTypedRows } from './typed-rows.ts'
import { createUnusableRefs } from './unusable-refs.ts'
import { createWaitingRows, type WaitingBounds } from './waiting-rows.ts'
import { createWanted, priorities } from './wanted.ts'

export interface Change {
  repo: string
  version: number
}

/** What a batch came to, to be told once it is committed. */
export interface Outcome {
  /** Repositories whose answers may have changed, with their new versions. */
  changes: Change[]
  identities: readonly string[]
  wanted: boolean
  next: readonly IngestEvent[]
}

/** Writes events into the index. Everything from `begin` to `finish` happens in one transaction of the caller's. */
export interface Writer {
  begin(): Batch
  apply(batch: Batch, event: IngestEvent): void
  /** Takes out what is too old, lets transfers hold whose time has come. */
  maintain(batch: Batch): void
  /** Writes what the events left to be done, the cursor with them. */
  finish(batch: Batch, cursor?: { service: string; timeUs: number }): Outcome
  /** The transaction was rolled back. */
  abandon(): void
  cursor(service: string): number | undefined
  /** Repositories that are known and for which records still wait, after a crash between the two. */
  unreleased(): string[]
  /** Whether any check of a batch is held. */
  holdsBatches(): boolean
}

export function createWriter(index: IndexDatabase, ctx: { now: () => number; waiting?: WaitingBounds | undefined }): Writer {
  const records = createRecordRows(index)
  const typed = createTypedRows(index)
  const waiting = createWaitingRows(index, ctx.waiting)
  const repositories = createRepositories(index)
  const accounts = createAccounts(index)
  const wanted = createWanted(index)
  const tally = createTally(index)
  const unusable = createUnusableRefs(index)
  const missed = createMissedRows(index)
  const tables = { records, typed, waiting, missed, repositories, accounts, wanted }
  const placer = createPlacer(index, tables)
  const steps = createSteps(index, tables, placer)
  const keeper = createKeeper(index)

  function setStatus(batch: Batch, did: string, event: { active: boolean; status?: string | undefined; timeUs: number }): void {
    const next = readStatus(event.active, event.status)
    const before = next === undefined ? undefined : accounts.setStatus(did, next, event.timeUs)
    if (before === undefined) return
    for (const repo of accounts.concerned(did)) batch.changed.add(repo)
    if (next !== 'active') return
    // What it wrote while it was gone nobody sent.
    wanted.again(did)
    batch.wanted = true
  }

  function refreshMembers(batch: Batch): void {
    for (const repo of batch.membersOf) {
      for (const member of repositories.refresh(repo, batch.time)) placer.want(batch, member.did, priorityOf(member.role))
      batch.changed.add(repo)
      // A runner that is named now may have filed before.
      if (keeper.holds(repo)) batch.next.push({ kind: 'keep', repo })
    }
  }

  return {
    begin: () => startBatch(ctx.now()),
    apply(batch, event) {
      switch (event.kind) {
        case 'record':
          applyRecord({ records, placer, unusable }, batch, event)
          return
        case 'account':
          setStatus(batch, event.did, event)
          return
        case 'identity':
          if (accounts.unresolve(event.did)) batch.identities.add(event.did)
          return
        case 'resolved': {
          const { did, handle = null, pds = null, status, askedUs } = event
          const renamed = event.handleUnread === true ? accounts.place(did, pds) : accounts.resolve(did, { handle, pds }, batch.time)
          if (renamed) for (const repo of accounts.concerned(did)) batch.changed.add(repo)
          if (status !== undefined) setStatus(batch, did, { active: status === 'active', status, timeUs: askedUs })
          return
        }
        case 'touch':
          for (const repo of event.repos) batch.changed.add(repo)
          return
        case 'want':
          for (const did of event.dids) if (isDid(did)) placer.want(batch, did, event.priority)
          return
        case 'release':
          steps.release(batch, event)
          return
        case 'sweep':
          steps.sweep(batch, event)
          return
        case 'keep':
          keeper.keepHeld(batch, event)
          return
        case 'other':
      }
    },
    maintain(batch) {
      steps.tidy(batch)
      keeper.forget(batch.time)
      for (const repo of repositories.takeDue(batch.time)) batch.membersOf.add(repo)
    },
    finish(batch, cursor) {
      refreshMembers(batch)
      for (const repo of keeper.keep(batch.ended, batch.time)) batch.changed.add(repo)
      repositories.settlePulls(batch.pulls, batch.time)
      for (const repo of [...batch.changed]) for (const other of repositories.tiedTo(repo)) batch.changed.add(other)
      tally.refused(batch.refused)
      if (cursor !== undefined) tally.setCursor(cursor.service, cursor.timeUs, batch.time)
      const changes = [...batch.changed].map(repo => ({ repo, version: tally.bump(repo, batch.time) }))
      return { changes, identities: [...batch.identities], wanted: batch.wanted, next: batch.next }
    },
    abandon() {
      wanted.forget()
      waiting.recount()
      missed.forget()
      records.rolledBack()
    },
    cursor: service => tally.cursor(service),
    unreleased: () =>
      index.sync
        .all(index.db.selectFrom('waiting').innerJoin('record', 'record.uri', 'waiting.repo').select('waiting.repo').distinct())
        .map(row => row.repo),
    holdsBatches: () => keeper.holds(),
  }
}

function priorityOf(role: MemberTable['role']): number {
  if (role === 'owner') return priorities.owner
  return role === 'collaborator' || role === 'runner' ? priorities.member : priorities.former
}
