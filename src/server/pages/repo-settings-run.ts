import { type Did, parseRecordKey } from '../../atproto/ids.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import * as words from '../../queue/words/repo-settings.ts'
import type { PageContext } from './context.ts'
import type { Located } from './locate.ts'
import { holdsAt } from './repo-settings-accept.ts'
import { type FormName, parseForm, repoAt, type Sent } from './repo-settings-forms.ts'
import type { FoundNames } from './repo-settings-names.ts'
import { readNow, type WriteOutcome, writeRepo } from './repo-settings-write.ts'

/** Does what a form asks for. What is typed wrong is said before anybody is asked for a right. */
export async function runForm(
  ctx: PageContext,
  { owner, at, form, sent, found }: { owner: Did; at: Located; form: FormName; sent: Sent; found: FoundNames },
): Promise<WriteOutcome> {
  const name = parseRecordKey(at.row.name)
  if (name === undefined) return { kind: 'refused', refusal: words.recordGone() }
  const { present, record } = at.view
  const hasBranch = (branch: string) => branch === record.value.defaultBranch || present?.has(branch) === true
  const parsed = await parseForm({ identity: ctx.identity, config: ctx.config, owner, found, hasBranch }, form, sent)
  if (!parsed.ok) return { kind: 'refused', refusal: parsed.refusal }
  const holds = form === 'take-back' ? await holdsAlready(ctx, at.row.uri) : undefined
  return holds ?? writeRepo(ctx, { owner, name, cid: sent.cid, edit: parsed.edit })
}

/** HON-4: what the new owner accepted cannot be taken back, and where their server does not answer that cannot be told. */
async function holdsAlready(ctx: PageContext, uri: string): Promise<WriteOutcome | undefined> {
  const fresh = await readNow(ctx, uri)
  if (!fresh.ok) return { kind: 'refused', refusal: fresh.refusal }
  const to = repoAt(fresh.record.value.transferredTo?.repo)
  try {
    const holds = await holdsAt(ctx, fresh.record.value, uri)
    return holds && to !== undefined ? { kind: 'refused', refusal: words.holdsAlready(to.owner) } : undefined
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error
    return { kind: 'refused', refusal: words.unread(error.host) }
  }
}
