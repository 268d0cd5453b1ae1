/** The gateway on a repository of 50,000 files and 20,000 commits: merging pulls, verifying a batch, a small push, a clone. */
import { z } from 'zod'
import { type Figure, figure, limited, median, quantile } from './figures.ts'
import { type Child, startChild } from './gateway/children.ts'
import { rawClone, rawPush, smallChange, timedGit } from './gateway/git-client.ts'
import type { Size } from './gateway/repository.ts'
import { type GatewayWorld, startGatewayWorld } from './gateway/world.ts'

export interface GatewayBench {
  size: Size
  /** Of the clones, pushes and verifications, each beside its peer. */
  rounds: number
  /**
   * `limits`: what is asked of a machine that does nothing else. `alarm`: twice that, and beside peers only, since whoever runs the tests may do
   * other things as well.
   */
  bounds: 'limits' | 'alarm'
}

const whole: GatewayBench = { size: { files: 50_000, commits: 20_000, pulls: 28 }, rounds: 9, bounds: 'limits' }
const limits = { mergeP50: 400, mergeP95: 800, push: 80, verification: 0.7, clone: 1.053 }
/** About twice the most that was measured beside the same by hand. */
const alarms = { merge: 4, push: 5, verification: 2 * limits.verification, clone: 2 * limits.clone }
const mergedShape = z.object({ commit: z.string() }).loose()

export async function benchGateway(bench: GatewayBench = whole): Promise<Figure[]> {
  const world = await startGatewayWorld(bench.size)
  try {
    const { alice, repository } = world
    const account = { pds: alice.pdsUrl, did: alice.did, handle: alice.handle, password: alice.password }
    const byHand = await startChild('by-hand.ts', [JSON.stringify(account), repository.gitDir, world.byHand])
    try {
      return [
        ...(await clones(world, bench)),
        ...(await pushes(world, bench, byHand)),
        ...(await verification(world, bench)),
        ...(await merges(world, bench, byHand)),
      ]
    } finally {
      await byHand.stop()
    }
  } finally {
    await world.end()
  }
}

const verifiedShape = z.object({ ours: z.number(), bare: z.number() })
const batch = 8

/** The merges of a batch, by one run of git and by eight. */
async function verification({ repository }: GatewayWorld, { rounds, bounds }: GatewayBench): Promise<Figure[]> {
  const child = await startChild('verification.ts', [repository.gitDir, repository.main, repository.heads.slice(0, batch).join(',')])
  try {
    const { ours, bare } = verifiedShape.parse((await child.ask({ rounds })).figures)
    const peer = { name: `${batch} bare calls of git merge-tree`, value: bare }
    return [
      figure(
        `verification of a batch of ${batch}, bounds of its heads too`,
        ours,
        'ms',
        peer,
        (bounds === 'alarm' ? alarms : limits).verification,
      ),
    ]
  } finally {
    await child.stop()
  }
}

/** Every pull, one after the other, by XRPC; each beside the same merge by the owner's own hand, in a repository that nobody follows. */
async function merges(world: GatewayWorld, { bounds }: GatewayBench, byHand: Child): Promise<Figure[]> {
  const took: number[] = []
  const peers: number[] = []
  for (const [n, pull] of world.pulls.entries()) {
    await world.mergeable(pull)
    took.push(await merge(world, pull))
    peers.push((await byHand.ask({ pull, head: world.repository.heads[n] })).ms ?? Number.NaN)
  }
  const peer = { name: 'merged by hand, pushed straight to the account', value: median(peers) }
  const beside = figure('mergePull, median', median(took), 'ms', peer, bounds === 'alarm' ? alarms.merge : undefined)
  if (bounds === 'alarm') return [beside]
  return [
    limited(`mergePull, p50 of ${took.length}`, median(took), 'ms', limits.mergeP50),
    limited(`mergePull, p95 of ${took.length}`, quantile(took, 0.95), 'ms', limits.mergeP95),
    beside,
  ]
}

async function merge(world: GatewayWorld, pull: string): Promise<number> {
  const headers = { authorization: `Bearer ${await world.token('dev.knotless.mergePull')}`, 'content-type': 'application/json' }
  const started = performance.now()
  const answer = await fetch(`${world.origin}/xrpc/dev.knotless.mergePull`, { method: 'POST', headers, body: JSON.stringify({ pull }) })
  const said: unknown = await answer.json()
  const took = performance.now() - started
  if (!answer.ok || !mergedShape.safeParse(said).success) throw new Error(`mergePull answers ${answer.status}: ${JSON.stringify(said)}`)
  return took
}

/** A commit of one new file, as a new branch: the server alone, and the stock client from its start to its end. */
async function pushes(world: GatewayWorld, { rounds, bounds }: GatewayBench, byHand: Child): Promise<Figure[]> {
  const { gitDir, main } = world.repository
  const method = 'dev.knotless.gitPush'
  const took = { discovery: [] as number[], push: [] as number[], byHand: [] as number[], client: [] as number[], peer: [] as number[] }
  for (let round = 0; round <= rounds; round++) {
    const raw = await smallChange(gitDir, main, `raw-${round}`)
    const server = await rawPush(world.url, { ref: `refs/heads/raw-${round}`, ...raw, token: await world.token(method) })
    const straight = await byHand.ask({ ref: `refs/heads/raw-${round}`, commit: raw.commit })
    const { commit } = await smallChange(gitDir, main, `stock-${round}`)
    const spec = `${commit}:refs/heads/stock-${round}`
    const url = world.url.replace('://', `://bob:${await world.token(method)}@`)
    const client = await timedGit(['push', '--quiet', url, spec], gitDir)
    const peer = await timedGit(['push', '--quiet', world.peer.push, spec], gitDir)
    if (round === 0) continue
    took.discovery.push(server.discovery)
    took.push.push(server.push)
    took.byHand.push(straight.ms ?? Number.NaN)
    took.client.push(client)
    took.peer.push(peer)
  }
  const straight = { name: 'pushed straight to the account', value: median(took.byHand) }
  const beside = figure(
    'small push, the request that pushes, median',
    median(took.push),
    'ms',
    straight,
    bounds === 'alarm' ? alarms.push : undefined,
  )
  if (bounds === 'alarm') return [beside]
  return [
    limited('small push, the request that pushes, median', median(took.push), 'ms', limits.push),
    limited('small push, its discovery, median', median(took.discovery), 'ms', limits.push),
    beside,
    figure('small push with the stock client, start to end, median', median(took.client), 'ms', {
      name: 'git http-backend',
      value: median(took.peer),
    }),
  ]
}

/** The whole branch: as the wire has it, and with the stock client. Both from the very same mirror. */
async function clones(world: GatewayWorld, { rounds, bounds }: GatewayBench): Promise<Figure[]> {
  const took = { ours: [] as number[], peer: [] as number[], client: [] as number[], clientPeer: [] as number[] }
  let bytes = 0
  for (let round = 0; round <= rounds; round++) {
    const ours = await rawClone(world.url, 'main')
    const peer = await rawClone(world.peer.clone, 'main')
    bytes = ours.bytes
    if (round === 0) continue
    took.ours.push(ours.ms)
    took.peer.push(peer.ms)
    if (round > 3) continue
    took.client.push(await timedGit(['clone', '--quiet', '--bare', world.url, `${world.dir}/ours-${round}.git`]))
    took.clientPeer.push(await timedGit(['clone', '--quiet', '--bare', world.peer.clone, `${world.dir}/peer-${round}.git`]))
  }
  const backend = (values: readonly number[]) => ({ name: 'git http-backend', value: median(values) })
  return [
    figure(
      `raw clone, ${(bytes / 1e6).toFixed(1)} MB, median`,
      median(took.ours),
      'ms',
      backend(took.peer),
      (bounds === 'alarm' ? alarms : limits).clone,
    ),
    figure('clone with the stock client, median', median(took.client), 'ms', backend(took.clientPeer)),
  ]
}
