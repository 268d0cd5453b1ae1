import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { createTidClock } from '../atproto/tid.ts'
import type { DevAccount } from './account.ts'
import { readJson } from './keys.ts'
import type { Network } from './network.ts'
import { almanacCommits, almanacDescription, almanacPulls } from './samples/almanac.ts'
import { orchardCommits, orchardDescription, orchardIssue, orchardPulls } from './samples/orchard.ts'
import { handles, type Person } from './samples/people.ts'
import { type People, type SeededRepo, seedRepo } from './seed-repo.ts'

export type { People, SeededPull, SeededRepo } from './seed-repo.ts'

/** What stands in the demo. */
export interface Samples {
  orchard: SeededRepo
  almanac: SeededRepo
}

const person = z.enum(['alice', 'bob', 'carol', 'mallory', 'runner'])
const pull = z.object({ uri: z.string(), title: z.string(), author: person, branch: z.string(), headRepo: z.string(), head: z.string() })
const repo = z.object({
  uri: z.string(),
  name: z.string(),
  owner: person,
  forks: z.array(z.object({ uri: z.string(), owner: person })),
  pulls: z.record(z.string(), pull),
  issue: z.string().exactOptional(),
})
const samples = z.object({ orchard: repo, almanac: repo })

/** The demo's accounts, made where they are not there yet; `password` chooses theirs, by first name. */
export async function seedPeople(network: Network, password?: (name: Person) => string): Promise<People> {
  const made = new Map<Person, DevAccount>()
  for (const name of person.options) {
    made.set(name, network.account(handles[name]) ?? (await network.createAccount(handles[name], password?.(name))))
  }
  const one = (name: Person): DevAccount => {
    const account = made.get(name)
    if (account === undefined) throw new Error(`no account ${handles[name]}`)
    return account
  }
  return { alice: one('alice'), bob: one('bob'), carol: one('carol'), mallory: one('mallory'), runner: one('runner') }
}

/** The sample repositories, made the first time; afterwards what was made then, whatever became of it since. */
export async function seedSamples(network: Network, people: People, now: () => Date = () => new Date()): Promise<Samples> {
  const path = join(network.dataDir, 'samples.json')
  const kept = readJson(path)
  if (kept !== undefined) return samples.parse(kept)
  const scratch = mkdtempSync(join(tmpdir(), 'knotless-samples-'))
  try {
    const tids = createTidClock({ now: () => now().getTime(), clockId: Math.floor(Math.random() * 1024) })
    const ctx = { people, tids, now, scratch }
    const orchard = await seedRepo(ctx, {
      name: 'orchard',
      description: orchardDescription,
      commits: orchardCommits,
      runners: true,
      issue: orchardIssue,
      pulls: orchardPulls,
    })
    const almanac = await seedRepo(ctx, {
      name: 'almanac',
      description: almanacDescription,
      commits: almanacCommits,
      runners: false,
      pulls: () => almanacPulls,
    })
    writeFileSync(path, `${JSON.stringify({ orchard, almanac }, null, 2)}\n`)
    return { orchard, almanac }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}
