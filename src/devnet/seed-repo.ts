import { join } from 'node:path'
import type { TidClock } from '../atproto/tid.ts'
import { pushRefs } from '../git/push.ts'
import type { DevAccount } from './account.ts'
import { refsAccount } from './refs-account.ts'
import { buildHistory, type SampleCommit, type SampleHistory } from './samples/history.ts'
import type { Person, SamplePull } from './samples/people.ts'

/** Everybody in the demo, by first name. */
export type People = Record<Person, DevAccount>

/** An open pull as it was made. */
export interface SeededPull {
  uri: string
  title: string
  author: Person
  branch: string
  /** The repository that its head branch lies in. */
  headRepo: string
  head: string
}

/** A sample repository as it was made. */
export interface SeededRepo {
  uri: string
  name: string
  owner: Person
  /** Its forks, each with its owner. */
  forks: Array<{ uri: string; owner: Person }>
  /** Pulls by their head branch. */
  pulls: Record<string, SeededPull>
  issue?: string
}

/** A sample repository, as it is to be made. */
export interface RepoPlan {
  name: string
  description: string
  commits: readonly SampleCommit[]
  /** Whether the runner is named; without runners pulls are merged by hand. */
  runners: boolean
  issue?: { title: string; body: string }
  pulls: (issue: string) => readonly SamplePull[]
}

/** Makes one sample repository of alice's, with bob as collaborator: record, git state, forks, issue and pulls, each in the account it belongs to. */
export async function seedRepo(
  ctx: { people: People; tids: TidClock; now: () => Date; scratch: string },
  plan: RepoPlan,
): Promise<SeededRepo> {
  const { people, tids } = ctx
  const owner = people.alice
  const createdAt = ctx.now().toISOString()
  const history = await buildHistory(join(ctx.scratch, `${plan.name}.git`), plan.commits)
  const uri = refsAccount(owner, plan.name).repo

  const record = { description: plan.description, defaultBranch: 'main', protections: [], createdAt }
  const runners = plan.runners ? [{ did: people.runner.did }] : []
  await owner.put('dev.knotless.repo', plan.name, { ...record, collaborators: [{ did: people.bob.did }], runners })

  let issue: string | undefined
  if (plan.issue !== undefined) {
    issue = tids.next()
    await people.carol.create('dev.knotless.issue', { repo: uri, ...plan.issue, createdAt }, issue)
  }

  const pulls = plan.pulls(issue === undefined ? '' : `#${issue}`)
  const forkers = [...new Set(pulls.filter(pull => pull.fork).map(pull => pull.author))]
  const own = [...history.branches.keys()].filter(branch => !pulls.some(pull => pull.fork && pull.branch === branch))
  await push(ctx, owner, plan.name, history, own)
  const forks = []
  for (const person of forkers) {
    const account = people[person]
    await account.put('dev.knotless.repo', plan.name, {
      ...record,
      description: `A fork of ${owner.handle}/${plan.name}.`,
      collaborators: [],
      runners: [],
    })
    const theirs = pulls.filter(pull => pull.fork && pull.author === person).map(pull => pull.branch)
    await push(ctx, account, plan.name, history, ['main', ...theirs])
    forks.push({ uri: refsAccount(account, plan.name).repo, owner: person })
  }

  const made: Record<string, SeededPull> = {}
  for (const pull of pulls) {
    const author = people[pull.author]
    const { title, body, branch } = pull
    const headRepo = pull.fork ? refsAccount(author, plan.name).repo : uri
    const head = { repo: headRepo, branch }
    const written = await author.create('dev.knotless.pull', { repo: uri, branch: 'main', head, title, body, createdAt }, tids.next())
    made[branch] = { uri: written.uri, title, author: pull.author, branch, headRepo, head: history.branches.get(branch) ?? '' }
  }
  const issueUri = issue === undefined ? {} : { issue: `at://${people.carol.did}/dev.knotless.issue/${issue}` }
  return { uri, name: plan.name, owner: 'alice', forks, pulls: made, ...issueUri }
}

async function push(
  ctx: { now: () => Date },
  account: DevAccount,
  name: string,
  history: SampleHistory,
  branches: string[],
): Promise<void> {
  const refs = refsAccount(account, name)
  const updates = branches.map(branch => ({ name: `refs/heads/${branch}`, commit: history.branches.get(branch) ?? null }))
  const done = await pushRefs({ gitDir: history.gitDir, updates, account: refs, repo: refs.repo, now: ctx.now })
  if (!done.ok) throw new Error(`pushing ${account.handle}/${name}: ${done.code}: ${done.message}`)
}
