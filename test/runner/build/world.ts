/** What tests of the builder stand on: a local network whose accounts hold repositories, forks and pulls, and a ground read from them as a pass reads it. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGuardedFetch } from '../../../src/atproto/guarded-fetch.ts'
import { createIdentity } from '../../../src/atproto/identity.ts'
import { type AtUri, type Did, parseAtUri, parseDid, parseNsid } from '../../../src/atproto/ids.ts'
import { createReader, type Reader } from '../../../src/atproto/reader.ts'
import type { DevAccount } from '../../../src/devnet/account.ts'
import { type Network, startNetwork } from '../../../src/devnet/network.ts'
import { createMirrors, type Mirror } from '../../../src/git/mirror.ts'
import { checkRefsRecord } from '../../../src/git/refs-record.ts'
import { ofKind, readUsable } from '../../../src/indexer/sources/read-about.ts'
import type { Stored } from '../../../src/queue/facts.ts'
import { foldRepository } from '../../../src/queue/fold.ts'
import { type BuilderContext, createBuilder } from '../../../src/runner/build/builder.ts'
import { createLog } from '../../../src/runner/log.ts'
import type { LeftOut, Member } from '../../../src/runner/planner/types.ts'
import type { Builder, Ground, Source } from '../../../src/runner/types.ts'
import { packRow } from '../../git/support.ts'
import { type GatewayWorld, makePeople, type OpenedPull, type Planted, type PlantOptions, plantOn } from '../../server/gateway-world.ts'

export type TestBuilder = Builder & { close(): Promise<void> }

export interface BuildWorld {
  network: Network
  people: GatewayWorld['people']
  plant(name: string, options?: PlantOptions): Promise<Planted>
  /** A builder over mirrors of its own; closed with the world. */
  builder(more?: Partial<BuilderContext>, options?: { patienceMs?: number }): TestBuilder
  reader: Reader
  /** Everything about a repository as the accounts have it now. `sources` are read as well, unless they are given. */
  ground(planted: Planted, sources?: ReadonlyMap<string, Source>): Promise<Ground>
  /** Puts a refs record and packs into an account, whatever they are, as somebody with their own program would. */
  force(account: DevAccount, name: string, refs: Readonly<Record<string, string>>, packs: readonly Buffer[]): Promise<void>
  /** Lines of the log so far. */
  lines: readonly string[]
  end(): Promise<void>
}

export async function startBuildWorld(): Promise<BuildWorld> {
  const dir = mkdtempSync(join(tmpdir(), 'knotless-build-'))
  const network = await startNetwork()
  const people = await makePeople(network)
  const fetch = createGuardedFetch({ allowLoopback: true })
  const identity = createIdentity({ plcUrl: network.plcUrl, fetch, now: Date.now })
  const reader = createReader({ identity, fetch, now: Date.now })
  const builders: TestBuilder[] = []
  const lines: string[] = []
  return {
    network,
    people,
    lines,
    plant: (name, options = {}) => plantOn({ people, dir, indexed: () => Promise.resolve() }, name, options),
    reader,
    builder(more = {}, options = {}) {
      const log = createLog({ form: 'text', now: Date.now, write: line => lines.push(line) })
      const mirrors = createMirrors(join(dir, `mirrors-${builders.length}`))
      const made = createBuilder({ mirrors, reader, identity, did: didOf(people.rigby.did), now: Date.now, log, ...more }, options)
      builders.push(made)
      return made
    },
    ground: (planted, sources) => readGround(reader, Object.values(people), planted, sources),
    async force(account, name, refs, packs) {
      const listed: unknown[] = []
      for (const pack of packs) {
        const parts = [await account.upload(pack, 'application/octet-stream')]
        listed.push({ ...packRow(new Map(), pack, pack.length), parts })
      }
      const rows = Object.entries(refs).map(([branch, commit]) => ({ name: `refs/heads/${branch}`, commit, generation: 1 }))
      const repo = `at://${account.did}/dev.knotless.repo/${name}`
      await account.put('dev.knotless.refs', name, { repo, refs: rows, packs: listed, updatedAt: new Date().toISOString() })
    },
    async end() {
      for (const one of builders) await one.close()
      await network.stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

async function readGround(
  reader: Reader,
  accounts: readonly DevAccount[],
  planted: Planted,
  given: ReadonlyMap<string, Source> | undefined,
): Promise<Ground> {
  const now = Date.now()
  const { did: owner, rkey: name } = addressOf(planted.uri)
  const collection = (of: string) => parseNsid(`dev.knotless.${of}`) ?? assert.fail()
  const repo = await reader.getRecord(owner, collection('repo'), name)
  const refs = await reader.getRecord(owner, collection('refs'), name)
  assert.ok(repo !== undefined && refs !== undefined)
  const record = readUsable(repo, ofKind.repo, now)
  const stored = readUsable(refs, ofKind.refs, now)
  const checked = checkRefsRecord(refs.value, planted.uri)
  assert.ok(record !== undefined && stored !== undefined && checked.ok)
  const pulls: Stored<NonNullable<ReturnType<typeof ofKind.pull>>>[] = []
  for (const account of accounts) {
    for await (const read of reader.listAllRecords(didOf(account.did), collection('pull'), { max: 1_000 })) {
      const pull = readUsable(read, ofKind.pull, now)
      if (pull?.value.repo === planted.uri) pulls.push(pull)
    }
  }
  const sources = new Map<string, Source>(given)
  for (const { value } of pulls) {
    const { repo: fork } = value.head
    if (given !== undefined || fork === planted.uri || sources.has(fork)) continue
    sources.set(fork, await readSource(reader, fork))
  }
  const none = { states: [], queue: [], checks: [], landers: [], gone: new Set<string>(), merges: new Map(), tips: new Map() }
  const view = foldRepository({ repo: record, refs: new Map([[planted.uri, stored]]), pulls, ...none }, now)
  return { repo: planted.uri, owner, name, view, refs: checked.record, stored, sources, unread: [], readAt: now }
}

async function readSource(reader: Reader, repo: string): Promise<Source> {
  const { did, rkey } = addressOf(repo)
  const found = await reader.getRecord(did, parseNsid('dev.knotless.refs') ?? assert.fail(), rkey)
  if (found === undefined) return { state: 'gone' }
  const stored = readUsable(found, ofKind.refs, Date.now())
  const checked = checkRefsRecord(found.value, repo)
  if (stored === undefined || !checked.ok) return { state: 'broken', detail: checked.ok ? 'It is none.' : checked.message }
  return { state: 'read', stored, refs: checked.record }
}

/** Pulls in their order, as a planner would name them. */
export function candidatesOf(pulls: readonly OpenedPull[]) {
  return pulls.map(({ uri }, n) => ({ pull: uri, entry: `${uri}/entry`, key: `key-${n}` }))
}

export interface Outcome {
  stack: { tip: string; tree: string; members: readonly Member[] } | null
  /** By the branch of the pull. */
  left: Record<string, LeftOut>
}

/** Builds on the branch, and gives what came of it by the pulls' branches. Whoever is left out at a head is left out at that of the pull. */
export async function built(
  builder: Builder,
  ground: Ground,
  pulls: readonly OpenedPull[],
  { most = pulls.length, base = tipOf(ground) }: { most?: number; base?: string } = {},
): Promise<Outcome> {
  const outcome = await builder.build(ground, { base, candidates: candidatesOf(pulls), most })
  assert.ok(outcome.ok, JSON.stringify(outcome))
  const left: Record<string, LeftOut> = {}
  for (const [key, { head, ...why }] of outcome.left) {
    const pull = pulls[Number(key.slice(4))] ?? assert.fail(key)
    const isMerged = why.why === 'conflict' || why.why === 'empty'
    assert.equal(isMerged ? head : (head ?? pull.head), pull.head)
    left[pull.branch] = why
  }
  return { stack: outcome.stack, left }
}

export function tipOf(ground: Ground): string {
  return ground.refs.refs.find(row => row.name === 'refs/heads/main')?.commit ?? assert.fail()
}

export async function mirrorOf(builder: Builder, ground: Ground): Promise<Mirror> {
  const brought = await builder.bring(ground)
  assert.ok(brought.ok, JSON.stringify(brought))
  return brought.mirror
}

export function didOf(text: string): Did {
  return parseDid(text) ?? assert.fail(text)
}

function addressOf(uri: AtUri | string) {
  return parseAtUri(uri) ?? assert.fail(uri)
}
