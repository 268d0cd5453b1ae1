import { LRUCache } from 'lru-cache'
import { parseAtUri } from '../../atproto/ids.ts'
import type { Reader, ReadRecord } from '../../atproto/reader.ts'
import { checkRefsRecord } from '../../git/refs-record.ts'
import { ofKind, readUsable } from '../../indexer/sources/read-about.ts'
import { noRefs, refsFault } from '../../indexer/validate/refs-fault.ts'
import type { GitFault, RefsRecord as RefsValue, Stored } from '../../queue/facts.ts'
import type { Head } from '../planner/types.ts'
import type { Source } from '../types.ts'
import type { Looks } from './looks.ts'
import { asUpstream, patienceMs, within } from './patience.ts'

export interface Sources {
  /** The git state of a repository that holds heads, as its account has it; looked at again when what is known is older than `maxAgeMs` (BLD-4). */
  read(repo: string, options: { looks: Looks; maxAgeMs: number }): Promise<Source>
}

/** Git states are remembered while their accounts' revisions stay (NOT-6). */
export function createSources(ctx: { reader: Reader; now: () => number }): Sources {
  const { reader, now } = ctx
  const known = new LRUCache<string, { rev: string; source: Source }>({ max: 20_000 })

  async function read(repo: string, { looks, maxAgeMs }: { looks: Looks; maxAgeMs: number }): Promise<Source> {
    const address = parseAtUri(repo)
    if (address === undefined) return { state: 'gone' }
    const { did, rkey } = address
    const look = await looks.look(did, { maxAgeMs })
    if (look.state === 'gone') return { state: 'account-gone' }
    if (look.state === 'unread') return { state: 'unreadable', server: look.server, said: look.said }
    const before = known.get(repo)
    if (before?.rev === look.rev) return before.source
    try {
      const record = await within(patienceMs, did, signal => reader.getRecord(did, 'dev.knotless.refs', rkey, { signal }))
      const source = sourceOf(record, repo, now(), before?.source)
      known.set(repo, { rev: look.rev, source })
      return source
    } catch (error) {
      const { host, message } = asUpstream(error)
      return { state: 'unreadable', server: host, said: message }
    }
  }

  return { read }
}

/** What a refs record says. `before` is given again where it is the same record. */
export function sourceOf(record: ReadRecord | undefined, repo: string, now: number, before?: Source): Source {
  if (record === undefined) return { state: 'gone' }
  if (before?.state === 'read' && before.stored.cid === record.cid) return before
  const checked = checkRefsRecord(record.value, repo)
  const stored = readUsable(record, ofKind.refs, now)
  if (checked.ok && stored !== undefined) return { state: 'read', stored, refs: checked.record }
  return { state: 'broken', detail: refsFault(record.value, repo).message }
}

/** How the rules are told of it: the record, or what is wrong with it; nothing where it could not be read. */
export function sourceFacts(source: Source): { record: Stored<RefsValue> | null; fault?: GitFault } | undefined {
  if (source.state === 'read') return { record: source.stored }
  if (source.state === 'gone') return { record: null, fault: { ...noRefs(), passing: true } }
  if (source.state === 'broken') return { record: null, fault: { code: 'bad-record', message: source.detail, passing: false } }
  return undefined
}

/** Where a branch of it is. A record that cannot be used tells nothing about the branch: it reads as unreadable. */
export function headAt(source: Source, repo: string, branch: string): Head {
  if (source.state === 'gone' || source.state === 'account-gone') return { state: source.state }
  if (source.state === 'unreadable') return { state: 'unreadable', server: source.server }
  if (source.state === 'broken') return { state: 'unreadable', server: parseAtUri(repo)?.did ?? repo }
  const commit = source.refs.refs.find(row => row.name === `refs/heads/${branch}`)?.commit
  return commit === undefined ? { state: 'gone' } : { state: 'at', commit }
}
