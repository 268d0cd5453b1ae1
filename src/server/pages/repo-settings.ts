import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Did } from '../../atproto/ids.ts'
import type { DoneKey } from '../../queue/words/repo-settings-page.ts'
import { endSession } from '../auth/end-session.ts'
import { sendToLogIn } from '../auth/to-log-in.ts'
import { isFragment } from '../http/frame.ts'
import { limited } from '../http/limits.ts'
import { visitOf } from '../http/visit.ts'
import type { PageContext } from './context.ts'
import { type Located, type RepoParams, repoParams } from './locate.ts'
import { addAccept, sendAccept } from './repo-settings-accept-page.ts'
import { createDrafts, type Drafts } from './repo-settings-drafts.ts'
import { type FormName, formNames, type Sent, sentForm } from './repo-settings-forms.ts'
import { sectionOf } from './repo-settings-model.ts'
import { createFoundNames, type FoundNames } from './repo-settings-names.ts'
import { ownerOf, type SettingsQuery, settingsPath } from './repo-settings-owner.ts'
import { sendSettingsPage } from './repo-settings-page.ts'
import { sendNotOwner } from './repo-settings-refused.ts'
import { runForm } from './repo-settings-run.ts'
import { addVoid } from './repo-settings-void.ts'

type Params = RepoParams & { form: FormName }

const formParams = {
  type: 'object',
  properties: { ...repoParams.properties, form: { type: 'string', enum: formNames } },
  required: ['owner', 'name', 'form'],
} as const

const query = {
  type: 'object',
  properties: {
    done: { type: 'string', maxLength: 32 },
    at: { type: 'string', maxLength: 32 },
    draft: { type: 'string', maxLength: 64 },
    right: { type: 'string', maxLength: 32 },
  },
} as const

/** Repository settings: its page, and each of its forms. */
export function addRepoSettings(app: FastifyInstance, ctx: PageContext): void {
  const drafts = createDrafts(ctx)
  const found = createFoundNames()

  app.get<{ Params: RepoParams; Querystring: SettingsQuery }>(
    '/:owner/:name/settings',
    { schema: { params: repoParams, querystring: query } },
    async (request, reply) => {
      const asked = ownerOf(ctx, request, reply)
      if ('sent' in asked) return asked.sent
      if ('offered' in asked) return sendAccept(ctx, request, reply, asked, request.query)
      const draft = drafts.find(asked.owner, asked.at.row.uri, request.query.draft)
      return sendSettingsPage(ctx, request, reply, { ...asked, found, query: request.query, draft })
    },
  )

  app.post<{ Params: Params; Body: Sent | undefined }>(
    '/:owner/:name/settings/:form',
    { schema: { params: formParams, body: sentForm }, ...limited('writes') },
    async (request, reply) => {
      const asked = ownerOf(ctx, request, reply)
      if ('sent' in asked) return asked.sent
      if ('offered' in asked) return sendNotOwner(ctx, request, reply, asked.at)
      return answerForm(ctx, request, reply, { ...asked, drafts, found })
    },
  )

  addVoid(app, ctx)
  addAccept(app, ctx)
}

async function answerForm(
  ctx: PageContext,
  request: FastifyRequest<{ Params: Params; Body: Sent | undefined }>,
  reply: FastifyReply,
  { owner, at, drafts, found }: { owner: Did; at: Located; drafts: Drafts; found: FoundNames },
): Promise<FastifyReply> {
  const { form } = request.params
  const { _csrf: _, ...sent } = request.body ?? {}
  const path = settingsPath(at)
  const section = sectionOf[form]
  const done = await runForm(ctx, { owner, at, form, sent, found })
  reply.header('cache-control', 'no-store')
  switch (done.kind) {
    case 'written':
      return goOn(request, reply, `${path}?done=${doneKey(form)}&at=${section}#${section}`)
    case 'already':
      return goOn(request, reply, `${path}?done=already&at=${section}#${section}`)
    case 'no-right':
      return goOn(request, reply, `${path}?draft=${drafts.keep(owner, at.row.uri, { form, sent })}#right`)
    case 'log-in': {
      const { session } = visitOf(request)
      if (session !== undefined) await endSession(ctx, session.did, session.name)
      return sendToLogIn(ctx.config.publicUrl, request, reply, `${path}?draft=${drafts.keep(owner, at.row.uri, { form, sent })}`)
    }
    case 'refused':
    case 'changed':
      return sendSettingsPage(ctx, request, reply, {
        owner,
        at,
        found,
        refused: { form, sent, refusal: done.refusal, anew: done.kind === 'changed' },
      })
  }
}

function doneKey(form: FormName): DoneKey {
  if (form === 'add-runner' || form === 'add-collaborator') return 'add'
  if (form === 'remove-runner' || form === 'remove-collaborator') return 'remove'
  return form === 'move-runner' ? 'move' : form
}

/** By a new request; htmx is told to make it, so that the address says what was done. */
function goOn(request: FastifyRequest, reply: FastifyReply, path: string): FastifyReply {
  return isFragment(request)
    ? reply.code(200).header('hx-redirect', path).type('text/plain; charset=utf-8').send('')
    : reply.redirect(path, 303)
}
