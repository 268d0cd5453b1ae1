/** What tests of the gateway stand on: a local network, the real server over it, an owner who delegated, and repositories with pulls. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { type AtUri, makeAtUri, parseAtUri, parseTid } from '../../src/atproto/ids.ts'
import type { DevAccount } from '../../src/devnet/account.ts'
import { giveDelegation } from '../../src/devnet/give-delegation.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { refsAccount } from '../../src/devnet/refs-account.ts'
import { gitEnv } from '../../src/git/env.ts'
import { pushRefs } from '../../src/git/push.ts'
import { checkRefsRecord } from '../../src/git/refs-record.ts'
import { recordAt } from '../../src/indexer/read.ts'
import { tidAt } from '../../src/queue/tid.ts'
import type { Overrides } from '../../src/server/context.ts'
import type { Gateway } from '../../src/server/gateway/types.ts'
import { commit, git } from '../git/support.ts'
import { until } from '../support/until.ts'
import { type Served, serve } from './serve.ts'

export type Files = Parameters<typeof commit>[2]

export interface GatewayWorld {
  network: Network
  server: Served
  /** The owner, who has delegated; a collaborator; an author of nothing else; somebody who is nobody; a runner. */
  people: Record<'alice' | 'bob' | 'carol' | 'mallory' | 'rigby', DevAccount>
  gateway: Gateway
  plant(name: string, options?: PlantOptions): Promise<Planted>
  /** Calls a procedure with a token that the account's own server signs. */
  call(account: DevAccount, method: string, input: Record<string, unknown>, token?: Record<string, unknown>): Promise<Answer>
  end(): Promise<void>
}

export interface Answer {
  status: number
  body: Record<string, unknown>
}

export interface PlantOptions {
  record?: Record<string, unknown>
  files?: Files
}

/** A repository of alice's. */
export interface Planted {
  uri: AtUri
  name: string
  /** A local git directory with everything that was pushed from here. */
  gitDir: string
  tip: string
  /** Opens a pull; its head branch lies in the repository, or in a fork of the author's. */
  openPull(pull: PullPlan): Promise<OpenedPull>
  /** The refs record as alice's account has it. */
  refs(): Promise<Map<string, string>>
  /** Pushes straight to alice's account, past the server. */
  push(branch: string, to: string | null): Promise<void>
  /** The same to somebody's fork. */
  pushAs(account: DevAccount, branch: string, to: string | null): Promise<void>
  /** Edits the repository's record. */
  edit(fields: Record<string, unknown>): Promise<void>
  /** The states that alice's account holds about a pull or an issue. */
  states(subject: string): Promise<{ uri: string; value: Record<string, unknown> }[]>
}

export interface PullPlan {
  branch: string
  files: Files
  author?: DevAccount
  fork?: boolean
  title?: string
  body?: string
  onto?: string
  draft?: boolean
  parents?: string[]
}

export interface OpenedPull {
  uri: AtUri
  head: string
  branch: string
}

const key = keys()

export const baseFiles: Files = { 'README.md': 'An orchard.\n', 'trees/apple.txt': 'one\ntwo\nthree\nfour\nfive\n' }

export async function startGatewayWorld(
  options: { overrides?: Overrides; env?: Record<string, string>; delegate?: boolean } = {},
): Promise<GatewayWorld> {
  const dir = mkdtempSync(join(tmpdir(), 'knotless-gateway-'))
  const network = await startNetwork()
  const people = await makePeople(network)
  const server = await serve(network, options)
  if (options.delegate !== false) await giveDelegation(server.url, people.alice)
  return {
    network,
    server,
    people,
    gateway: server.context.gateway,
    plant: (name, plan = {}) => plantOn({ people, dir, indexed: uri => inIndex(server, uri) }, name, plan),
    async call(account, method, input, token = {}) {
      const bearer = await tokenOf(server, account, { lxm: method, ...token })
      return await post(server, method, input, bearer)
    },
    async end() {
      await server.end()
      await network.stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** The accounts of a world. */
export async function makePeople(network: Network): Promise<GatewayWorld['people']> {
  const made = async (name: string) => network.account(`${name}.test`) ?? (await network.createAccount(`${name}.test`))
  return {
    alice: await made('alice'),
    bob: await made('bob'),
    carol: await made('carol'),
    mallory: await made('mallory'),
    rigby: await made('rigby'),
  }
}

/** A token for this server as the account's own server signs it. */
export function tokenOf(server: Served, account: DevAccount, params: Record<string, unknown>): Promise<string> {
  return tokenFor(account, { aud: server.context.config.did, ...params })
}

export async function tokenFor(account: DevAccount, all: Record<string, unknown>): Promise<string> {
  const asked = Object.fromEntries(Object.entries(all).map(([name, value]) => [name, typeof value === 'number' ? value : String(value)]))
  const answer = await account.call('com.atproto.server.getServiceAuth', { params: asked })
  return z.object({ token: z.string() }).parse(answer).token
}

export async function post(server: { url: string }, method: string, input: Record<string, unknown>, bearer?: string): Promise<Answer> {
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (bearer !== undefined) headers.authorization = `Bearer ${bearer}`
  const answer = await fetch(`${server.url}/xrpc/${method}`, { method: 'POST', headers, body: JSON.stringify(input) })
  return { status: answer.status, body: z.record(z.string(), z.unknown()).parse(await answer.json()) }
}

/** Settles when a server has indexed a record. */
async function inIndex(server: Served, uri: string): Promise<void> {
  await until(() => recordAt(server.context.database, uri), { what: `${uri} to be indexed` })
}

/** Makes a repository of alice's; `indexed` settles when a server knows of a record. */
export async function plantOn(
  world: Pick<GatewayWorld, 'people'> & { dir: string; indexed(uri: string): Promise<void> },
  name: string,
  { record = {}, files = baseFiles }: PlantOptions = {},
): Promise<Planted> {
  const { people, indexed } = world
  const { alice, bob, carol } = people
  const gitDir = join(world.dir, `${name}.git`)
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', gitDir], { env: gitEnv() })
  const tip = commit(gitDir, 'main', files, { message: 'First' })
  const uri = uriOf(refsAccount(alice, name).repo)
  let value: Record<string, unknown> = {
    defaultBranch: 'main',
    collaborators: [{ did: bob.did }],
    runners: [],
    protections: [],
    createdAt: new Date().toISOString(),
    ...record,
  }
  await alice.put('dev.knotless.repo', name, value)

  async function pushTo(account: DevAccount, branch: string, to: string | null): Promise<void> {
    const refs = refsAccount(account, name)
    const updates = [{ name: `refs/heads/${branch}`, commit: to, force: true }]
    const pushed = await pushRefs({ gitDir, account: refs, repo: refs.repo, updates, now: () => new Date() })
    assert.ok(pushed.ok, JSON.stringify(pushed))
  }
  await pushTo(alice, 'main', tip)
  await indexed(uri)
  return {
    uri,
    name,
    gitDir,
    tip,
    async openPull({ branch, files: changed, author = carol, fork = false, title = `Change ${branch}`, parents = [tip], ...plan }) {
      const head = commit(gitDir, branch, { ...files, ...changed }, { parents, author: 'Carol <carol@example.com>' })
      const holder = fork ? author : alice
      if (fork) {
        await author.put('dev.knotless.repo', name, {
          defaultBranch: 'main',
          collaborators: [],
          runners: [],
          createdAt: new Date().toISOString(),
        })
        await pushTo(author, 'main', tip)
      }
      await pushTo(holder, branch, head)
      const { onto = 'main', body, draft } = plan
      const fields = { repo: uri, branch: onto, head: { repo: refsAccount(holder, name).repo, branch }, title }
      const pull = await author.create(
        'dev.knotless.pull',
        {
          ...fields,
          ...(body === undefined ? {} : { body }),
          ...(draft === undefined ? {} : { draft }),
          createdAt: new Date().toISOString(),
        },
        key(),
      )
      await indexed(pull.uri)
      return { uri: uriOf(pull.uri), head, branch }
    },
    async refs() {
      const found = await alice.get('dev.knotless.refs', name)
      const checked = checkRefsRecord(found?.value)
      assert.ok(checked.ok)
      return new Map(checked.record.refs.map(row => [row.name.replace('refs/heads/', ''), row.commit]))
    },
    push: (branch, to) => pushTo(alice, branch, to),
    pushAs: pushTo,
    async edit(fields) {
      value = { ...value, ...fields }
      await alice.put('dev.knotless.repo', name, value)
    },
    async states(subject) {
      const all = await alice.list('dev.knotless.state')
      return all.filter(state => state.value.subject === subject)
    },
  }
}

/** Keys of now, each after the one before. */
function keys(): () => string {
  let last = 0
  return () => {
    last = Math.max(Date.now(), last + 1)
    const tid = parseTid(tidAt(last))
    assert.ok(tid !== undefined)
    return tid
  }
}

export function uriOf(text: string): AtUri {
  const at = parseAtUri(text)
  assert.ok(at !== undefined, text)
  return makeAtUri(at.did, at.collection, at.rkey)
}

/** A commit of the server's mirror, as git shows it. */
export async function shown(server: Served, repo: AtUri, id: string): Promise<string> {
  const mirror = await server.context.mirrors.of(repo)
  return git(mirror.dir, ['cat-file', 'commit', id])
}

/** The file of a commit in the server's mirror. */
export async function fileAt(server: Served, repo: AtUri, id: string, path: string): Promise<string> {
  const mirror = await server.context.mirrors.of(repo)
  return git(mirror.dir, ['cat-file', 'blob', `${id}:${path}`])
}

/** The lines of the audit log of an owner, oldest first. */
export function auditOf(server: Served, owner: DevAccount) {
  return server.context.audit.list(owner.did, { limit: 1_000 }).toReversed()
}
