import type { AtUri, Did } from '../../atproto/ids.ts'
import { judgeChange } from '../../queue/changing.ts'
import type { ChangeAct } from '../../queue/words/refusals.ts'
import { catchUp } from './catch-up.ts'
import type { ActionContext } from './context.ts'
import { type Fresh, readFresh } from './fresh.ts'
import { writeDraft } from './write-draft.ts'
import { type NotWritten, writeEntry } from './write-record.ts'

/** `already`: it was so, and nothing was written. */
export type Changed = { ok: true; already: boolean } | NotWritten

interface Asked {
  act: ChangeAct
  pull: AtUri
  caller: Did
  /** Whether the caller's grant holds the right that this act takes. */
  mayWrite: boolean
}

/**
 * Closes a pull or opens it again by one state record in the caller's own account (HON-6), or says whether it is a draft in the pull's own record, as
 * its author (QUE-5). One at a time for each account and pull, so that a second click finds what the first wrote.
 */
export function changePull(ctx: ActionContext, asked: Asked): Promise<Changed> {
  return ctx.locks.run(`${asked.caller} ${asked.pull}`, () => change(ctx, asked))
}

async function change(ctx: ActionContext, { act, pull, caller, mayWrite }: Asked): Promise<Changed> {
  const fresh = await readFresh(ctx, { act, pull, caller })
  if (!fresh.ok) return fresh
  const judged = judgeChange(act, { view: fresh.view, pull, caller })
  if (!judged.ok || judged.already) {
    await catchUp(ctx, fresh.pull)
    return judged
  }
  if (!mayWrite) return { ok: false, why: 'no-right' }
  const written = await write(ctx, { act, pull, caller, fresh })
  return written.ok ? { ok: true, already: false } : written
}

function write(ctx: ActionContext, { act, pull, caller, fresh }: Pick<Asked, 'act' | 'pull' | 'caller'> & { fresh: Fresh }) {
  if (act === 'ready' || act === 'draft') return writeDraft(ctx, { act, pull, caller })
  const entry = { repo: fresh.pull.pull.value.repo, subject: pull, state: act === 'close' ? 'closed' : 'open' }
  return writeEntry(ctx, { act, caller, view: fresh.view, entry, collection: 'dev.knotless.state' })
}
