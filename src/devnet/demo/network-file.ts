import { renameSync, writeFileSync } from 'node:fs'
import type { Network } from '../network.ts'
import type { People, Samples, SeededRepo } from '../seed.ts'
import type { ServerProcess } from './server-process.ts'

/** What `network.json` says: the interface for programs that drive the demo from outside. */
export interface NetworkFile {
  plc: string
  pds: string
  jetstream: string
  relay: string
  /** Where faults are switched on and off. */
  faults: string
  server: string
  serverDid: string
  accounts: Record<string, { handle: string; did: string; password: string }>
  repos: Array<Pick<SeededRepo, 'uri' | 'name' | 'owner' | 'pulls' | 'forks' | 'issue'>>
}

/** Describes a running demo. */
export function describeNetwork(network: Network, server: ServerProcess, people: People, samples: Samples | undefined): NetworkFile {
  const accounts = Object.entries(people).map(([name, { handle, did, password }]) => [name, { handle, did, password }] as const)
  return {
    plc: network.plcUrl,
    pds: network.pdsUrl,
    jetstream: network.jetstreamUrl,
    relay: network.relayUrl,
    faults: `${network.relayUrl}/devnet/faults`,
    server: server.url,
    serverDid: server.did,
    accounts: Object.fromEntries(accounts),
    repos: samples === undefined ? [] : [samples.orchard, samples.almanac],
  }
}

/** Writes the description whole or not at all; it holds passwords, and is for its owner only. */
export function writeNetworkFile(path: string, file: NetworkFile): void {
  const fresh = `${path}.${process.pid}.new`
  writeFileSync(fresh, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 })
  renameSync(fresh, path)
}
