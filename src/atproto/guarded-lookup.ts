import type { LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import { addressKind } from './addresses.ts'
import { UpstreamError } from './upstream-error.ts'

/** Which kinds of address may be connected to. */
export interface AddressRules {
  loopback: boolean
  public: boolean
}

/** Throws UpstreamError unless the address may be connected to. */
export function checkAddress(address: string, host: string, rules: AddressRules): void {
  const kind = addressKind(address)
  if (kind === 'private' || (kind === 'loopback' && !rules.loopback))
    throw new UpstreamError('private-address', host, 'not a public address')
  if (kind === 'public' && !rules.public) throw new UpstreamError('refused', host, 'plain http is spoken on loopback only')
}

/**
 * A name look-up that fails unless every address it gives may be connected to. The socket connects to what this answers, so that a name cannot
 * answer one thing to the check and another to the connection.
 */
export function createGuardedLookup(lookup: LookupFunction, rules: AddressRules): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, [])
      const addresses: LookupAddress[] = typeof found === 'string' ? [] : found
      const first = addresses[0]
      try {
        for (const { address } of addresses) checkAddress(address, hostname, rules)
        if (first === undefined) throw new UpstreamError('refused', hostname, 'no address')
      } catch (refusal) {
        return callback(refusal instanceof Error ? refusal : new Error('look-up refused'), [])
      }
      if (options.all) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}
