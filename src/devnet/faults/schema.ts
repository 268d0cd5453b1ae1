import { z } from 'zod'

const times = z
  .int()
  .min(1)
  .max(1_000_000)
  .optional()
  .describe('how many events or calls it hits before it ends by itself; all when absent')
const ms = z.int().min(0).max(600_000)
const name = z.string().min(1).max(500)

const onEvents = {
  collection: name.optional().describe('only events of this collection, or of a prefix that ends in .*'),
  did: name.optional().describe('only events of this account'),
  times,
}
const onCalls = {
  method: name.optional().describe('only calls of this method, or of a prefix that ends in .*'),
  account: name.optional().describe('only calls by or about this account: its DID or handle'),
  times,
}

/** Every way in which the local network can be told to misbehave, as it is written in process and over HTTP. */
export const faultSchema = z.discriminatedUnion('fault', [
  z.strictObject({ fault: z.literal('drop'), ...onEvents }),
  z.strictObject({ fault: z.literal('delay'), ...onEvents, ms: ms.default(1000) }),
  z.strictObject({ fault: z.literal('duplicate'), ...onEvents, copies: z.int().min(2).max(100).default(2) }),
  z.strictObject({ fault: z.literal('reorder'), ...onEvents, by: z.int().min(1).max(1000).default(1), ms: ms.default(1000) }),
  z.strictObject({ fault: z.literal('hold') }),
  z.strictObject({ fault: z.literal('cut'), refuse: z.boolean().default(false) }),
  z.strictObject({ fault: z.literal('garbage'), frame: z.string().max(1_000_000).default('{"did":"did:plc:') }),
  z.strictObject({
    fault: z.literal('refuse'),
    ...onCalls,
    status: z.int().min(400).max(599).default(503),
    error: name.default('UpstreamFailure'),
  }),
  z.strictObject({ fault: z.literal('stall'), ...onCalls, ms: ms.optional() }),
  z.strictObject({ fault: z.literal('garble'), ...onCalls, body: z.string().max(1_000_000).default('{"uri":"at://') }),
  z.strictObject({ fault: z.literal('lose'), ...onCalls }),
])

/** A fault as it is asked for; what is left out takes its default. */
export type FaultInput = z.input<typeof faultSchema>
/** A fault with every default filled in. */
export type FaultRule = z.output<typeof faultSchema>

/** Whether `value` is `pattern`, or lies under it where the pattern ends in `.*`. An absent pattern fits everything. */
export function fits(pattern: string | undefined, value: string): boolean {
  if (pattern === undefined) return true
  return pattern.endsWith('.*') ? value.startsWith(pattern.slice(0, -1)) : value === pattern
}
