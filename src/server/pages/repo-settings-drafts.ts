import { LRUCache } from 'lru-cache'
import type { Ids } from '../ids.ts'
import type { FormName, Sent } from './repo-settings-forms.ts'

/** A form that was sent before its sender had the right that it needs. */
export interface Draft {
  form: FormName
  sent: Sent
}

/** Keeps such forms while their sender is at their own server for the right. */
export interface Drafts {
  /** Gives what it is found by. */
  keep(owner: string, repo: string, draft: Draft): string
  /** Only for whoever sent it, on the page that it was sent from. */
  find(owner: string, repo: string, id: string | undefined): Draft | undefined
}

const HOUR = 60 * 60_000
/** Characters in all. */
const MOST = 4_000_000

/** In memory: a restart forgets them, and then they are typed again. `now` in milliseconds. */
export function createDrafts(ctx: { now: () => number; ids: Pick<Ids, 'secret'> }): Drafts {
  const kept = new LRUCache<string, Draft & { at: number; place: string }>({
    maxSize: MOST,
    sizeCalculation: ({ sent }) => 200 + Object.entries(sent).reduce((sum, [name, value]) => sum + name.length + value.length, 0),
  })
  const placeOf = (owner: string, repo: string) => `${owner} ${repo}`
  return {
    keep(owner, repo, draft) {
      const id = ctx.ids.secret().slice(0, 22)
      kept.set(id, { ...draft, at: ctx.now(), place: placeOf(owner, repo) })
      return id
    },
    find(owner, repo, id) {
      const draft = id === undefined ? undefined : kept.get(id)
      if (draft === undefined || draft.place !== placeOf(owner, repo) || ctx.now() - draft.at > HOUR) return undefined
      return { form: draft.form, sent: draft.sent }
    },
  }
}
