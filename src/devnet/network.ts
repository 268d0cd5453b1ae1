import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import type { DevAccount } from './account.ts'
import { keepAccounts } from './accounts.ts'
import { createFaults, type Faults } from './faults/faults.ts'
import { pdsGate } from './faults/pds-gate.ts'
import { type Feed, startFeed } from './jetstream/feed.ts'
import { type EventLog, openLog } from './jetstream/log.ts'
import { type JetstreamServer, serveJetstream } from './jetstream/server.ts'
import { keepKeys, readJson } from './keys.ts'
import { type Pds, type PdsSettings, startPds } from './pds.ts'
import { type Plc, startPlc } from './plc.ts'
import { freePort, loopback, portIsFree } from './ports.ts'
import { localResolver } from './resolver.ts'

/** What a network is started with. Everything has a default. */
export interface NetworkOptions {
  /** Folder that keeps everything over restarts; a temporary one, removed at stop, when absent. */
  dataDir?: string
  /** Fixed ports; 0 or absent picks a free one (for a kept folder the one it had before, if that is free). */
  ports?: { plc?: number; pds?: number; jetstream?: number }
  pds?: PdsSettings
  log?: (line: string) => void
}

/** A local atproto network in this process: PLC directory, PDS and Jetstream on loopback. */
export interface Network {
  readonly dataDir: string
  readonly plcUrl: string
  /** The PDS's own name for itself, `http://localhost:<port>`; it answers at 127.0.0.1 as well. */
  readonly pdsUrl: string
  /** `ws://127.0.0.1:<port>/subscribe` */
  readonly jetstreamUrl: string
  /** Base address that answers `com.atproto.sync.listReposByCollection`; `/healthz` and `/devnet/faults` are there too. */
  readonly relayUrl: string
  readonly faults: Faults
  /** Makes an account; without a password one is made up. Throws `XrpcFailure` when the PDS refuses it. */
  createAccount(handle: string, password?: string): Promise<DevAccount>
  /** An account made here, also in an earlier run on the same folder. */
  account(handle: string): DevAccount | undefined
  accounts(): DevAccount[]
  /** Names another signing key (a did:key) in an account's DID document, while its server goes on signing with its own: a key that was taken out. */
  replaceKey(did: string, key: string): Promise<void>
  /** Settles when everything that the PDS has written so far is in the Jetstream log. Throws after 30 s. */
  settled(): Promise<void>
  /** Moves what is in the Jetstream log so many milliseconds back, as if it had been sent then: past what a new consumer asks for again. */
  age(ms: number): void
  /** The last sequence number of the Jetstream log. */
  tip(): number
  /** Stops all of it. Safe to call twice. */
  stop(): Promise<void>
}

/** Starts a local network. What had started is stopped again when a later part fails. Throws `PortTaken` for a fixed port in use. */
export async function startNetwork(options: NetworkOptions = {}): Promise<Network> {
  const temporary = options.dataDir === undefined
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'knotless-devnet-'))
  mkdirSync(dataDir, { recursive: true })
  const stops: Array<() => Promise<void>> = []
  let stopping: Promise<void> | undefined
  const stop = () => {
    stopping ??= (async () => {
      for (const part of stops.reverse()) await part()
      if (temporary) rmSync(dataDir, { recursive: true, force: true, maxRetries: 3 })
    })()
    return stopping
  }
  try {
    return await start(options, dataDir, stops, stop)
  } catch (error) {
    await stop()
    throw error
  }
}

async function start(
  options: NetworkOptions,
  dataDir: string,
  stops: Array<() => Promise<void>>,
  stop: () => Promise<void>,
): Promise<Network> {
  const report = options.log ?? (() => {})
  const ports = await choosePorts(dataDir, options.ports ?? {})
  const faults = createFaults((a, b) => a === b || (didOf(a) ?? a) === (didOf(b) ?? b))

  const plc: Plc = await startPlc({ path: join(dataDir, 'plc.sqlite'), port: ports.plc })
  stops.push(() => plc.stop())

  const pds: Pds = await startPds({
    dir: join(dataDir, 'pds'),
    port: ports.pds,
    plcUrl: plc.url,
    keys: keepKeys(dataDir),
    settings: options.pds ?? {},
    gate: inner => pdsGate(faults, inner),
  })
  stops.push(() => pds.stop())
  const accounts = keepAccounts(dataDir, pds.url)
  function didOf(name: string): string | undefined {
    return accounts.find(name)?.did
  }
  await pds.claim(accounts.all().map(account => account.did))

  const log: EventLog = openLog(join(dataDir, 'jetstream.sqlite'), nowUs)
  stops.push(async () => log.close())
  let server: JetstreamServer | undefined
  const resolver = localResolver(plc.url, pds.url)
  const feed: Feed = startFeed({ pdsUrl: pds.url, resolver, log, appended: () => server?.wake(), report })
  stops.push(() => feed.stop())
  server = await serveJetstream({ log, faults, port: ports.jetstream, nowUs, trouble: () => feed.trouble() })
  const stream = server
  stops.push(async () => {
    faults.clear()
    await stream.stop()
  })
  keepPorts(dataDir, { plc: plc.port, pds: ports.pds, jetstream: stream.port })

  return {
    dataDir,
    plcUrl: plc.url,
    pdsUrl: pds.url,
    jetstreamUrl: `ws://${loopback}:${stream.port}/subscribe`,
    relayUrl: `http://${loopback}:${stream.port}`,
    faults,
    createAccount: (handle, password) => accounts.create(handle, password),
    account: handle => accounts.find(handle),
    accounts: () => accounts.all(),
    replaceKey: (did, key) => pds.replaceKey(did, key),
    settled: () => settled(pds, feed),
    age: ms => log.age(ms * 1_000),
    tip: () => log.tip(),
    stop,
  }
}

const portsShape = z.object({ plc: z.number(), pds: z.number(), jetstream: z.number() })
type Ports = z.infer<typeof portsShape>

/** A kept folder comes back on its old ports where it may: identities and sign-ins name the PDS by its port. */
async function choosePorts(dataDir: string, asked: { plc?: number; pds?: number; jetstream?: number }): Promise<Ports> {
  const before = portsShape.safeParse(readJson(join(dataDir, 'ports.json'))).data
  const choose = async (wanted: number | undefined, last: number | undefined): Promise<number> => {
    if (wanted !== undefined && wanted !== 0) return wanted
    return last !== undefined && (await portIsFree(last)) ? last : freePort()
  }
  return {
    plc: await choose(asked.plc, before?.plc),
    pds: await choose(asked.pds, before?.pds),
    jetstream: await choose(asked.jetstream, before?.jetstream),
  }
}

function keepPorts(dataDir: string, ports: Ports): void {
  writeFileSync(join(dataDir, 'ports.json'), `${JSON.stringify(ports)}\n`)
}

function nowUs(): number {
  return Math.round((performance.timeOrigin + performance.now()) * 1000)
}

async function settled(pds: Pds, feed: Feed): Promise<void> {
  const target = await pds.sequence()
  for (const end = Date.now() + 30_000; Date.now() < end; ) {
    if (feed.seen() >= target) return
    await wait(5)
  }
  throw new Error(`the Jetstream log stands at ${feed.seen()} and the PDS at ${target}: ${feed.trouble() ?? 'nothing was reported'}`)
}
