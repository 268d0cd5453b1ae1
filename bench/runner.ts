/** Server and runner as programs of their own on a local network: how long a queued pull waits for its run, and a passed batch for its landing. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { giveDelegation } from '../src/devnet/give-delegation.ts'
import { type Network, startNetwork } from '../src/devnet/network.ts'
import { freePort } from '../src/devnet/ports.ts'
import { workflow } from '../test/runner/runner-world.ts'
import { baseFiles, type GatewayWorld, makePeople, type Planted, plantOn } from '../test/server/gateway-world.ts'
import { until } from '../test/support/until.ts'
import { type Figure, limited, median, quantile } from './figures.ts'
import { type Program, run } from './processes.ts'

const LANDINGS = 12

const event = z.object({
  kind: z.literal('commit'),
  commit: z.object({
    operation: z.string(),
    collection: z.string(),
    record: z.looseObject({
      status: z.string().optional(),
      finishedAt: z.string().optional(),
      batch: z.array(z.looseObject({ pull: z.string() })).optional(),
    }),
  }),
})

/** When something of a pull's batch was first heard of, in milliseconds since 1970; `ended` as the run says itself. */
interface Times {
  queued: number
  running?: number
  ended?: number
  landed?: number
}

export async function benchRunner(): Promise<Figure[]> {
  const dir = mkdtempSync(join(tmpdir(), 'knotless-bench-'))
  const programs: Program[] = []
  const network = await startNetwork()
  try {
    const people = await makePeople(network)
    const url = `http://127.0.0.1:${await freePort()}`
    programs.push(await run(['src/cli/main.ts', 'serve'], serverEnv(network, dir, url), `${url}/healthz`))
    await giveDelegation(url, people.alice)
    const repo = await plant(people, dir, url)
    const pulls = []
    for (let n = 0; n < LANDINGS; n++) pulls.push(await repo.openPull({ branch: `p${n}`, files: { [`p${n}.txt`]: 'x\n' } }))
    const health = await freePort()
    const flags = [
      '--repo',
      `${people.alice.handle}/${repo.name}`,
      '--queue',
      '--executor',
      'host',
      '--i-trust-every-author',
      '--listen',
      `${health}`,
    ]
    const runner = await run(
      ['src/cli/main.ts', 'runner', ...flags],
      runnerEnv(network, people, dir, url),
      `http://127.0.0.1:${health}/healthz`,
    )
    programs.push(runner)
    const all: Times[] = []
    for (const pull of pulls) all.push(await landOne(network, people, repo, pull))
    const toStart = all.map(({ queued, running = Number.NaN }) => running - queued)
    const toLand = all.map(({ ended = Number.NaN, landed = Number.NaN }) => landed - ended)
    return [
      limited('queued → first run started, idle runner, median', median(toStart), 'ms', 3_000),
      limited('queued → first run started, idle runner, slowest', Math.max(...toStart), 'ms', 3_000),
      limited("last run's end → branch moved, median", median(toLand), 'ms', 1_000),
      limited("last run's end → branch moved, p95", quantile(toLand, 0.95), 'ms', 1_000),
      limited('memory of the runner after it, at most', runner.memory().most, 'MiB', 250),
    ]
  } finally {
    for (const program of programs.reverse()) await program.stop()
    await network.stop()
    rmSync(dir, { recursive: true, force: true, maxRetries: 3 })
  }
}

function networkEnv(network: Network): Record<string, string> {
  return {
    KNOTLESS_JETSTREAM: network.jetstreamUrl,
    KNOTLESS_PLC: network.plcUrl,
    KNOTLESS_HANDLE_RESOLVER: network.pdsUrl,
    KNOTLESS_ALLOW_LOOPBACK: '1',
  }
}

function serverEnv(network: Network, dir: string, url: string): Record<string, string> {
  return {
    ...networkEnv(network),
    KNOTLESS_PUBLIC_URL: url,
    PORT: new URL(url).port,
    KNOTLESS_DB: join(dir, 'server', 'knotless.sqlite'),
    KNOTLESS_DATA: join(dir, 'server'),
    KNOTLESS_SECRET: 'a secret for benchmarks, of 32 letters or more',
    KNOTLESS_RATE_LIMIT: '100000',
    KNOTLESS_LOG: 'silent',
  }
}

function runnerEnv(network: Network, { rigby }: GatewayWorld['people'], dir: string, url: string): Record<string, string> {
  return {
    ...networkEnv(network),
    KNOTLESS_HANDLE: rigby.handle,
    KNOTLESS_PASSWORD: rigby.password,
    KNOTLESS_APPVIEW: url,
    KNOTLESS_DATA: join(dir, 'runner'),
  }
}

async function plant(people: GatewayWorld['people'], dir: string, url: string): Promise<Planted> {
  const gates = join(dir, 'gates')
  mkdirSync(gates)
  const indexed = async (uri: string) => {
    if (!uri.includes('dev.knotless.pull')) return
    const known = () => fetch(`${url}/xrpc/dev.knotless.getMergeStatus?${new URLSearchParams({ pull: uri })}`).then(answer => answer.ok)
    await until(known, { what: `${uri} to be known` })
  }
  const files = { ...baseFiles, '.knotless/workflows/test.yml': workflow('test', gates) }
  return await plantOn({ people, dir, indexed }, 'speed', { record: { runners: [{ did: people.rigby.did }] }, files })
}

/** Queues a pull and listens until its branch has moved. */
async function landOne(
  network: Network,
  people: GatewayWorld['people'],
  repo: Planted,
  pull: { uri: string; head: string },
): Promise<Times> {
  const socket = new WebSocket(`${network.jetstreamUrl}?wantedCollections=dev.knotless.check&wantedCollections=dev.knotless.refs`)
  await new Promise((done, failed) => {
    socket.onopen = done
    socket.onerror = failed
  })
  const times: Times = { queued: 0 }
  const landed = new Promise<void>(done => {
    socket.onmessage = ({ data }) => {
      const heard = event.safeParse(JSON.parse(String(data)))
      if (!heard.success) return
      const { collection, record } = heard.data.commit
      const ours = record.batch?.some(member => member.pull === pull.uri) === true
      if (ours && record.status === 'running') times.running ??= Date.now()
      if (ours && record.finishedAt !== undefined) times.ended = Date.parse(record.finishedAt)
      if (collection === 'dev.knotless.refs' && times.ended !== undefined) {
        times.landed = Date.now()
        done()
      }
    }
  })
  const record = {
    repo: repo.uri,
    subject: pull.uri,
    state: 'queued',
    head: pull.head,
    branch: 'main',
    createdAt: new Date().toISOString(),
  }
  await people.bob.create('dev.knotless.queue', record)
  times.queued = Date.now()
  await landed
  socket.close()
  return times
}
