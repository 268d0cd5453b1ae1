/** Made-up accounts, commits, addresses and records for tests of the rules. */
import type { RepoRecord, Stored } from '../../src/queue/facts.ts'

export type Did = `did:plc:${string}`
export type AtUri = `at://${Did}/dev.knotless.${string}/${string}`
export type Time = RepoRecord['createdAt']

export const MINUTE = 60_000
export const DAY = 24 * 60 * MINUTE
/** 2026-01-01T00:00:00Z, when every history starts. */
export const START = Date.UTC(2026, 0, 1)

export const alice = did('alice')
export const bob = did('bob')
export const carol = did('carol')
export const dave = did('dave')
export const mallory = did('mallory')
export const rigby = did('rigby')
export const rocky = did('rocky')

export const TIP = commit(1)
export const HEAD = commit(2)

/** The DID of a name of small letters and the digits 2 to 7. */
export function did(name: string): Did {
  return `did:plc:${name.padEnd(24, 'a')}`
}

/** A commit's name made of a number. */
export function commit(n: number): string {
  return n.toString(16).padStart(40, '0')
}

export function repoAt(owner: Did, name = 'orchard'): AtUri {
  return `at://${owner}/dev.knotless.repo/${name}`
}

/** A time in milliseconds as records write it. */
export function iso(ms: number): Time {
  const [year = '', month = '', ...rest] = new Date(ms).toISOString().slice(0, -1).split('-')
  const [day = '', time = ''] = rest.join('-').split('T')
  const [hour = '', minute = '', second = ''] = time.split(':')
  return `${year}-${month}-${day}T${hour}:${minute}:${second}Z`
}

/** A record where it lies. Its version is what it says. */
export function stored<T>(
  place: { uri: AtUri; did: Did; rkey: string },
  value: T,
  seen: { seenAt: number; backfilled: boolean },
): Stored<T> {
  return { ...place, cid: JSON.stringify(value), value, ...seen }
}

/** A repository's record: of bob and carol as collaborators and rigby as runner, unless said otherwise. */
export function repository(owner: Did, name: string, record: Partial<RepoRecord> = {}): Stored<RepoRecord> & { did: Did } {
  const value: RepoRecord = {
    $type: 'dev.knotless.repo',
    defaultBranch: 'main',
    collaborators: [{ did: bob }, { did: carol }],
    runners: [{ did: rigby }],
    createdAt: iso(START),
    ...record,
  }
  return { ...stored({ uri: repoAt(owner, name), did: owner, rkey: name }, value, { seenAt: START, backfilled: false }), did: owner }
}
