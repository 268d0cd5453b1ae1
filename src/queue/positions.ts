/** Where records stand in time: by key, and equal keys by the DID of their writer (HON-7). */
import { order } from './runs.ts'
import { isTid } from './tid.ts'

export interface Position {
  rkey: string
  did: string
}

/** Oldest first; 0 only for one writer's records of one key. */
export function byPosition(a: Position, b: Position): number {
  return order(a.rkey, b.rkey) || order(a.did, b.did)
}

/** The position that the address of a queue record gives; undefined when it is no such address. */
export function positionOfEntry(uri: string): Position | undefined {
  const parts = /^at:\/\/(did:[^/]+)\/dev\.knotless\.queue\/([^/]+)$/.exec(uri)
  const [did, rkey] = [parts?.[1], parts?.[2]]
  return did !== undefined && rkey !== undefined && isTid(rkey) ? { did, rkey } : undefined
}
