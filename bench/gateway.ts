/** The gateway on a repository of 50,000 files and 20,000 commits: merging pulls, verifying a batch, a small push, a clone. */
import { z } from 'zod'
import { type Figure, figure, limited, median, quantile } from './figures.ts'
import { startChild } from './gateway/children.ts'
import { rawClone, rawPush, smallChange, timedGit } from './gateway/git-client.ts'
import type { Size } from './gateway/repository.ts'
import { type GatewayWorld, startGatewayWorld } from './gateway/world.ts'

export interface GatewayBench {
  size: Size
  /** Of the clones, pushes and verifications, each beside its peer. */
  rounds: number
  /** What every bound is multiplied by: 1 for the benchmark, 2 for an alarm on a machine that does other things as well. */
  slack: number
}

const whole: GatewayBench = { size: { files: 50_000, commits: 20_000, pulls: 28 }, rounds: 9, slack: 1 }
const mergedShape = z.object({ commit: z.string() }).loose()

export async function benchGateway(bench: GatewayBench = whole): Promise<Figure[]> {
  const world = await startGatewayWorld(bench.size)
  try {
    return [
      ...(await clones(world, bench)),
      ...(await pushes(world, bench)),
      ...(await verification(world, bench)),
      ...(await merges(world, bench)),
    ]
  } finally {
    await world.end()
  }
}

const verifiedShape = z.object({ ours: z.number(), bare: z.number() })
const batch = 8

/** The merges of a batch, by one run of git and by eight. */
async function verification({ repository }: GatewayWorld, { rounds, slack }: GatewayBench): Promise<Figure[]> {
  const child = await startChild('verification.ts', [repository.gitDir, repository.main, repository.heads.slice(0, batch).join(',')])
  try {
    const { ours, bare } = verifiedShape.parse((await child.ask({ rounds })).figures)
    const peer = { name: `${batch} bare calls of git merge-tree`, value: bare }
    return [figure(`verification of a batch of ${batch}, bounds of its heads too`, ours, 'ms', peer, 0.7 * slack)]
  } finally {
    await child.stop()
  }
}

/** Every pull, one after the other, by XRPC; each beside the same merge by the owner's own hand, in a repository that nobody follows. */
async function merges(world: GatewayWorld, { slack }: GatewayBench): Promise<Figure[]> {
  const took: number[] = []
  const byHand: number[] = []
  const { alice, repository } = world
  const account = { pds: alice.pdsUrl, did: alice.did, handle: alice.handle, password: alice.password }
  const child = await startChild('by-hand.ts', [JSON.stringify(account), repository.gitDir, world.byHand])
  try {
    for (const [n, pull] of world.pulls.entries()) {
      took.push(await merge(world, pull))
      byHand.push((await child.ask({ pull, head: repository.heads[n] })).ms ?? Number.NaN)
    }
  } finally {
    await child.stop()
  }
  const peer = { name: 'merged by hand and pushed straight to the account', value: median(byHand) }
  return [
    limited(`mergePull, p50 of ${took.length}`, median(took), 'ms', 400 * slack),
    limited(`mergePull, p95 of ${took.length}`, quantile(took, 0.95), 'ms', 800 * slack),
    figure('mergePull, median', median(took), 'ms', peer),
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
async function pushes(world: GatewayWorld, { rounds, slack }: GatewayBench): Promise<Figure[]> {
  const { gitDir, main } = world.repository
  const method = 'dev.knotless.gitPush'
  const took = { discovery: [] as number[], push: [] as number[], client: [] as number[], peer: [] as number[] }
  for (let round = 0; round <= rounds; round++) {
    const raw = await smallChange(gitDir, main, `raw-${round}`)
    const server = await rawPush(world.url, { ref: `refs/heads/raw-${round}`, ...raw, token: await world.token(method) })
    const { commit } = await smallChange(gitDir, main, `stock-${round}`)
    const spec = `${commit}:refs/heads/stock-${round}`
    const url = world.url.replace('://', `://bob:${await world.token(method)}@`)
    const client = await timedGit(['push', '--quiet', url, spec], gitDir)
    const peer = await timedGit(['push', '--quiet', world.peer.push, spec], gitDir)
    if (round === 0) continue
    took.discovery.push(server.discovery)
    took.push.push(server.push)
    took.client.push(client)
    took.peer.push(peer)
  }
  const backend = { name: 'git http-backend', value: median(took.peer) }
  return [
    limited('small push, the request that pushes, median', median(took.push), 'ms', 80 * slack),
    limited('small push, its discovery, median', median(took.discovery), 'ms', 80 * slack),
    figure('small push with the stock client, start to end, median', median(took.client), 'ms', backend),
  ]
}

/** The whole branch: as the wire has it, and with the stock client. Both from the very same mirror. */
async function clones(world: GatewayWorld, { rounds, slack }: GatewayBench): Promise<Figure[]> {
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
    figure(`raw clone, ${(bytes / 1e6).toFixed(1)} MB, median`, median(took.ours), 'ms', backend(took.peer), slack / 0.95),
    figure('clone with the stock client, median', median(took.client), 'ms', backend(took.clientPeer)),
  ]
}
