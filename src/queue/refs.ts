/** Where branches are, by the refs records known. */
import type { RefsRecord, Stored } from './facts.ts'
import { commitsHold } from './records.ts'

export interface BranchRef {
  commit: string
  generation: number
}

export interface Refs {
  /** Branches of a repository by name, without refs/heads/; undefined when its refs record is not known. */
  branchesOf(repo: string): ReadonlyMap<string, BranchRef> | undefined
}

const HEADS = 'refs/heads/'

/**
 * Reads each refs record once, when first asked for. `records` is by repository address; `addressNow` leads from an address that a
 * repository had to the one it has (HON-4). A record that does not lie where its repository does is nobody's (REC-12).
 */
export function readRefs(records: ReadonlyMap<string, Stored<RefsRecord>>, addressNow: (repo: string) => string): Refs {
  const read = new Map<string, ReadonlyMap<string, BranchRef> | undefined>()
  return {
    branchesOf(repo) {
      const address = addressNow(repo)
      if (!read.has(address)) read.set(address, branches(address, records.get(address)))
      return read.get(address)
    },
  }
}

function branches(address: string, record: Stored<RefsRecord> | undefined): ReadonlyMap<string, BranchRef> | undefined {
  if (record === undefined || address !== `at://${record.did}/dev.knotless.repo/${record.rkey}`) return undefined
  const found = new Map<string, BranchRef>()
  for (const { name, commit, generation } of record.value.refs) {
    if (name.startsWith(HEADS) && commitsHold(commit)) found.set(name.slice(HEADS.length), { commit, generation })
  }
  return found
}
