/** A runner's reads as a program of its own, so that nothing else is in its figures. Argument: where everything is, as JSON. */
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { createGuardedFetch } from '../../src/atproto/guarded-fetch.ts'
import { createIdentity } from '../../src/atproto/identity.ts'
import { makeAtUri, parseAtUri, parseDid } from '../../src/atproto/ids.ts'
import { createReader } from '../../src/atproto/reader.ts'
import { createAppview } from '../../src/runner/appview.ts'
import { createReads } from '../../src/runner/reads/reads.ts'
import { keepHeapSmall } from '../../src/runner/small-heap.ts'
import type { Runs } from '../../src/runner/types.ts'

const ROUNDS = 15
keepHeapSmall()
const given = z
  .object({ plcUrl: z.string(), pdsUrl: z.string(), server: z.string(), did: z.string(), repos: z.array(z.string()) })
  .parse(JSON.parse(process.argv[2] ?? '{}'))
const did = parseDid(given.did)
const repos = given.repos.flatMap(uri => {
  const at = parseAtUri(uri)
  return at === undefined ? [] : [makeAtUri(at.did, at.collection, at.rkey)]
})
if (did === undefined) throw new Error('no account')

const fetch = createGuardedFetch({ allowLoopback: true })
const now = Date.now
const identity = createIdentity({ plcUrl: given.plcUrl, fetch, handleResolver: given.pdsUrl, now })
const never = () => Promise.reject(new Error('nothing is run here'))
const appview = createAppview({ url: given.server, writer: { getServiceAuth: never }, fetch: globalThis.fetch, now })
const silent = () => {}
const reads = createReads({
  did,
  identity,
  reader: createReader({ identity, fetch, now }),
  appview,
  now,
  log: { info: silent, warn: silent, error: silent },
  settings: {
    repos,
    queue: true,
    batch: 8,
    depth: 2,
    waitMs: 0,
    noticeMs: 30_000,
    sweepMs: 300_000,
    jobs: 2,
    timeoutMs: 60_000,
    executor: 'docker',
    allowNetwork: false,
    once: false,
    dryRun: false,
  },
})
const own: Runs = {
  flightOf: () => undefined,
  of: () => [],
  file: never,
  begin() {},
  promote() {},
  cancel: never,
  recover: never,
  prune: never,
  stop: never,
  idle: never,
}

/** What a pass reads. Gives how many pulls wait, and of how many the runs are not known yet. */
async function pass(): Promise<{ waiting: number; unread: number }> {
  let waiting = 0
  let unread = 0
  for (const repo of repos) {
    const ground = await reads.ground(repo)
    const queue = ground.view.branches.get('main')?.queue ?? []
    const heads = await reads.heads(ground, queue)
    const tip = ground.refs.refs.find(row => row.name === 'refs/heads/main')?.commit ?? ''
    const pulls = queue.flatMap(({ pull }) => {
      const head = heads.get(pull.uri)
      return head?.state === 'at' ? [{ pull: pull.uri, head: head.commit }] : []
    })
    const flights = await reads.flights(ground, { tip, workflows: ['check'], pulls, own })
    waiting += pulls.length
    unread += pulls.filter(({ pull }) => !flights.has(pull)).length
  }
  return { waiting, unread }
}

async function measure(): Promise<object> {
  const startedAt = performance.now()
  let last = await pass()
  while (last.unread > 0) last = await pass()
  const firstMs = performance.now() - startedAt
  const cpu: number[] = []
  const wall: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage()
    const begun = performance.now()
    last = await pass()
    wall.push(performance.now() - begun)
    const used = process.cpuUsage(before)
    cpu.push((used.user + used.system) / 1_000)
  }
  return { ...last, cpu, wall, firstMs, mostMiB: mostMemory() }
}

process.on('message', () => {
  void measure().then(
    figures => process.send?.({ figures }),
    (error: unknown) => process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  )
})
process.once('disconnect', () => process.exit(0))
process.send?.({ ready: true })

/** The most memory that this program had, in MiB. What the system counts for its resources holds that of the program that started it as well. */
function mostMemory(): number {
  return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? Number.NaN) / 1024
}
