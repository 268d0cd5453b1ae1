import type { FastifyInstance } from 'fastify'
import { parseAtUri } from '../../atproto/ids.ts'
import { versionOf } from '../../indexer/read.ts'
import { liveWords } from '../../queue/words/pages.ts'
import { plain } from '../../queue/words/phrase.ts'
import { ANY } from './any-change.ts'
import type { PageContext } from './context.ts'
import { changedEvent, type Topic } from './streams.ts'

/** What all tabs of one browser may watch over one stream, and characters of one: a DID and a name may be long. */
const MOST_TOPICS = 24
const LONGEST = 1_024

const query = {
  type: 'object',
  properties: { of: { type: 'array', items: { type: 'string', maxLength: LONGEST }, minItems: 1, maxItems: MOST_TOPICS } },
  required: ['of'],
} as const

/** Characters that a page's own stream has in its address at most, which leaves some for those of other tabs. */
const LONGEST_PATH = 3_500

/** The address of the stream for a page that shows these, or as many of them as one stream takes. */
export function eventsPath(...topics: readonly Topic[]): string {
  const path = `/events?${topics.map(({ of, version }) => `of=${encodeURIComponent(`${of}@${version}`)}`).join('&')}`
  return topics.length > 1 && (topics.length > MOST_TOPICS || path.length > LONGEST_PATH) ? eventsPath(...topics.slice(0, -1)) : path
}

/**
 * The event stream: `changed` with what is of another version now, at once where the reader has an older one, and a `beat` in between. What changed
 * is not in it: the page asks for its regions again. All that is here is public, so that it looks at no cookie.
 */
export function addEvents(app: FastifyInstance, ctx: PageContext): void {
  app.get<{ Querystring: { of: string[] } }>('/events', { schema: { querystring: query } }, (request, reply) => {
    const topics = request.query.of.flatMap(readTopic)
    if (topics.length === 0) return reply.code(404).header('cache-control', 'no-store').send()
    // An answer without a body that never ends would hold up whatever comes next on its connection.
    if (request.method === 'HEAD') return reply.type('text/event-stream; charset=utf-8').header('cache-control', 'no-store').send()
    const { raw } = reply
    for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value)
    const known = topics.map(topic => ({ ...topic, version: nowOf(ctx, topic) }))
    if (!ctx.streams.open(raw, request.ip, known))
      return reply
        .code(429)
        .header('retry-after', '30')
        .type('text/plain; charset=utf-8')
        .send(`${plain(liveWords({ key: 'full-stream', seconds: 30 }), ctx.now(), () => undefined)}\n`)
    reply.hijack()
    for (const [at, topic] of known.entries()) if (topics[at]?.version !== topic.version) raw.write(changedEvent(topic))
    return reply
  })
}

function readTopic(text: string): Topic[] {
  const [, of, version] = /^(.+)@(\d{1,15})$/.exec(text) ?? []
  const uri = parseAtUri(of)
  const watched = of === ANY || uri?.collection === 'dev.knotless.repo' || uri?.collection === 'dev.knotless.check'
  return of !== undefined && watched ? [{ of, version: Number(version) }] : []
}

/** Runs have no versions. */
function nowOf(ctx: PageContext, { of }: Topic): number {
  if (of === ANY) return ctx.anyChange.topic().version
  return of.includes('/dev.knotless.repo/') ? versionOf(ctx.database, of) : 0
}
