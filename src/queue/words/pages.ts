/** Titles, empty lists, dead ends and what a live page says about itself. */
import { ago, clock, cutTitle, type Phrase, type PhrasePart, place, say, who } from './phrase.ts'

/** `repo` is the repository's name as people write it, such as alice.test/orchard. */
export type TitleParts =
  | { key: 'home' }
  | { key: 'repository'; repo: string }
  | { key: 'queue'; length: number; branch: string; repo: string; ill?: string | undefined }
  | { key: 'pull'; standing: string; title: string; repo: string }
  | { key: 'batch'; size: number; label: string; branch: string; repo: string }
  | { key: 'log'; workflow: string; label: string; size?: number | undefined; repo: string }
  | { key: 'leave'; title: string; repo: string }
  | { key: 'login' }
  | { key: 'settings' }
  | { key: 'my-pulls' }
  | { key: 'help' }

export function titleWords(parts: TitleParts): string {
  switch (parts.key) {
    case 'home':
      return 'Repositories'
    case 'repository':
      return parts.repo
    case 'queue':
      return `Queue (${parts.length})${parts.ill === undefined ? '' : `, ${parts.ill.toLowerCase()}`} · ${parts.branch} · ${parts.repo}`
    case 'pull':
      return `${parts.standing} · ${cutTitle(parts.title)} · ${parts.repo}`
    case 'batch':
      return `Batch of ${parts.size}, ${parts.label.toLowerCase()} · ${parts.branch} · ${parts.repo}`
    case 'log':
      return `${parts.workflow}, ${parts.label.toLowerCase()}${parts.size === undefined ? '' : ` · batch of ${parts.size}`} · ${parts.repo}`
    case 'leave':
      return `Leave the queue? · ${cutTitle(parts.title)} · ${parts.repo}`
    case 'login':
      return 'Log in'
    case 'settings':
      return 'Settings'
    case 'my-pulls':
      return 'My pulls'
    case 'help':
      return 'Help'
  }
}

/** The badge: queue length and health in a word. */
export function badgeWords(branch: string, length: number, label: string): string {
  return `${branch}: ${length} queued, ${label.toLowerCase()}`
}

/** The same of a branch that is not there. */
export function noBadgeWords(branch: string): string {
  return `${branch}: no queue here`
}

export type EmptyParts =
  | { key: 'queue'; branch: string }
  | { key: 'filtered'; queued: number }
  | { key: 'ejected' }
  | { key: 'landed'; branch: string }
  | { key: 'flight' }
  | { key: 'checks' }
  | { key: 'pulls'; state: 'open' | 'closed' | 'merged' }
  | { key: 'audit' }
  | { key: 'repos'; query: string }
  /** Of an account, a DID. */
  | { key: 'repos-of'; owner: string }
  | { key: 'stats' }
  | { key: 'my-pulls'; state: 'open' | 'closed' | 'merged' }
  /** Of one's own repositories with a queue that needs a look. */
  | { key: 'ill' }
  | { key: 'activity' }

/** What stands in place of a list that holds nothing. */
export function emptyWords(parts: EmptyParts): { headline?: Phrase; says: Phrase } {
  switch (parts.key) {
    case 'queue':
      return {
        headline: say`Nothing is queued on ${parts.branch}`,
        says: say`Open a pull and choose “Add to merge queue”; it shows up here at once.`,
      }
    case 'filtered':
      return {
        headline: say`Nothing matches`,
        says: say`No queued pull matches these filters. ${parts.queued} ${parts.queued === 1 ? 'is' : 'are'} queued in all.`,
      }
    case 'ejected':
      return { says: say`Nothing was turned away in the last seven days.` }
    case 'landed':
      return { says: say`Nothing has landed on ${parts.branch} through the queue yet.` }
    case 'flight':
      return { says: say`Nothing is being checked.` }
    case 'checks':
      return { says: say`No checks at this head yet.` }
    case 'pulls':
      return { says: say`No ${parts.state} pulls.` }
    case 'audit':
      return { says: say`This server has written nothing for you yet.` }
    case 'repos':
      return parts.query === ''
        ? { headline: say`No repository yet`, says: say`This server has not heard of any repository so far.` }
        : {
            headline: say`No repository found`,
            says: say`Nothing here is called “${parts.query}”. Try a handle, such as alice.test, or part of a name.`,
          }
    case 'repos-of':
      return { headline: say`No repository`, says: say`${who(parts.owner)} owns no repository that this server knows.` }
    case 'my-pulls':
      return {
        headline: say`None of yours`,
        says:
          parts.state === 'open'
            ? say`You have no open pull in any repository that this server knows.`
            : say`No pull of yours was ${parts.state === 'closed' ? 'closed without landing' : 'merged'} yet.`,
      }
    case 'ill':
      return { headline: say`All is well`, says: say`No queue of yours needs a look.` }
    case 'activity':
      return { says: say`Nothing has happened here yet.` }
    case 'stats':
      return { says: say`Fewer than five landings in this span: too few to draw.` }
  }
}

const inQueue = new Set(['queued', 'in-batch', 'in-ahead', 'landing'])

/** How the pulls of one person are put together, and which standings each group holds; every standing is in one. */
export function myPullGroups(state: 'open' | 'closed' | 'merged'): { title: string; holds(standing: string): boolean }[] {
  if (state !== 'open') return [{ title: state === 'closed' ? 'Closed' : 'Merged', holds: () => true }]
  return [
    { title: 'In the queue', holds: standing => inQueue.has(standing) },
    { title: 'Turned away', holds: standing => standing === 'ejected' },
    { title: 'Not queued', holds: standing => !inQueue.has(standing) && standing !== 'ejected' },
  ]
}

export type ErrorParts = { status: 404; lookedFor?: string | undefined } | { status: 500; id: string }

/** What was looked for is named when the address said it. */
export function errorPageWords(parts: ErrorParts): { headline: Phrase; says: Phrase } {
  if (parts.status === 404) {
    const what = parts.lookedFor === undefined ? say`There is no page at this address.` : say`There is no ${parts.lookedFor} here.`
    return {
      headline: say`This end is tied to nothing`,
      says: say`${what} The pull may have been deleted by its author, or the repository moved.`,
    }
  }
  return {
    headline: say`We tied ourselves in a knot`,
    says: say`Something broke on our side, and nothing you did caused it. If it happens again, tell us this number: ${{ code: parts.id }}.`,
  }
}

/** One of the reader's own pulls; `lands`: when, in words. */
export interface YoursPart {
  title: { title: string; pull: string }
  position: number
  length: number
  in?: 'checked' | 'ahead' | 'landing' | undefined
  lands?: PhrasePart | undefined
}

function yours({ title, position, length, in: state, lands }: YoursPart): Phrase {
  if (state === 'landing') return say`${title}, landing now`
  const where = state === undefined ? place(position, length) : state === 'ahead' ? 'in the batch ahead' : 'in the batch being checked'
  if (lands === undefined) return say`${title}, ${where}`
  return state === undefined ? say`${title}, ${where}, ${lands}` : say`${title}, ${where}, lands ${lands}`
}

export type LiveParts =
  | { key: 'stale'; at: number; now: number }
  | { key: 'news'; at: number; now: number; sentence: Phrase; waiting: number }
  | { key: 'pull-news'; at: number; now: number; sentence: Phrase }
  | { key: 'new-row' }
  | { key: 'moved-row'; from: string }
  | { key: 'yours'; pulls: readonly YoursPart[]; more: number }
  | { key: 'no-script' }
  | { key: 'unanswered' }
  | { key: 'full' }
  | { key: 'full-stream'; seconds: number }

export function liveWords(parts: LiveParts): Phrase {
  switch (parts.key) {
    case 'stale':
      return say`This page is as it was at ${clock(parts.at, parts.now)}, ${ago(parts.at)}. Trying again.`
    case 'news':
      return say`Last change at ${clock(parts.at, parts.now)}: ${parts.sentence} ${parts.waiting} waiting.`
    case 'pull-news':
      return say`Last change at ${clock(parts.at, parts.now)}: ${parts.sentence}${isEnded(parts.sentence) ? '' : '.'}`
    case 'new-row':
      return say`new`
    case 'moved-row':
      return say`was ${parts.from}`
    case 'yours':
      return say`Yours: ${parts.pulls.map(yours).reduce((all, next) => say`${all}; ${next}`)}${parts.more === 0 ? '' : `; and ${parts.more} more`}.`
    case 'no-script':
      return say`Without scripts this page stays as it is: reload it, or have it reload every 30 s.`
    case 'unanswered':
      return say`Whether it was done is not known; this page shows it once it is connected again. Trying again is safe: nothing is queued twice.`
    case 'full':
      return say`As many pages follow their changes as this server can tell at once. This one asks every 30 s.`
    case 'full-stream':
      return say`As many pages follow their changes as this server can tell at once. Ask again in ${parts.seconds} s.`
  }
}

/** An ejection's sentence brings its own full stop. */
function isEnded(sentence: Phrase): boolean {
  const last = sentence.at(-1)
  return typeof last === 'string' && /[.!?…]$/.test(last)
}

/** In place of a pull's commits and files. */
export const changesWords = {
  unread: 'Its commits have not been read yet.',
  slow: 'Its commits and files are still being read. Reload the page in a moment.',
} as const
