import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Did } from '../../atproto/ids.ts'
import * as words from '../../queue/words/repo-settings.ts'
import * as says from '../../queue/words/repo-settings-page.ts'
import type { RepoSettingsPage, SettingsSection } from '../../views/models.ts'
import { withQuery } from '../../views/paths.ts'
import { serverName } from '../actions/server-name.ts'
import { sendPage } from '../http/answers.ts'
import type { PageContext } from './context.ts'
import { type Located, locate, type RepoParams } from './locate.ts'
import type { Draft } from './repo-settings-drafts.ts'
import type { FormName, Sent } from './repo-settings-forms.ts'
import { sectionOf, settingsModel } from './repo-settings-model.ts'
import type { FoundNames } from './repo-settings-names.ts'
import { type SettingsQuery, settingsPath } from './repo-settings-owner.ts'
import { mayWriteRepo, readNow } from './repo-settings-write.ts'

interface Shown {
  owner: Did
  at: Located
  found: FoundNames
  query?: SettingsQuery | undefined
  /** A form that waited for the right to write. */
  draft?: Draft | undefined
  /** A form that was refused; with `anew` because somebody else changed the same thing. */
  refused?: { form: FormName; sent: Sent; refusal: words.SettingsRefusal; anew: boolean } | undefined
}

/** The owner's page, with the record as its source has it now; 422 with what was typed where a form was refused. */
export async function sendSettingsPage(
  ctx: PageContext,
  request: FastifyRequest<{ Params: RepoParams }>,
  reply: FastifyReply,
  shown: Shown,
): Promise<FastifyReply> {
  const { owner, query = {}, draft, refused } = shown
  const fresh = await readNow(ctx, shown.at.row.uri)
  const at = locate(ctx, request.params) ?? shown.at
  const right = (await mayWriteRepo(ctx, owner))
    ? undefined
    : await rightFor(ctx, owner, withQuery(settingsPath(at), { draft: query.draft }), query.right)
  const typed = refused ?? (draft && { ...draft, anew: false })
  const model = settingsModel(ctx, request, {
    at,
    owner,
    found: shown.found,
    record: fresh.ok ? fresh.record : at.view.record,
    old: !fresh.ok,
    typed: typed && { form: typed.form, sent: typed.sent, anew: typed.anew },
    more: {
      right,
      kept: draft && { form: draft.form, sent: draft.sent, verb: says.verbOf(draft.form), what: says.keptWords(says.verbOf(draft.form)) },
      said: refused === undefined ? saidOf(query) : { section: sectionOf[refused.form], refused: refused.refusal },
    },
  })
  reply.header('cache-control', 'no-store')
  return sendPage(ctx, reply, 'repo-settings', model, refused === undefined ? 200 : 422)
}

const sections = new Set<SettingsSection>(Object.values(sectionOf))

function saidOf({ done, at }: SettingsQuery): RepoSettingsPage['said'] {
  const section = [...sections].find(each => each === at)
  const message = done === undefined ? undefined : says.doneWords(done)
  return section === undefined || message === undefined ? undefined : { section, notice: { code: 'done', message } }
}

/** What is asked of an owner who has not granted the right to write yet, and what came of asking. */
export async function rightFor(
  ctx: PageContext,
  owner: Did,
  next: string,
  cameBack: string | undefined,
): Promise<NonNullable<RepoSettingsPage['right']>> {
  const host = await serverName(ctx.actions, owner, 'your server')
  const refused = cameBack === undefined ? undefined : words.rightRefused(cameBack)
  return { says: says.rightWords(host), host, href: withQuery('/login/start', { handle: owner, asks: 'repository', next }), refused }
}
