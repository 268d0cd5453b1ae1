import { type Did, parseDid } from '../../atproto/ids.ts'
import type { Reader } from '../../atproto/reader.ts'
import type { RepositoryFacts } from '../../queue/facts.ts'
import { foldRepository } from '../../queue/fold.ts'
import type { FreshReads } from '../../queue/overlay.ts'
import { gather } from './gather.ts'
import { type About, readQueueAbout, readStatesAbout } from './read-about.ts'

/** Accounts read at the same time, those aside that have kept their answer to themselves for longer than this, in milliseconds. */
const AT_ONCE = 12
const SLOW_MS = 300
/** The longest that reading everybody may take, in milliseconds: whoever has not answered by then adds nothing (NOT-1). */
const PATIENCE_MS = 5_000

/** What was read, and whose records could not be had in time: of those the index stands. */
export interface PeopleRead extends Pick<FreshReads, 'queue' | 'states'> {
  unreadQueue: ReadonlySet<Did>
  unreadStates: ReadonlySet<Did>
}

/** The newest queue and state records of everybody whose records can count (NOT-1), and the states of these authors (HON-6). */
export async function readPeople(
  reader: Reader,
  facts: RepositoryFacts,
  asked: { authors: readonly string[]; now: number },
): Promise<PeopleRead> {
  const { now } = asked
  const { roles, branches, record, uri } = foldRepository(facts, now)
  const oldest = [...branches.values()].flatMap(branch => branch.queue[0]?.entry?.key ?? []).sort()[0]
  const addresses = new Set([
    uri,
    record.uri,
    ...[facts.transferredFrom?.uri, facts.transferredTo?.uri].filter(other => other !== undefined),
  ])
  const about: About = { addresses, oldest, now }
  const writers = didsOf([roles.owner, ...roles.collaborators, ...roles.runners])
  const all = [...new Set([...writers, ...didsOf(asked.authors)])]
  const [queue, states] = await Promise.all([
    readAll(writers, did => readQueueAbout(reader, did, about)),
    readAll(all, did => readStatesAbout(reader, did, about)),
  ])
  return {
    queue: queue.filter(read => read !== undefined),
    states: states.filter(read => read !== undefined),
    unreadQueue: new Set(writers.filter((_, at) => queue[at] === undefined)),
    unreadStates: new Set(all.filter((_, at) => states[at] === undefined)),
  }
}

/** What each read gives, in order; undefined where it did not in time. The silent are not waited for before others are asked. */
async function readAll<T>(dids: readonly Did[], read: (did: Did) => Promise<T | undefined>): Promise<(T | undefined)[]> {
  const over = Promise.withResolvers<undefined>()
  const timer = setTimeout(over.resolve, PATIENCE_MS, undefined)
  const answers = new Map<Did, Promise<T | undefined>>()
  try {
    await gather(dids, AT_ONCE, async did => {
      const answer = Promise.race([read(did), over.promise])
      answers.set(did, answer)
      await unlessSlow(answer)
    })
    return await Promise.all(dids.map(did => answers.get(did)))
  } finally {
    clearTimeout(timer)
  }
}

async function unlessSlow(answer: Promise<unknown>): Promise<void> {
  const slow = Promise.withResolvers<undefined>()
  const timer = setTimeout(slow.resolve, SLOW_MS, undefined)
  await Promise.race([answer, slow.promise]).finally(() => clearTimeout(timer))
}

function didsOf(values: readonly string[]): Did[] {
  return [...new Set(values.flatMap(value => parseDid(value) ?? []))]
}
