/** The queue page and getMergeStatus under 50 connections, on a small and a large index, against the same bytes as a static reply. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startNetwork } from '../src/devnet/network.ts'
import { freePort } from '../src/devnet/ports.ts'
import { type Figure, figure, limited, median } from './figures.ts'
import { type Load, load } from './load.ts'
import { type Program, run } from './processes.ts'
import { followed, type Seeded, seed } from './seeded.ts'

const SECONDS = 5
const ROUNDS = 3
const QUEUED = 200
const REPOSITORIES = { small: 100, large: 10_000 }

interface Site {
  origin: string
  page: string
  statuses: string[]
  program: Program
}

async function serve(seeded: Seeded, dir: string, network: { plcUrl: string; pdsUrl: string; jetstreamUrl: string }): Promise<Site> {
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const env = {
    KNOTLESS_PUBLIC_URL: origin,
    PORT: String(port),
    KNOTLESS_DB: seeded.path,
    KNOTLESS_DATA: dir,
    KNOTLESS_JETSTREAM: network.jetstreamUrl,
    KNOTLESS_PLC: network.plcUrl,
    KNOTLESS_HANDLE_RESOLVER: network.pdsUrl,
    KNOTLESS_ALLOW_LOOPBACK: '1',
    KNOTLESS_SECRET: 'a secret for benchmarks, of 32 letters or more',
    KNOTLESS_RATE_LIMIT: '100000000',
    KNOTLESS_LOG: 'silent',
  }
  followed(seeded.path, network.jetstreamUrl)
  const program = await run(['src/cli/main.ts', 'serve'], env, `${origin}/healthz`)
  const { busy } = seeded
  const page = `/${busy.owner}/${busy.uri.split('/').at(-1)}/queue/main`
  const statuses = busy.pulls.map(pull => `/xrpc/dev.knotless.getMergeStatus?pull=${encodeURIComponent(pull)}`)
  return { origin, page, statuses, program }
}

/** The same bytes from the plainest server there is. */
async function serveStatic(site: Site, dir: string): Promise<{ origin: string; program: Program }> {
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  const page = join(dir, 'page.html')
  const status = join(dir, 'status.json')
  writeFileSync(page, await (await fetch(site.origin + site.page)).text())
  writeFileSync(status, await (await fetch(site.origin + (site.statuses[0] ?? ''))).text())
  const program = await run(['bench/static-server.ts', String(port), '/page', page, '/status', status], {}, `${origin}/`)
  return { origin, program }
}

/** Loads each in turn, round after round, so that a drift of the machine meets all of them. */
async function inTurn(loads: Readonly<Record<string, () => Promise<Load>>>): Promise<Record<string, Load>> {
  const all = Object.fromEntries(Object.keys(loads).map(name => [name, [] as Load[]]))
  for (const one of Object.values(loads)) await one()
  for (let round = 0; round < ROUNDS; round++) for (const [name, one] of Object.entries(loads)) all[name]?.push(await one())
  const middle = (rounds: readonly Load[], of: keyof Load) => median(rounds.map(each => each[of]))
  return Object.fromEntries(
    Object.entries(all).map(([name, rounds]) => [
      name,
      { mean: middle(rounds, 'mean'), p50: middle(rounds, 'p50'), p99: middle(rounds, 'p99'), perSecond: middle(rounds, 'perSecond') },
    ]),
  )
}

const nothing: Load = { mean: Number.NaN, p50: Number.NaN, p99: Number.NaN, perSecond: Number.NaN }

export async function benchPages(): Promise<Figure[]> {
  const dir = mkdtempSync(join(tmpdir(), 'knotless-bench-'))
  const network = await startNetwork()
  const programs: Program[] = []
  try {
    const small = await seed(join(dir, 'small.sqlite'), { repositories: REPOSITORIES.small, queued: QUEUED })
    const large = await seed(join(dir, 'large.sqlite'), { repositories: REPOSITORIES.large, queued: QUEUED })
    const sites = { small: await serve(small, join(dir, 'small'), network), large: await serve(large, join(dir, 'large'), network) }
    programs.push(sites.small.program, sites.large.program)
    const plain = await serveStatic(sites.large, dir)
    programs.push(plain.program)
    const at = { small: small.records.toLocaleString('en'), large: large.records.toLocaleString('en') }
    const page = await inTurn({
      small: () => load(sites.small.origin, [sites.small.page], SECONDS),
      large: () => load(sites.large.origin, [sites.large.page], SECONDS),
      plain: () => load(plain.origin, ['/page'], SECONDS),
    })
    const status = await inTurn({
      small: () => load(sites.small.origin, sites.small.statuses, SECONDS),
      large: () => load(sites.large.origin, sites.large.statuses, SECONDS),
      plain: () => load(plain.origin, ['/status'], SECONDS),
    })
    const of = (loads: Record<string, Load>, name: string) => loads[name] ?? nothing
    const figures = [
      limited(`queue page, p99, ${QUEUED} queued, ${at.large} records`, of(page, 'large').p99, 'ms', 50),
      limited(`getMergeStatus, p99, ${QUEUED} queued, ${at.large} records`, of(status, 'large').p99, 'ms', 20),
    ]
    for (const [name, loads] of [
      ['queue page', page],
      ['getMergeStatus', status],
    ] as const) {
      figures.push(
        figure(`${name}, mean`, of(loads, 'large').mean, 'ms', {
          name: 'the same bytes as a static reply',
          value: of(loads, 'plain').mean,
        }),
      )
      figures.push(
        figure(
          `${name}, mean, ${at.large} records`,
          of(loads, 'large').mean,
          'ms',
          { name: `${at.small} records`, value: of(loads, 'small').mean },
          1.5,
        ),
      )
    }
    figures.push(limited(`server memory after the load, ${at.large} records`, sites.large.program.memory().most, 'MiB', 300))
    return figures
  } finally {
    for (const program of programs) await program.stop()
    await network.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}
