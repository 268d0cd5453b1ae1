import { cidForLex } from '@atproto/lex-cbor'
import type { LexValue } from '@atproto/lex-data'
import { parseDid } from '../../src/atproto/ids.ts'
import { createIngest } from '../../src/indexer/ingest/queue.ts'
import { tidAt } from '../../src/queue/tid.ts'
import type { Context } from '../../src/server/context.ts'
import { did } from '../queue/made-up.ts'

/** Who is who in the orchard. */
export interface People {
  owner: string
  collaborator: string
  author: string
  runner: string
}

export const madeUp: People = { owner: did('alice'), collaborator: did('bob'), author: did('carol'), runner: did('rigby') }

/** Records written straight into a server's index, as its stream would. */
export interface Orchard {
  repo: string
  /** Addresses of the pulls, oldest first. */
  pulls: readonly string[]
  /** Writes a record; gives its address. */
  write(account: string, collection: string, rkey: string, record: Record<string, LexValue>): Promise<string>
  remove(account: string, collection: string, rkey: string): Promise<void>
  /** A key of now, after every key before. */
  key(): string
  queue(pull: string, by?: string): Promise<string>
  stop(): Promise<void>
}

/**
 * A repository with `count` open pulls onto main, none queued; accounts have handles where given. Its owner has delegated to the server, as far as
 * its own rows say, unless `delegated` is false.
 */
export async function plantOrchard(
  ctx: Context,
  options: { people?: People; count?: number; name?: string; handles?: Record<string, string>; delegated?: boolean } = {},
): Promise<Orchard> {
  const people = options.people ?? madeUp
  const name = options.name ?? 'orchard'
  const ingest = createIngest({
    index: ctx.database,
    now: ctx.now,
    service: 'test',
    failed: error => {
      throw error
    },
  })
  let last = Date.now() - 30 * 60_000
  let revision = 0
  const iso = () => new Date(last).toISOString()
  const key = () => {
    last += 1
    return tidAt(last)
  }

  async function write(account: string, collection: string, rkey: string, record: Record<string, LexValue>): Promise<string> {
    const value = { $type: collection, createdAt: iso(), ...record }
    const cid = (await cidForLex(value)).toString()
    await ingest.now({
      kind: 'record',
      source: 'own',
      did: account,
      collection,
      rkey,
      rev: tidAt(Date.now() + ++revision),
      operation: 'create',
      cid,
      record: value,
    })
    return `at://${account}/${collection}/${rkey}`
  }

  const repo = await write(people.owner, 'dev.knotless.repo', name, {
    defaultBranch: 'main',
    collaborators: [{ did: people.collaborator }],
    runners: [{ did: people.runner }],
  })
  const commit = (n: number) => n.toString(16).padStart(40, '0')
  const count = options.count ?? 3
  const branches = Array.from({ length: count }, (_, n) => ({ name: `refs/heads/topic-${n}`, commit: commit(n + 2), generation: 1 }))
  await write(people.owner, 'dev.knotless.refs', name, {
    repo,
    refs: [
      { name: 'refs/heads/main', commit: commit(1), generation: 1 },
      { name: 'refs/heads/idle', commit: commit(1), generation: 2 },
      ...branches,
    ],
    packs: [],
    updatedAt: iso(),
  })
  const pulls: string[] = []
  for (let n = 0; n < count; n++) {
    const fields = { repo, branch: 'main', head: { repo, branch: `topic-${n}` }, title: `Pull ${n}` }
    pulls.push(await write(people.author, 'dev.knotless.pull', key(), fields))
  }
  for (const [account, handle] of Object.entries(options.handles ?? {})) {
    await ingest.now({ kind: 'resolved', did: account, handle, askedUs: Date.now() * 1000 })
  }
  const owner = parseDid(people.owner)
  if (owner !== undefined && options.delegated !== false) {
    ctx.delegations.given(owner)
    // There are no tokens that could be renewed, whatever the clock of a test does.
    const never = Date.UTC(9999, 0)
    await ctx.db.updateTable('delegation').set({ due_at: never, until: never }).where('did', '=', owner).execute()
  }
  return {
    repo,
    pulls,
    write,
    async remove(account, collection, rkey) {
      await ingest.now({
        kind: 'record',
        source: 'own',
        did: account,
        collection,
        rkey,
        rev: tidAt(Date.now() + ++revision),
        operation: 'delete',
      })
    },
    key,
    queue: (pull, by = people.owner) => write(by, 'dev.knotless.queue', key(), { repo, subject: pull, state: 'queued' }),
    stop: () => ingest.stop(),
  }
}
