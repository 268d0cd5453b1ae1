/** Single records as their accounts have them now. A source that does not answer is an UpstreamError. */
import { parseAtUri } from '../../atproto/ids.ts'
import type { Reader } from '../../atproto/reader.ts'
import type { GitFault, PullRecord, RefsRecord, RepoRecord, Stored } from '../../queue/facts.ts'
import { noRefs, refsFault } from '../validate/refs-fault.ts'
import { ofKind, readUsable } from './read-about.ts'

/** Null for one that is not there, or counts for nothing. */
export async function readPullAt(reader: Reader, uri: string, now: number): Promise<Stored<PullRecord> | null> {
  const address = parseAtUri(uri)
  if (address?.collection !== 'dev.knotless.pull') return null
  const read = await reader.getRecord(address.did, address.collection, address.rkey)
  return (read && readUsable(read, ofKind.pull, now)) ?? null
}

/** As `readPullAt`, of a repository. */
export async function readRepoAt(reader: Reader, uri: string, now: number): Promise<Stored<RepoRecord> | null> {
  const address = parseAtUri(uri)
  if (address?.collection !== 'dev.knotless.repo') return null
  const read = await reader.getRecord(address.did, address.collection, address.rkey)
  return (read && readUsable(read, ofKind.repo, now)) ?? null
}

/** The refs record of the repository at an address, or what is wrong with it. `repo` is that of the address. */
export async function readRefsAt(
  reader: Reader,
  repo: string,
  now: number,
): Promise<{ record: Stored<RefsRecord> } | { record?: undefined; fault: GitFault }> {
  const address = parseAtUri(repo)
  if (address === undefined) return { fault: { ...noRefs(), passing: false } }
  const read = await reader.getRecord(address.did, 'dev.knotless.refs', address.rkey)
  if (read === undefined) return { fault: { ...noRefs(), passing: true } }
  const record = readUsable(read, ofKind.refs, now)
  return record === undefined ? { fault: { ...refsFault(read.value, repo), passing: false } } : { record }
}
