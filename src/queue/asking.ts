/** Who asks, when, and what is known beside records: the same for standing, box, health and admission. */

/** What a lander told this server of its last pass. Times in milliseconds since 1970. */
export interface LastSeen {
  at: number
  /** When it said that its next pass is due. */
  dueAt?: number | undefined
  /** What it waits for, in its own words. */
  says?: string | undefined
}

export interface Asking {
  /** The server's clock, in milliseconds since 1970. */
  now: number
  /** DID of whoever asks; absent for nobody logged in. */
  caller?: string | undefined
  /** By lander DID; absent while nothing reports passes. */
  lastSeen?: ReadonlyMap<string, LastSeen> | undefined
}
