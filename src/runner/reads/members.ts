/** Everybody whose records can count, read at their servers (NOT-1). */
import { type Did, parseDid } from '../../atproto/ids.ts'
import { gather } from '../../indexer/sources/gather.ts'
import type { LanderRecord, QueueRecord, StateRecord, Stored } from '../../queue/facts.ts'
import type { FreshRead } from '../../queue/overlay.ts'
import type { Roles } from '../../queue/view.ts'
import { digest } from '../../workflows/check-keys.ts'
import type { About, Collection } from './collection.ts'
import { asUpstream, patienceMs, within } from './patience.ts'
import { pastEveryKey, type Stores } from './stores.ts'

/** Accounts read at the same time. */
const AT_ONCE = 16

export interface MembersRead {
  queue: FreshRead<QueueRecord>[]
  states: FreshRead<StateRecord>[]
  landers: Stored<LanderRecord>[]
  /** Of these the index stands, and what was read of them earlier. */
  unread: Did[]
}

/** Owner, collaborators, named runners, this runner, and `before`, who owned the repository before it moved (HON-4), each once. */
export function membersOf(roles: Roles, self: Did, before: readonly string[] = []): Did[] {
  return didsOf([roles.owner, ...roles.collaborators, ...roles.runners, self, ...before])
}

export function didsOf(values: readonly string[]): Did[] {
  return [...new Set(values.flatMap(value => parseDid(value) ?? []))]
}

/**
 * The newest queue and state records of these accounts about a repository, and of `authors` the states (HON-6). Each account is looked at now; where
 * its revision is the one that was read, nothing is read again (NOT-6). One that does not answer within 5 s adds only what an earlier read gave.
 */
export async function readMembers(
  stores: Stores,
  asked: { members: readonly Did[]; authors: readonly Did[]; home: string; about: About },
): Promise<MembersRead> {
  const { members, authors, home, about } = asked
  const read: MembersRead = { queue: [], states: [], landers: [], unread: [] }
  const isMember = new Set(members)
  await gather([...new Set([...members, ...authors])], AT_ONCE, async did => {
    try {
      await within(patienceMs, did, () => readOne(did))
    } catch (error) {
      asUpstream(error)
      read.unread.push(did)
      if (isMember.has(did)) addRemembered(read.queue, stores.queue, did)
      addRemembered(read.states, stores.states, did)
    }
  })
  return read

  async function readOne(did: Did): Promise<void> {
    const look = await stores.looks.look(did)
    if (look.state !== 'at') {
      read.unread.push(did)
      if (look.state === 'gone') return
      if (isMember.has(did)) addRemembered(read.queue, stores.queue, did)
      addRemembered(read.states, stores.states, did)
      return
    }
    const key = digest(home)
    const [queue, states, landers] = await Promise.all([
      isMember.has(did) ? stores.queue.about(did, look.rev, about) : undefined,
      stores.states.about(did, look.rev, about),
      isMember.has(did) ? stores.landers.some(did, look.rev, [key]) : undefined,
    ])
    const lander = landers?.get(key)
    if (queue !== undefined) read.queue.push(queue)
    read.states.push(states)
    if (lander != null && about.addresses.has(lander.value.repo)) read.landers.push(lander)
  }

  /** What an earlier read gave stands beside the index, which may not have it yet; it covers nothing. */
  function addRemembered<T extends { repo: string }>(reads: FreshRead<T>[], store: Collection<T>, did: Did): void {
    const records = store.allSeen(did, about)
    if (records.length > 0) reads.push({ did, records, from: pastEveryKey })
  }
}
