/** A pass over 1,000 queued pulls with nothing to do, as far as it reads; and the memory of a runner with 1,000 in 100 repositories. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import type { DevAccount } from '../src/devnet/account.ts'
import { type Network, startNetwork } from '../src/devnet/network.ts'
import { freePort } from '../src/devnet/ports.ts'
import { tidAt } from '../src/queue/tid.ts'
import { readConfig } from '../src/server/config.ts'
import { createServer, type Server } from '../src/server/server.ts'
import { pullCheckKey } from '../src/workflows/check-keys.ts'
import { type Figure, limited, median } from './figures.ts'
import { startChild } from './gateway/children.ts'
import { commitOf } from './made-up.ts'

const QUEUED = 1_000
const AUTHORS = 20
const OWNERS = 10
/** As `scripts/with-node.sh` starts the programs. */
const flags = ['--max-semi-space-size=4', '--heap-growing-percent=20']

const measured = z.object({
  waiting: z.number(),
  unread: z.number(),
  cpu: z.array(z.number()),
  wall: z.array(z.number()),
  firstMs: z.number(),
  mostMiB: z.number(),
})

export async function benchIdle(): Promise<Figure[]> {
  const dir = mkdtempSync(join(tmpdir(), 'knotless-bench-'))
  const network = await startNetwork()
  const { server, url } = await serve(network, dir)
  try {
    const people = await makePeople(network)
    const one = await plant(people, { owners: people.owners.slice(0, 1), repositories: 1 })
    const many = await plant(people, { owners: people.owners, repositories: 100 })
    await network.settled()
    await server.context.indexer.settled()
    const where = { plcUrl: network.plcUrl, pdsUrl: network.pdsUrl, server: url, did: people.runner.did }
    const busy = await inChild({ ...where, repos: one })
    const wide = await inChild({ ...where, repos: many })
    return [
      limited('CPU of what an idle pass reads, 1,000 queued pulls', median(busy.cpu), 'ms', 200),
      limited('the same, from beginning to end', median(busy.wall), 'ms', 2_000),
      limited('CPU of what 100 idle passes read, 10 queued pulls each', median(wide.cpu), 'ms', 2_000),
      limited('memory of a runner’s reads, 1,000 queued pulls in 100 repositories', wide.mostMiB, 'MiB', 250),
    ]
  } finally {
    await server.stop()
    await network.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}

async function inChild(where: object): Promise<z.output<typeof measured>> {
  const child = await startChild('../idle/runner.ts', [JSON.stringify(where)], flags)
  try {
    const figures = measured.parse((await child.ask({})).figures)
    if (figures.waiting !== QUEUED) throw new Error(`${figures.waiting} pulls wait, not ${QUEUED}`)
    return figures
  } finally {
    await child.stop()
  }
}

async function serve(network: Network, dir: string): Promise<{ server: Server; url: string }> {
  const url = `http://127.0.0.1:${await freePort()}`
  const read = readConfig({
    KNOTLESS_PUBLIC_URL: url,
    PORT: new URL(url).port,
    KNOTLESS_DB: join(dir, 'index.sqlite'),
    KNOTLESS_DATA: dir,
    KNOTLESS_JETSTREAM: network.jetstreamUrl,
    KNOTLESS_PLC: network.plcUrl,
    KNOTLESS_HANDLE_RESOLVER: network.pdsUrl,
    KNOTLESS_ALLOW_LOOPBACK: '1',
    KNOTLESS_SECRET: 'a secret for benchmarks, of 32 letters or more',
    KNOTLESS_RATE_LIMIT: '100000000',
    KNOTLESS_LOG: 'silent',
  })
  if (!read.ok) throw new Error(read.fault)
  const server = await createServer(read.config)
  await server.start()
  return { server, url }
}

interface People {
  owners: DevAccount[]
  authors: DevAccount[]
  collaborator: DevAccount
  runner: DevAccount
}

async function makePeople(network: Network): Promise<People> {
  const made = async (role: string, n: number) => await network.createAccount(`${role}-${n}.test`)
  const all = async (role: string, count: number) => {
    const accounts: DevAccount[] = []
    for (let n = 0; n < count; n++) accounts.push(await made(role, n))
    return accounts
  }
  return {
    owners: await all('owner', OWNERS),
    authors: await all('author', AUTHORS),
    collaborator: await made('collaborator', 0),
    runner: await made('runner', 0),
  }
}

let ms = Date.now() - 3_600_000
const key = () => tidAt(ms++)

/** Repositories with pulls in their queues, half of their heads in forks, each with a pre-flight that passed. Gives the repositories. */
async function plant(people: People, { owners, repositories }: { owners: DevAccount[]; repositories: number }): Promise<string[]> {
  const { authors, collaborator, runner } = people
  const writes = new Map<DevAccount, Write[]>()
  const write = (account: DevAccount, collection: string, rkey: string, fields: object) => {
    const value = { $type: collection, ...fields, createdAt: new Date().toISOString() }
    const own = writes.get(account) ?? []
    own.push({ $type: 'com.atproto.repo.applyWrites#create', collection, rkey, value })
    writes.set(account, own)
  }
  const repos: string[] = []
  for (let r = 0; r < repositories; r++) {
    const owner = owners[r % owners.length]
    if (owner === undefined) throw new Error('no owner')
    const name = `plot-${repositories}-${r}`
    const repo = `at://${owner.did}/dev.knotless.repo/${name}`
    const tip = commitOf(repo)
    repos.push(repo)
    const named = { defaultBranch: 'main', collaborators: [{ did: collaborator.did }], runners: [{ did: runner.did }] }
    write(owner, 'dev.knotless.repo', name, named)
    const branches = new Map<DevAccount, string[]>([[owner, []]])
    for (let n = 0; n < QUEUED / repositories; n++) {
      const author = authors[(r + n) % authors.length]
      if (author === undefined) throw new Error('no author')
      const holder = n % 2 === 0 ? owner : author
      const branch = `topic-${n}`
      const head = commitOf(`${repo} ${n}`)
      branches.set(holder, [...(branches.get(holder) ?? []), branch])
      const rkey = key()
      const pull = `at://${author.did}/dev.knotless.pull/${rkey}`
      const from = { repo: `at://${holder.did}/dev.knotless.repo/${name}`, branch }
      const body = 'It bears more that way, and the rows above it lose nothing. '.repeat(8)
      write(author, 'dev.knotless.pull', rkey, { repo, branch: 'main', head: from, title: `Graft row ${n} of ${name}`, body })
      write(collaborator, 'dev.knotless.queue', key(), { repo, subject: pull, state: 'queued', head, branch: 'main' })
      const run = pullCheckKey(pull, { tip: head, base: tip, file: 'check.yml', tid: key() })
      const check = { workflow: 'check', status: 'success', ref: 'refs/heads/main', generation: 1, commit: head, baseCommit: tip, pull }
      write(runner, 'dev.knotless.check', run, { repo, ...check, queue: 'first', startedAt: new Date().toISOString() })
    }
    for (const [holder, own] of branches) {
      const refs = own.map(branch => ({ name: `refs/heads/${branch}`, commit: commitOf(`${repo} ${branch.slice(6)}`), generation: 1 }))
      const at = `at://${holder.did}/dev.knotless.repo/${name}`
      const main = { name: 'refs/heads/main', commit: tip, generation: 1 }
      write(holder, 'dev.knotless.refs', name, { repo: at, refs: [main, ...refs], packs: [], updatedAt: '2026-11-01T00:00:00.000Z' })
    }
  }
  for (const [account, own] of writes) await send(account, own)
  return repos
}

interface Write {
  $type: string
  collection: string
  rkey: string
  value: object
}

/** So many in one commit as a server takes. */
async function send(account: DevAccount, writes: readonly Write[]): Promise<void> {
  for (let from = 0; from < writes.length; from += 200) {
    await account.call('com.atproto.repo.applyWrites', { input: { repo: account.did, writes: writes.slice(from, from + 200) } })
  }
}
