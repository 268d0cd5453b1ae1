/** What the gateway's benchmarks run on: a local network, the real server as a program of its own, and a large repository of an owner who delegated. */
import { mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { createTidClock } from '../../src/atproto/tid.ts'
import type { DevAccount } from '../../src/devnet/account.ts'
import { giveDelegation } from '../../src/devnet/give-delegation.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { freePort } from '../../src/devnet/ports.ts'
import { refsAccount } from '../../src/devnet/refs-account.ts'
import { createMirrors } from '../../src/git/mirror.ts'
import { pushRefs } from '../../src/git/push.ts'
import { runGit } from '../../src/git/run.ts'
import { type Program, run } from '../processes.ts'
import { type MadeRepository, makeRepository, type Size } from './repository.ts'

export interface GatewayWorld {
  dir: string
  repository: MadeRepository
  /** The server's origin, and the clone address of the repository there. */
  origin: string
  url: string
  /** The same repository, and one that takes pushes, behind `git http-backend`. */
  peer: { clone: string; push: string }
  alice: DevAccount
  bob: DevAccount
  /** A repository of alice's with the same main, without a record of its own: nobody follows it. */
  byHand: string
  /** Open pulls, oldest first. */
  pulls: readonly string[]
  /** Settles once the server has merged a pull onto the branch as it is now, and would land it. */
  mergeable(pull: string): Promise<void>
  /** A service-auth token of bob's for a method of this server. */
  token(method: string): Promise<string>
  end(): Promise<void>
}

const name = 'big'
const byHand = 'by-hand'
const tokenShape = z.object({ token: z.string() })
const statusShape = z
  .object({ applies: z.boolean().optional(), can: z.object({ merge: z.object({ allowed: z.boolean() }).loose() }).loose() })
  .loose()

/** How far the setting up is, which takes a minute or two. */
function sayer(): (what: string) => void {
  const started = performance.now()
  return what => console.error(`${((performance.now() - started) / 1000).toFixed(1)} s: ${what}`)
}

/** Files by the ten thousand belong in memory: a disk is slow by fits. */
function scratch(): string {
  const memory = statSync('/dev/shm', { throwIfNoEntry: false })?.isDirectory() ? '/dev/shm' : tmpdir()
  return mkdtempSync(join(process.env.TMPDIR ?? memory, 'knotless-bench-'))
}

/** Makes all of it. The pulls' heads lie half in the repository itself and half in a fork. */
export async function startGatewayWorld(size: Size): Promise<GatewayWorld> {
  const dir = scratch()
  const say = sayer()
  const stops: (() => Promise<unknown>)[] = [async () => rmSync(dir, { recursive: true, force: true, maxRetries: 5 })]
  const end = async () => {
    for (const stop of stops.splice(0).reverse()) await stop()
  }
  try {
    const repository = await makeRepository(join(dir, 'source.git'), size)
    say('repository made')
    const network = await startNetwork({ dataDir: join(dir, 'network') })
    stops.push(() => network.stop())
    const people = {
      alice: await network.createAccount('alice.test'),
      bob: await network.createAccount('bob.test'),
      carol: await network.createAccount('carol.test'),
    }
    const pulls = await plant(people, repository)
    say('pushed to the accounts')
    const server = await serve(network, dir)
    stops.push(() => server.program.stop())
    await giveDelegation(server.origin, people.alice)
    say('delegated')
    const token = async (method: string) => {
      const params = { aud: server.did, lxm: method, exp: Math.floor(Date.now() / 1000) + 60 }
      return tokenShape.parse(await people.bob.call('com.atproto.server.getServiceAuth', { params })).token
    }
    const url = `${server.origin}/alice.test/${name}.git`
    const mergeable = (pull: string) => settled(server.origin, pull, () => token('dev.knotless.getMergeStatus'))
    await served(url)
    for (const pull of pulls) await mergeable(pull)
    say('served, and every pull merged for its status')
    const mirror = await createMirrors(join(dir, 'data', 'mirrors')).of(refsAccount(people.alice, name).repo)
    const peer = await servePeer(dir, mirror.dir)
    stops.push(() => peer.program.stop())
    return {
      dir,
      repository,
      origin: server.origin,
      url,
      peer: peer.urls,
      alice: people.alice,
      bob: people.bob,
      byHand,
      pulls,
      mergeable,
      token,
      end,
    }
  } catch (error) {
    await end()
    throw error
  }
}

/** The repository with its fork, pushed to the accounts, and the pulls. */
async function plant(people: Record<'alice' | 'bob' | 'carol', DevAccount>, repository: MadeRepository): Promise<string[]> {
  const { alice, bob, carol } = people
  const createdAt = new Date().toISOString()
  const record = { defaultBranch: 'main', collaborators: [], runners: [], protections: [], createdAt }
  await alice.put('dev.knotless.repo', name, { ...record, collaborators: [{ did: bob.did }] })
  await carol.put('dev.knotless.repo', name, record)
  const owners = repository.heads.map((_, n) => (n % 2 === 0 ? alice : carol))
  for (const owner of [alice, carol]) {
    const heads = repository.heads.flatMap((commit, n) => (owners[n] === owner ? [{ name: `refs/heads/pull-${n}`, commit }] : []))
    await push(owner, name, repository, heads)
  }
  await push(alice, byHand, repository, [])
  const tids = createTidClock({ now: Date.now, clockId: 1 })
  const repo = refsAccount(alice, name).repo
  const pulls: string[] = []
  for (const [n, owner] of owners.entries()) {
    const head = { repo: refsAccount(owner, name).repo, branch: `pull-${n}` }
    const written = await carol.create('dev.knotless.pull', { repo, branch: 'main', head, title: `Pull ${n}`, createdAt }, tids.next())
    pulls.push(written.uri)
  }
  return pulls
}

async function push(
  owner: DevAccount,
  to: string,
  { gitDir, main }: MadeRepository,
  heads: { name: string; commit: string }[],
): Promise<void> {
  const account = refsAccount(owner, to)
  const updates = [{ name: 'refs/heads/main', commit: main }, ...heads]
  const pushed = await pushRefs({ gitDir, updates, account, repo: account.repo, now: () => new Date() })
  if (!pushed.ok) throw new Error(pushed.message)
}

async function serve(network: Network, dir: string): Promise<{ origin: string; did: string; program: Program }> {
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const profile = process.env.KNOTLESS_BENCH_PROFILE
  const env = {
    KNOTLESS_PUBLIC_URL: origin,
    PORT: String(port),
    KNOTLESS_DB: join(dir, 'data', 'index.sqlite'),
    KNOTLESS_DATA: join(dir, 'data'),
    KNOTLESS_JETSTREAM: network.jetstreamUrl,
    KNOTLESS_RELAY: network.relayUrl,
    KNOTLESS_PLC: network.plcUrl,
    KNOTLESS_HANDLE_RESOLVER: network.pdsUrl,
    KNOTLESS_ALLOW_LOOPBACK: '1',
    KNOTLESS_SECRET: 'a secret for benchmarks, of 32 letters or more',
    KNOTLESS_RATE_LIMIT: '100000000',
    KNOTLESS_LOG: process.env.KNOTLESS_BENCH_LOG ?? 'silent',
    ...(profile === undefined ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profile}` }),
  }
  const program = await run(['src/cli/main.ts', 'serve'], env, `${origin}/healthz`)
  const document = z
    .object({ id: z.string() })
    .loose()
    .parse(await (await fetch(`${origin}/.well-known/did.json`)).json())
  return { origin, did: document.id, program }
}

const patience = 300_000
const pause = 100

async function served(url: string): Promise<void> {
  for (const until = Date.now() + patience; Date.now() < until; await wait(pause)) {
    const answer = await fetch(`${url}/info/refs?service=git-upload-pack`).catch(() => undefined)
    await answer?.arrayBuffer()
    if (answer?.ok) return
  }
  throw new Error('the repository is not served')
}

async function settled(origin: string, pull: string, token: () => Promise<string>): Promise<void> {
  let last = ''
  for (const until = Date.now() + patience; Date.now() < until; await wait(pause)) {
    const headers = { authorization: `Bearer ${await token()}` }
    const answer = await fetch(`${origin}/xrpc/dev.knotless.getMergeStatus?pull=${encodeURIComponent(pull)}`, { headers })
    last = await answer.text()
    const status = statusShape.safeParse(JSON.parse(last)).data
    if (status?.applies === true && status.can.merge.allowed) return
  }
  throw new Error(`${pull} cannot be merged: ${last.slice(0, 1_000)}`)
}

/** The very mirror of the server for clones, and a repository that borrows its objects for pushes. */
async function servePeer(dir: string, mirror: string): Promise<{ program: Program; urls: { clone: string; push: string } }> {
  const root = join(dir, 'peer')
  const target = join(root, 'push.git')
  const made = await runGit(['clone', '--quiet', '--bare', '--shared', mirror, target], {
    env: { GIT_ALLOW_PROTOCOL: 'file' },
    config: ['protocol.allow=always'],
  })
  if (made.code !== 0) throw new Error(made.stderr)
  await runGit(['config', 'http.receivepack', 'true'], { dir: target })
  symlinkSync(mirror, join(root, 'clone.git'))
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const program = await run(['bench/gateway/http-backend.ts', String(port), root], {}, `${origin}/`)
  return { program, urls: { clone: `${origin}/clone.git`, push: `${origin}/push.git` } }
}
