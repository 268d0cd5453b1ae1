import { wakesAt } from '../../queue/records.ts'
import { isTid, tidMillis } from '../../queue/tid.ts'
import { isDid, isRecordKey } from '../validate/addresses.ts'
import type { RefusedReason } from '../validate/reasons.ts'
import { isChange, type Kind, kindOf, type Usable, usable } from '../validate/usable.ts'
import { type Batch, refuse } from './batch.ts'
import type { RecordEvent } from './events.ts'
import type { Placer } from './placer.ts'
import type { RecordRows } from './record-rows.ts'
import type { UnusableRefs } from './unusable-refs.ts'

/**
 * Writes one change of a record. An event of an older revision than what is held changes nothing, so that any order and any number of the same
 * events end in the same rows. What is not taken is counted and leaves a tombstone: that is what the account holds now. What has to wait for its
 * time is taken, and counted as well.
 */
export function applyRecord(
  tables: { records: RecordRows; placer: Placer; unusable: UnusableRefs },
  batch: Batch,
  event: RecordEvent,
): void {
  const { records, placer } = tables
  const place = placeOf(event)
  if (typeof place === 'string') {
    refuse(batch, place)
    return
  }
  const { uri, kind } = place
  const { cid, operation } = event
  const json = operation === 'delete' || event.record === undefined ? '' : JSON.stringify(event.record)
  const record = operation === 'delete' ? undefined : judge(event, json)
  if (typeof record === 'object' && cid !== undefined && placer.insert(batch, { event, uri, cid, json }, record)) {
    noteRefs(tables, batch, event, record)
    if (isChange(record) && wakesAt(tidMillis(event.rkey), batch.time) !== undefined) refuse(batch, 'key-ahead')
    return
  }
  const held = records.find(uri)
  if (held !== undefined && event.rev <= held.rev) return
  if (typeof record === 'string') refuse(batch, record)
  noteRefs(tables, batch, event, record)
  if (typeof record !== 'object' || cid === undefined) placer.remove(batch, { ...event, uri }, kind, held)
  else if (held !== undefined && held.deleted === 0 && held.cid === cid) records.setRev(held.id, event.rev)
  else if (held !== undefined) placer.replace(batch, { event, uri, cid, json }, held, record)
}

/** A refs record that cannot be used is said on the pages of its repository, until there is another. */
function noteRefs(
  { placer, unusable }: { placer: Placer; unusable: UnusableRefs },
  batch: Batch,
  event: RecordEvent,
  record: Usable | RefusedReason | undefined,
): void {
  if (event.collection !== 'dev.knotless.refs') return
  const repo = `at://${event.did}/dev.knotless.repo/${event.rkey}`
  if (typeof record === 'string') unusable.note(repo, event.record)
  else unusable.forget(repo)
  if (typeof record === 'string') placer.refsChanged(batch, repo)
}

function judge(event: RecordEvent, json: string): Usable | RefusedReason {
  return isCid(event.cid) ? usable(event, event.record, json) : 'lexicon'
}

function placeOf(event: RecordEvent): { uri: string; kind: Kind } | RefusedReason {
  const kind = kindOf(event.collection)
  if (kind === undefined) return 'unknown-collection'
  if (!isDid(event.did) || !isRecordKey(event.rkey)) return 'bad-address'
  if (!isTid(event.rev)) return 'bad-revision'
  return { uri: `at://${event.did}/${event.collection}/${event.rkey}`, kind }
}

function isCid(value: string | undefined): boolean {
  return value !== undefined && /^[a-zA-Z0-9]{20,200}$/.test(value)
}
