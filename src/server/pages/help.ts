import type { FastifyInstance } from 'fastify'
import { meaningsOfLabels } from '../../queue/words/help.ts'
import { titleWords } from '../../queue/words/pages.ts'
import { frameOf } from '../http/frame.ts'
import type { PageContext } from './context.ts'
import { sendKept, sendShared } from './send.ts'

/** One page that says how a queue works and what its words mean. */
export function addHelp(app: FastifyInstance, ctx: PageContext): void {
  app.get('/help', (request, reply) => {
    if (sendKept(ctx, request, reply)) return reply
    const frame = frameOf(ctx, request, {
      title: titleWords({ key: 'help' }),
      description: 'How a pull lands through a merge queue, what the words on the pages mean, and what to do when it does not go on.',
    })
    return sendShared(ctx, request, reply, ctx.renderer.renderPage('help', { frame, meanings: meaningsOfLabels() }))
  })
}
