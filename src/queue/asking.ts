/** Who asks, when, and what is known beside records: the same for standing, box, health and admission. */
import type { BranchHistory } from './history.ts'
import type { SpanFigures } from './stats/figures.ts'
import type { NoDelegation } from './words/refusals.ts'

/** What a lander told this server of its last pass. Times in milliseconds since 1970. */
export interface LastSeen {
  at: number
  /** When it said that its next pass is due. */
  dueAt?: number | undefined
  /** What it waits for, in its own words. */
  says?: string | undefined
}

/** Whether the owner of a repository lets this server write for them. Times in milliseconds since 1970. */
export type DelegationState = { state: 'given'; since: number; until?: number | undefined } | NoDelegation

/** This server as a gateway, before the owner of a repository (WHO-4, ADM-10). */
export interface GatewayFacts {
  /** This server's DID. */
  did: string
  delegation: DelegationState
  /** Where the owner delegates. */
  settingsUrl: string
}

export interface Asking {
  /** The server's clock, in milliseconds since 1970. */
  now: number
  /** DID of whoever asks; absent for nobody logged in. */
  caller?: string | undefined
  /** By lander DID; absent while nothing reports passes. */
  lastSeen?: ReadonlyMap<string, LastSeen> | undefined
  /** How long nothing may land or be turned away, in milliseconds, before a queue that is not empty counts as stalled; absent where nobody judges that. */
  stallAfter?: number | undefined
  /** How far this server is behind the network, in milliseconds; absent where nobody knows. */
  behind?: number | undefined
  /** Absent where no server stands between, and nothing is said of delegation. */
  gateway?: GatewayFacts | undefined
  /** Of a branch by its name: how its last batches went; absent where nobody kept that, and nothing is estimated. */
  history?: ((branch: string) => BranchHistory) | undefined
  /** Of a branch by its name: its figures over so many UTC days, today's the last; absent where nobody keeps any. */
  figures?: ((branch: string, days: number) => SpanFigures) | undefined
}
