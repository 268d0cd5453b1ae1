/** Records written by hand on the account server, as any program may write them: by runners, owners, authors and strangers. */
import { createHash } from 'node:crypto'
import type { DevAccount, RecordValue, Written } from '../../src/devnet/account.ts'
import type { SeededPull } from '../../src/devnet/seed.ts'
import { listCommits } from '../../src/git/commits.ts'
import type { World } from './world.ts'

/** A pull, as far as records about it need it. */
export type About = Pick<SeededPull, 'uri' | 'head'>

export interface Records {
  /** A change of a pull's place in its queue. */
  queue(by: DevAccount, pull: About, state: 'queued' | 'left' | 'ejected', more?: RecordValue, key?: string): Promise<Written>
  state(by: DevAccount, pull: About, state: 'open' | 'closed' | 'merged', more?: RecordValue): Promise<Written>
  /** A pull of the orchard from one of its branches, onto main unless said otherwise. */
  pull(by: DevAccount, branch: string, more?: RecordValue): Promise<About>
  /** A run of one workflow on a pull's head merged with main as it is; by runner.test unless said otherwise. */
  check(pull: About, workflow: string, status: string, more?: RecordValue): Promise<Written>
  /** The runs of a batch, all filed at once, by name and status. Gives the batch's tip, which is made up. */
  batch(pulls: readonly About[], runs: Record<string, string>, more?: { base?: string; name?: string }): Promise<string>
  /** The live record of runner.test, which says that it lands the orchard and holds the lease. */
  lander(more?: RecordValue): Promise<void>
  /** Where a branch of the orchard is, as alice's account says. */
  tip(branch?: string): Promise<string>
  /** The commits of the orchard's main, newest first. */
  commits(): Promise<string[]>
  /** Changes the orchard's refs as a push of no new objects does. */
  setRef(branch: string, commit: string | undefined): Promise<void>
}

const now = () => new Date().toISOString()

/** A commit id of nothing. */
export function madeUpCommit(name: string): string {
  return createHash('sha1').update(name).digest('hex')
}

/** Writers for the orchard of a world. */
export function recordsIn({ people, samples, server }: World): Records {
  const { alice, runner } = people
  const repo = samples.orchard.uri
  const refs = async () => {
    const found = await alice.get('dev.knotless.refs', 'orchard')
    const list = found?.value.refs
    if (found === undefined || !Array.isArray(list)) throw new Error('the orchard has no refs')
    return { value: found.value, list: list as { name: string; commit: string; generation: number }[] }
  }
  async function tip(branch = 'main'): Promise<string> {
    const found = (await refs()).list.find(ref => ref.name === `refs/heads/${branch}`)
    if (found === undefined) throw new Error(`the orchard has no branch ${branch}`)
    return found.commit
  }
  const run = { repo, ref: 'refs/heads/main', generation: 1, trusted: true, isolated: true }
  const times = (status: string) => ({
    createdAt: now(),
    ...(status === 'queued' ? {} : { startedAt: now() }),
    ...(status === 'queued' || status === 'running' ? {} : { finishedAt: now() }),
  })
  return {
    tip,
    queue: (by, pull, state, more = {}, key) =>
      by.create('dev.knotless.queue', { repo, subject: pull.uri, state, createdAt: now(), ...more }, key),
    state: (by, pull, state, more = {}) => by.create('dev.knotless.state', { repo, subject: pull.uri, state, createdAt: now(), ...more }),
    async pull(by, branch, more = {}) {
      const head = { repo, branch }
      const record = { repo, branch: 'main', head, title: `Another pull of ${branch}`, createdAt: now(), ...more }
      const { uri } = await by.create('dev.knotless.pull', record)
      return { uri, head: await tip(branch).catch(() => madeUpCommit(branch)) }
    },
    async check(pull, workflow, status, more = {}) {
      const record = { ...run, workflow, status, pull: pull.uri, commit: pull.head, baseCommit: await tip(), ...times(status), ...more }
      return runner.create('dev.knotless.check', record)
    },
    async batch(pulls, runs, { base, name = pulls.map(pull => pull.uri).join() } = {}) {
      const members = pulls.map((pull, at) => ({ pull: pull.uri, head: pull.head, commit: madeUpCommit(`${name} ${at}`) }))
      const last = members.at(-1)
      if (last === undefined) throw new Error('a batch of none')
      const on = base ?? (await tip())
      for (const [workflow, status] of Object.entries(runs)) {
        const about = { commit: last.commit, baseCommit: on, batch: members, of: Object.keys(runs).length }
        await runner.create('dev.knotless.check', { ...run, workflow, status, ...about, ...times(status) })
      }
      return last.commit
    },
    async lander(more = {}) {
      const lease = { instance: 'one', until: new Date(Date.now() + 10 * 60_000).toISOString() }
      await runner.put('dev.knotless.lander', 'orchard', { repo, batch: 8, depth: 2, startedAt: now(), createdAt: now(), lease, ...more })
    },
    async commits() {
      const mirror = await server.context.mirrors.of(repo)
      const listed = await listCommits(mirror, [await tip()], 100)
      if (!listed.ok) throw new Error(listed.message)
      return listed.commits.map(({ commit }) => commit)
    },
    async setRef(branch, commit) {
      const { value, list } = await refs()
      const name = `refs/heads/${branch}`
      const others = list.filter(ref => ref.name !== name)
      const changed = commit === undefined ? others : [...others, { name, commit, generation: 1 }]
      await alice.put('dev.knotless.refs', 'orchard', { ...value, refs: changed, updatedAt: now() })
    },
  }
}
