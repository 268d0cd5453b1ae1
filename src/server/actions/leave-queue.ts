import { type AtUri, type Did, makeAtUri, parseAtUri } from '../../atproto/ids.ts'
import { judgeLeave } from '../../queue/admission.ts'
import { catchUp } from './catch-up.ts'
import type { ActionContext } from './context.ts'
import { readFresh } from './fresh.ts'
import { type NotWritten, writeEntry } from './write-record.ts'

export type Left = { ok: true; branch: string } | NotWritten

/** Takes a pull out of its queue, as `caller` (ADM-1, ADM-8): one record in the caller's own account that names the entry it ends (REC-10). */
export function leaveQueue(ctx: ActionContext, input: { pull: AtUri; caller: Did }): Promise<Left> {
  return ctx.locks.run(`${input.caller} ${input.pull}`, () => leave(ctx, input))
}

async function leave(ctx: ActionContext, { pull, caller }: { pull: AtUri; caller: Did }): Promise<Left> {
  const fresh = await readFresh(ctx, { act: 'leave', pull, caller })
  if (!fresh.ok) return fresh
  const judged = judgeLeave({ view: fresh.view, pull, caller })
  if (!judged.ok) {
    await catchUp(ctx, fresh.pull)
    return judged
  }
  const ended = parseAtUri(judged.entry.uri)
  const ends = ended && makeAtUri(ended.did, ended.collection, ended.rkey)
  const entry = { repo: fresh.pull.pull.value.repo, subject: pull, state: 'left', ...(ends === undefined ? {} : { ends }) }
  const written = await writeEntry(ctx, { act: 'leave', caller, view: fresh.view, entry })
  return written.ok ? { ok: true, branch: judged.branch } : written
}
