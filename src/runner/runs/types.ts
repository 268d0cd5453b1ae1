/** What the parts of `runs/` share: a check on its way to its account, the run that it is of, and its group. */
import type { AtUri, RecordKey } from '../../atproto/ids.ts'
import type { CheckRecord } from '../../queue/facts.ts'
import type { Workflow } from '../../workflows/workflow.ts'
import type { Asked, JobClass, Subject } from '../types.ts'

/** A log and a report as they are to be uploaded. */
export interface Evidence {
  /** Gzip. */
  log?: Uint8Array | undefined
  /** Before compression. */
  logBytes: number
  report?: Uint8Array | undefined
}

/** A check of this account: as it is to be on file, and as it is there. */
export interface Filed {
  readonly rkey: RecordKey
  readonly uri: AtUri
  /** As it is to be. */
  record: CheckRecord
  /** As it was written last, and its CID; absent while it is not on file. */
  saved?: { cid: string; record: CheckRecord } | undefined
  /** What is to be uploaded and named by the record. */
  evidence?: Evidence | undefined
}

export interface Run extends Filed {
  readonly group: RunGroup
  /** The workflow's file. */
  readonly file: string
  /** Absent for a file that cannot be used. */
  readonly workflow?: Workflow | undefined
  /** `waiting`: nothing runs yet. `gone`: its check is taken away, since another runner has it (PRE-4), or the runner stops (MOV-5). */
  stage: 'waiting' | 'running' | 'ended' | 'gone'
  readonly abort: AbortController
  asked?: Asked | undefined
}

export interface RunGroup {
  readonly id: string
  readonly repo: AtUri
  readonly subject: Subject
  readonly trusted: boolean
  /** Where its trees are. */
  readonly gitDir: string
  /** Other runners that the repository names (PRE-4). */
  readonly others: readonly string[]
  /** In the order of their files; those that another runner has are not in it any more. */
  runs: Run[]
  class?: JobClass | undefined
}
