import type { IndexDatabase } from '../../indexer/database.ts'
import { loadFacts, loadPullFacts } from '../../indexer/read.ts'
import type { RepoRecord, RepositoryFacts, Stored } from '../../queue/facts.ts'

/**
 * What the index knows about a repository, with these pulls among it, closed or merged long ago or not. One that the index has not met has its
 * record, where that was read, and nothing else.
 */
export function knownFacts(
  database: IndexDatabase,
  asked: { repo: string; pulls: readonly string[]; record?: Stored<RepoRecord> | undefined },
): RepositoryFacts | undefined {
  const { repo, pulls, record } = asked
  const facts = loadFacts(database, repo)?.facts ?? (record === undefined ? undefined : bareFacts(record))
  return facts === undefined ? undefined : pulls.reduce((all, pull) => withPull(database, all, pull), facts)
}

function withPull(database: IndexDatabase, facts: RepositoryFacts, pull: string): RepositoryFacts {
  if (facts.pulls.some(other => other.uri === pull)) return facts
  const alone = loadPullFacts(database, pull)?.facts
  if (alone === undefined) return facts
  return {
    ...facts,
    pulls: [...facts.pulls, ...alone.pulls],
    states: [...facts.states, ...alone.states],
    queue: [...facts.queue, ...alone.queue],
    checks: [...facts.checks, ...alone.checks],
    tips: withContained(facts.tips, alone.tips),
  }
}

/** What is known of the commits of a pull that landed long ago is known of the same tips. */
function withContained(tips: RepositoryFacts['tips'], more: RepositoryFacts['tips']): RepositoryFacts['tips'] {
  const all = new Map(tips)
  for (const [branch, found] of more) {
    const known = all.get(branch)
    if (known === undefined) all.set(branch, found)
    else if (known.tip === found.tip) all.set(branch, { ...known, contains: new Map([...known.contains, ...found.contains]) })
  }
  return all
}

function bareFacts(repo: Stored<RepoRecord>): RepositoryFacts {
  const none = { pulls: [], states: [], queue: [], checks: [], landers: [] }
  return { repo, ...none, refs: new Map(), gone: new Set(), merges: new Map(), tips: new Map() }
}
