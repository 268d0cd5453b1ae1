/** What tests of runs stand on: a real network with runners' accounts, a made-up repository, and an executor that is told how each run goes. */
import assert from 'node:assert/strict'
import { gunzipSync } from 'node:zlib'
import { createGuardedFetch } from '../../../src/atproto/guarded-fetch.ts'
import { createIdentity } from '../../../src/atproto/identity.ts'
import { type Did, parseAtUri, parseDid } from '../../../src/atproto/ids.ts'
import { createReader } from '../../../src/atproto/reader.ts'
import { createTidClock } from '../../../src/atproto/tid.ts'
import type { DevAccount } from '../../../src/devnet/account.ts'
import { type Network, startNetwork } from '../../../src/devnet/network.ts'
import type { PdsSettings } from '../../../src/devnet/pds.ts'
import type { CheckRecord } from '../../../src/queue/facts.ts'
import type { RunnerContext } from '../../../src/runner/context.ts'
import { createSlots } from '../../../src/runner/executor/slots.ts'
import { createRuns, type OwnRuns, type RunsOptions } from '../../../src/runner/runs/runs.ts'
import type { Chosen, Executor, Ground, Job, JobEnd, Subject } from '../../../src/runner/types.ts'
import { parseWorkflow } from '../../../src/workflows/parse.ts'
import type { Workflow } from '../../../src/workflows/workflow.ts'
import { History, type Did as MadeUpDid } from '../../queue/support.ts'
import { until } from '../../support/until.ts'

export const checks = 'dev.knotless.check'

export interface RunsWorld {
  network: Network
  account(name: string): Promise<DevAccount>
  /** A runner's parts over an account. */
  runner(
    account: DevAccount,
    more?: Partial<Pick<RunsOptions, 'secrets' | 'live' | 'slots' | 'pause'>> & { jobs?: number; isolated?: boolean; executor?: Executor },
  ): Promise<TestRunner>
  end(): Promise<void>
}

export interface TestRunner {
  ctx: RunnerContext
  runs: OwnRuns
  executor: ScriptedExecutor
  /** What rang, in order. */
  rings: { repo: string; why: string }[]
  /** Log lines of the runner, by event. */
  events: string[]
  /** Moves this runner's clock on, in milliseconds. */
  pass(ms: number): void
  /** The same account in another process. */
  again(): Promise<TestRunner>
}

/** How many accounts were made in this process: names are used once. */
let made = 0

export async function startRunsWorld(pds: PdsSettings = {}): Promise<RunsWorld> {
  const network = await startNetwork({ pds })
  const fetch = createGuardedFetch({ allowLoopback: true })
  const identity = createIdentity({ plcUrl: network.plcUrl, handleResolver: network.pdsUrl, fetch, now: Date.now })
  const reader = createReader({ identity, fetch, now: Date.now })

  async function runner(account: DevAccount, more: Parameters<RunsWorld['runner']>[1] = {}): Promise<TestRunner> {
    let shift = 0
    const events: string[] = []
    const now = () => Date.now() + shift
    const clock = createTidClock({ now, clockId: ++made % 1024 })
    const note = (event: string) => void events.push(event)
    const unused = () => Promise.reject(new Error('not part of this test'))
    const ctx: RunnerContext = {
      did: account.did,
      session: account.session,
      writer: account.writer,
      reader,
      identity,
      appview: {
        url: 'http://127.0.0.1',
        did: unused,
        facts: unused,
        delegated: unused,
        pushToken: unused,
        report: unused,
        issues: unused,
      },
      mirrors: { of: unused },
      now,
      nextKey: () => clock.next(),
      instance: 'one',
      version: '0',
      git: 'git version 2.39.5',
      settings: {
        repos: [],
        queue: true,
        batch: 8,
        depth: 2,
        waitMs: 0,
        noticeMs: 30_000,
        sweepMs: 300_000,
        jobs: more.jobs ?? 4,
        timeoutMs: 2_700_000,
        executor: 'docker',
        allowNetwork: false,
        once: false,
        dryRun: false,
      },
      log: { info: note, warn: note, error: note },
      names: () => undefined,
    }
    const pass = (ms: number) => {
      shift += ms
    }
    const executor = scriptedExecutor(more.isolated ?? true)
    const rings: TestRunner['rings'] = []
    const slots = more.slots ?? createSlots({ jobs: more.jobs ?? 4 })
    const runs = createRuns({
      ctx,
      executor: more.executor ?? executor,
      slots,
      ring: (repo, why) => void rings.push({ repo, why }),
      ...(more.pause === undefined ? {} : { pause: more.pause }),
      ...(more.live === undefined ? {} : { live: more.live }),
      ...(more.secrets === undefined ? {} : { secrets: more.secrets }),
    })
    return { ctx, runs, executor, rings, events, pass, again: () => runner(account, more) }
  }

  return {
    network,
    account: name => network.createAccount(`${name}-${++made}.test`),
    runner,
    async end() {
      fetch.close()
      await network.stop()
    },
  }
}

export interface ScriptedExecutor extends Executor {
  /** Every job that it was given, by its workflow. */
  jobs: Job[]
  /** The job of a workflow that runs now; waits for it. */
  running(workflow: string): Promise<Held>
}

export interface Held {
  job: Job
  print(text: string | Uint8Array): void
  end(end: JobEnd): void
}

export const passed: JobEnd = { end: 'success', summary: 'Passed in 1 s.' }
export const failed: JobEnd = { end: 'failure', summary: 'Failed after 1 s' }

/** Holds every run until it is told how it ends; ends one as cancelled when it is aborted. */
function scriptedExecutor(isolated: boolean): ScriptedExecutor {
  const held = new Map<Job, Held>()
  const jobs: Job[] = []
  return {
    kind: 'docker',
    isolated,
    jobs,
    run(job) {
      jobs.push(job)
      const { promise, resolve } = Promise.withResolvers<JobEnd>()
      const end = (how: JobEnd) => {
        held.delete(job)
        resolve(how)
      }
      const print = (text: string | Uint8Array) => job.onOutput(typeof text === 'string' ? Buffer.from(text) : text)
      held.set(job, { job, print, end })
      job.signal.addEventListener('abort', () => end({ end: 'cancelled' }), { once: true })
      return promise
    },
    running: workflow =>
      until(() => [...held.values()].find(({ job }) => job.workflow.name === workflow), { what: `a run of ${workflow}` }),
    async sweep() {},
    async close() {},
  }
}

let commits = 1000

/** A commit, or tree, that was never named before. */
export function newCommit(): string {
  return (++commits).toString(16).padStart(40, '0')
}

/** A workflow by the text of its file; its name is its file's. */
export function workflow(name: string, more = ''): Workflow {
  const text = `on: { pull: , push: }\n${more}\nsteps: [{ run: "true" }]\n`
  const read = parseWorkflow({ file: `${name}.yml`, bytes: Buffer.from(text) })
  assert.ok(read.ok, read.ok ? '' : read.fault.message)
  return read.workflow
}

export function choose(selected: readonly Workflow[], more: Partial<Chosen> = {}): Chosen {
  return { selected, skipped: [], faulty: [], ...more }
}

/** A repository that was read: bob and carol collaborate, `runners` are named. */
export function groundOf(history: History, runners: readonly Did[], now = Date.now()): Ground {
  history.edit({ runners: runners.map(did => ({ did })) })
  const stored = history.refs.get(history.uri)
  assert.ok(stored)
  const owner = parseDid(history.repo.did)
  const at = parseAtUri(history.uri)
  assert.ok(owner && at)
  const { refs, updatedAt } = stored.value
  const rows = refs.map(({ name, commit, generation }) => ({ name, commit, generation }))
  return {
    repo: history.uri,
    owner,
    name: at.rkey,
    view: history.view(now),
    refs: { $type: 'dev.knotless.refs', repo: history.uri, refs: rows, packs: [], updatedAt },
    stored,
    sources: new Map(),
    unread: [],
    readAt: now,
  }
}

/** A repository of its own for one test. */
export function newHistory(): History {
  return new History({}, undefined, `orchard-${++made}`)
}

export function batchOf(pulls: readonly string[], more: Partial<Subject & { of: 'batch' }> = {}): Subject & { of: 'batch' } {
  const members = pulls.map((pull, at) => ({
    pull,
    entry: `${pull}-entry`,
    key: `key-${at}`,
    head: newCommit(),
    commit: newCommit(),
    tree: newCommit(),
  }))
  return { of: 'batch', batch: 1, branch: 'main', generation: 1, base: newCommit(), tip: newCommit(), tree: newCommit(), members, ...more }
}

/** The checks of an account about a repository, by workflow, as its server has them. */
export async function onFile(account: DevAccount, repo: string): Promise<Map<string, Record<string, unknown>>> {
  const all = await account.list(checks)
  return new Map(all.filter(({ value }) => value.repo === repo).map(({ value }) => [String(value.workflow), value]))
}

/** Waits until the check of a workflow stands so. */
export function whenOnFile(
  account: DevAccount,
  repo: string,
  workflow: string,
  status: CheckRecord['status'],
): Promise<Record<string, unknown>> {
  return until(
    async () => {
      const check = (await onFile(account, repo)).get(workflow)
      return check?.status === status && check
    },
    { what: `a check of ${workflow} that is ${status}` },
  )
}

/** A check's log, read from its account's server. */
export async function logOf(account: DevAccount, check: Record<string, unknown>): Promise<string> {
  assert.ok(Array.isArray(check.log), 'it names a log')
  const parts: Buffer[] = []
  for (const part of check.log) {
    const cid = String(part?.ref?.$link)
    const answer = await globalThis.fetch(`${account.pdsUrl}/xrpc/com.atproto.sync.getBlob?did=${account.did}&cid=${cid}`)
    assert.equal(answer.status, 200)
    parts.push(Buffer.from(await answer.arrayBuffer()))
  }
  return gunzipSync(Buffer.concat(parts)).toString()
}

/** An account's DID, of the method that every account here has. */
export function plc({ did }: Pick<DevAccount, 'did'>): MadeUpDid {
  assert.ok(isPlc(did))
  return did
}

function isPlc(did: string): did is MadeUpDid {
  return did.startsWith('did:plc:')
}
