import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { samePath } from '../http/paths.ts'
import { formNames } from './repo-settings-forms.ts'
import { endParams } from './settings.ts'

/**
 * A form that is refused leaves its own address in the browser. Opened again, reloaded or come back to after a log-in, it leads to the page that
 * the form is on.
 */
export function addFormAddresses(app: FastifyInstance): void {
  for (const form of [...formNames, 'accept']) {
    // The question before an account is made void has this address.
    if (form !== 'void') app.get(`/:owner/:name/settings/${form}`, (request, reply) => goUp(request, reply, 1))
  }
  for (const act of ['queue', 'merge', 'open', 'ready', 'rerun'])
    app.get(`/:owner/:name/pulls/:author/:key/${act}`, (request, reply) => goUp(request, reply, 1))
  for (const act of ['give', 'withdraw']) app.get(`/settings/delegation/${act}`, (request, reply) => goUp(request, reply, 2))
  app.get('/settings/sessions/:name/end', { schema: { params: endParams } }, (request, reply) => goUp(request, reply, 3))
  app.get('/settings/sessions/end-others', (request, reply) => goUp(request, reply, 2))
}

/** To the address without its last parts. */
function goUp(request: FastifyRequest, reply: FastifyReply, parts: number): FastifyReply {
  const path = request.url.split('?')[0] ?? ''
  return reply.redirect(samePath(path.split('/').slice(0, -parts).join('/')), 303)
}
