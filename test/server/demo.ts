import type { DevAccount } from '../../src/devnet/account.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { refsAccount } from '../../src/devnet/refs-account.ts'
import { type Samples, seedPeople, seedSamples } from '../../src/devnet/seed.ts'
import type { People } from '../../src/devnet/seed-repo.ts'
import { pushRefs } from '../../src/git/push.ts'
import { tidAt } from '../../src/queue/tid.ts'
import { git } from '../git/support.ts'
import { logIn } from './log-in.ts'
import { type Served, serve } from './serve.ts'
import { Visitor } from './visitor.ts'

/** The demo's accounts and repositories on a local network, and the real server over it. */
export interface Demo {
  network: Network
  people: People
  samples: Samples
  server: Served
  /** The browser of an account, which logs in the first time. */
  as(account: DevAccount): Promise<Visitor>
  /** A key of now, after every key before. */
  key(): string
  /** Pushes branches of a git directory to a repository of an account's; gives its address. */
  push(account: DevAccount, name: string, dir: string, branches: readonly string[]): Promise<string>
  end(): Promise<void>
}

export async function startDemo(): Promise<Demo> {
  const network = await startNetwork()
  try {
    const people = await seedPeople(network)
    const samples = await seedSamples(network, people)
    const server = await serve(network)
    const visitors = new Map<string, Visitor>()
    let lastKey = Date.now()
    return {
      network,
      people,
      samples,
      server,
      async as(account) {
        const known = visitors.get(account.did)
        if (known !== undefined) return known
        const visitor = new Visitor()
        await logIn(visitor, server.url, account)
        visitors.set(account.did, visitor)
        return visitor
      },
      key: () => tidAt(++lastKey),
      async push(account, name, dir, branches) {
        const refs = refsAccount(account, name)
        const updates = branches.map(branch => ({ name: `refs/heads/${branch}`, commit: git(dir, ['rev-parse', `refs/heads/${branch}`]) }))
        const pushed = await pushRefs({ gitDir: dir, account: refs, repo: refs.repo, updates, now: () => new Date() })
        if (!pushed.ok) throw new Error(`pushing ${name}: ${pushed.message}`)
        return refs.repo
      },
      async end() {
        await server.end()
        await network.stop()
      },
    }
  } catch (error) {
    await network.stop()
    throw error
  }
}
