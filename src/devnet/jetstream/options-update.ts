import { z } from 'zod'
import { type Filter, parseFilter } from './filter.ts'

const message = z.object({ type: z.string() })
const update = z.object({
  payload: z
    .object({
      wantedCollections: z.array(z.string()).nullish(),
      wantedDids: z.array(z.string()).nullish(),
      maxMessageSizeBytes: z.number().nullish(),
    })
    .nullish(),
})

/** What a frame from a consumer asks for: a new filter, to be closed (with the reason), or nothing that is known. */
export function optionsUpdate(text: string, binary: boolean): { filter: Filter } | { close: number; message: string } | { ignored: true } {
  if (binary) return { close: 1003, message: 'text frames only' }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { close: 1007, message: 'not JSON' }
  }
  const kind = message.safeParse(value)
  if (!kind.success) return { close: 1008, message: 'a message needs a type' }
  if (kind.data.type !== 'options_update') return { ignored: true }
  const parsed = update.safeParse(value)
  if (!parsed.success) return { close: 1008, message: 'invalid options_update' }
  const asked = parsed.data.payload ?? {}
  const filter = parseFilter({
    collections: asked.wantedCollections ?? [],
    dids: asked.wantedDids ?? [],
    maxBytes: asked.maxMessageSizeBytes ?? 0,
  })
  // A close frame carries 123 bytes of reason at most.
  return 'wrong' in filter ? { close: 1008, message: filter.wrong.slice(0, 100) } : { filter }
}
