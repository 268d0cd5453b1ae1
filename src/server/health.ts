import type { FastifyInstance } from 'fastify'
import { sql } from 'kysely'
import type { Context } from './context.ts'
import { unready } from './words.ts'

/** Why the server cannot be used now, in words; empty when it is ready. */
export async function whyNotReady(ctx: Context): Promise<string[]> {
  const why: string[] = []
  const answers = await sql`select 1`.execute(ctx.db).then(
    () => true,
    () => false,
  )
  if (!answers) why.push(unready.database)
  const stream = ctx.indexer.status()
  if (!stream.connected) {
    const what = stream.connectedBefore ? unready.disconnected : unready.neverConnected
    why.push(stream.trouble === undefined ? what : `${what}: ${stream.trouble}`)
  }
  return why
}

/** `/healthz` for those who watch the process, `/xrpc/_health` for atproto's. */
export function serveHealth(app: FastifyInstance, ctx: Context): void {
  app.get('/healthz', { config: { limit: 'none' } }, async (_request, reply) => {
    const why = await whyNotReady(ctx)
    reply.header('cache-control', 'no-store')
    if (why.length === 0) return reply.send({ status: 'ready', version: ctx.version })
    return reply.code(503).send({ status: 'not-ready', version: ctx.version, why })
  })
  app.get('/xrpc/_health', (_request, reply) => reply.header('access-control-allow-origin', '*').send({ version: ctx.version }))
}
