import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { sendToLogIn } from '../auth/to-log-in.ts'
import type { Context } from '../context.ts'
import { auditCsv, auditJson } from '../gateway/audit-export.ts'
import { limited } from '../http/limits.ts'
import { visitOf } from '../http/visit.ts'

/** The whole log of whoever is logged in, for programs and for keeping (GWY-6). It is read while it is sent, some lines at a time. */
export function addAuditExports(app: FastifyInstance, ctx: Context): void {
  const send = (kind: 'csv' | 'json', type: string, lines: (owner: string) => Generator<string>) => {
    app.get(`/settings/audit.${kind}`, limited('writes'), (request: FastifyRequest, reply: FastifyReply) => {
      const { session } = visitOf(request)
      if (session === undefined) return sendToLogIn(ctx.config.publicUrl, request, reply, '/settings')
      const day = new Date(ctx.now()).toISOString().slice(0, 10)
      return reply
        .type(type)
        .headers({ 'cache-control': 'no-store', 'content-disposition': `attachment; filename="knotless-audit-${day}.${kind}"` })
        .send(Readable.from(lines(session.did), { objectMode: false }))
    })
  }
  send('csv', 'text/csv; charset=utf-8; header=present', owner => auditCsv(ctx.audit, owner))
  send('json', 'application/json; charset=utf-8', owner => auditJson(ctx.audit, owner, ctx.now()))
}
