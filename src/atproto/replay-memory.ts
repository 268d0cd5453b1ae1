/** Tokens that have been spent, kept until they expire: a bounded memory against their second use (GWY-10). */
export interface ReplayMemory {
  /** Whether a token was spent already. */
  isSpent(issuer: string, jti: string): boolean
  /**
   * Spends a token that expires at `exp` (seconds since 1970). `spent`: it was already. `full`: its issuer, or all together, hold as many live
   * tokens as are remembered; nothing is forgotten before its time, so it has to be refused.
   */
  spend(issuer: string, jti: string, exp: number): 'ok' | 'spent' | 'full'
}

/** `now` in milliseconds since 1970. Bounds: 1,000 live tokens an issuer, 100,000 in all. */
export function createReplayMemory(ctx: { now: () => number; maxPerIssuer?: number; maxTotal?: number }): ReplayMemory {
  const { now, maxPerIssuer = 1_000, maxTotal = 100_000 } = ctx
  const issuers = new Map<string, Map<string, number>>()
  let total = 0

  function live(issuer: string): Map<string, number> | undefined {
    const tokens = issuers.get(issuer)
    if (tokens === undefined) return undefined
    const seconds = now() / 1000
    for (const [jti, exp] of tokens) {
      if (exp >= seconds) continue
      tokens.delete(jti)
      total -= 1
    }
    if (tokens.size > 0) return tokens
    issuers.delete(issuer)
    return undefined
  }

  return {
    isSpent: (issuer, jti) => live(issuer)?.has(jti) ?? false,
    spend(issuer, jti, exp) {
      const tokens = live(issuer)
      if (tokens?.has(jti)) return 'spent'
      if (total >= maxTotal) for (const one of [...issuers.keys()]) live(one)
      if (total >= maxTotal || (tokens?.size ?? 0) >= maxPerIssuer) return 'full'
      if (tokens === undefined) issuers.set(issuer, new Map([[jti, exp]]))
      else tokens.set(jti, exp)
      total += 1
      return 'ok'
    },
  }
}
