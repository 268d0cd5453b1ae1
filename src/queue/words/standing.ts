/** Where a pull stands, in the fixed words of STA-1, and why it does not move. */
import {
  ago,
  clock,
  code,
  commit,
  count,
  join,
  lasting,
  list,
  type Phrase,
  type PhrasePart,
  place,
  repoName,
  say,
  span,
  who,
} from './phrase.ts'

/** What the words of a standing are made of. Commits are whole ids, people are DIDs. */
export type StandingParts =
  | { kind: 'merged'; branch: string; commit?: string | undefined }
  /** Without a commit nothing shows that it landed. */
  | { kind: 'merged-not-there'; branch: string; commit?: string | undefined }
  | { kind: 'closed' }
  | { kind: 'draft' }
  | { kind: 'landing' }
  | { kind: 'in-batch'; size: number }
  | { kind: 'in-ahead'; size: number; outcome?: 'passed' | 'red' | undefined }
  | { kind: 'queued'; position: number; length: number; preflights: readonly string[] }
  | { kind: 'ejected'; reason: string }
  | { kind: 'open' }

/** STA-1. The same in the page, the XRPC answer and the command line (STA-3). */
export function standingWords(parts: StandingParts): Phrase {
  switch (parts.kind) {
    case 'merged':
      return parts.commit === undefined ? say`Landed in ${parts.branch}` : say`Landed in ${parts.branch} as ${commit(parts.commit)}`
    case 'merged-not-there':
      return parts.commit === undefined ? say`Marked merged, but with no commit` : say`Marked merged, but not on ${parts.branch}`
    case 'closed':
      return say`Closed without landing`
    case 'draft':
      return say`Draft: held`
    case 'landing':
      return say`Landing`
    case 'in-batch':
      return say`In a batch of ${parts.size} being checked`
    case 'in-ahead':
      if (parts.outcome === 'passed') return say`In a batch of ${parts.size} that passed, waiting for the batch under it`
      if (parts.outcome === 'red') return say`In a batch of ${parts.size}, red but undecided`
      return say`In a batch of ${parts.size} being checked`
    case 'queued':
      return parts.preflights.length === 0
        ? say`Queued, ${place(parts.position, parts.length)}`
        : say`Queued, ${place(parts.position, parts.length)}, waiting for ${preflights(parts.preflights)}`
    case 'ejected':
      return say`Ejected: ${parts.reason}`
    case 'open':
      return say`Open`
  }
}

function preflights(names: readonly string[]): Phrase {
  return names.length === 1 ? say`its pre-flight: ${list(names)}` : say`its pre-flights: ${list(names)}`
}

/** Why a queued pull does not move: one sentence, the first that is true. */
export type WhyParts =
  /** Queued since the lander last looked; its next pass is due `within` so much. */
  | { key: 'new'; lander: string; within?: number | undefined }
  | { key: 'next'; depth: number }
  | { key: 'ready' }
  | { key: 'full'; size: number }
  /** `before`: how many wait before it. */
  | { key: 'later'; before: number }
  | { key: 'fill'; lander: string; left: number }
  /** `behind`: others are queued behind it. */
  | { key: 'flight-running'; names: readonly string[]; behind: boolean; since?: number | undefined }
  | { key: 'flight-head'; names: readonly string[]; behind: boolean; since?: number | undefined }
  /** `taken`: the lander has taken it up, and its run cannot be read yet. */
  | { key: 'flight-none'; names: readonly string[]; lander: string; within?: number | undefined; taken?: boolean }
  /** `jobs`: where all of so many are known to be in use. */
  | { key: 'flight-job'; names: readonly string[]; behind: boolean; lander: string; jobs?: number | undefined }
  /** It ended without a verdict. */
  | { key: 'flight-again'; names: readonly string[]; behind: boolean }
  /** `others`: what is stacked ahead of it, and how many more there are. */
  | { key: 'conflict-ahead'; others: readonly PhrasePart[]; more: number; branch: string; files?: readonly string[] | undefined }
  | { key: 'conflict-branch'; branch: string; tip: string }
  | { key: 'halving' }
  | { key: 'no-lander'; since?: number | undefined; now: number }
  | { key: 'stopped'; lander: string }
  | { key: 'no-runners'; owner: string; name: string }
  | { key: 'unnamed-lander'; lander: string }
  | { key: 'not-delegated'; owner: string }
  | { key: 'restart'; lander: string; since: number }

/** Spans (`left`, `within`) are in milliseconds. */
export function whyWords(parts: WhyParts): Phrase {
  switch (parts.key) {
    case 'new':
      return say`${who(parts.lander)} has not looked at it yet: it does in its next pass${within(parts.within)}.`
    case 'next':
      return parts.depth > 1
        ? say`Ready. It joins the next batch, which is built when the one being checked ends: only one batch runs ahead.`
        : say`Ready. It joins the next batch, which is built when the one being checked ends: one is checked at a time.`
    case 'ready':
      return say`Ready for the next batch.`
    case 'full':
      return say`Ready. The batch ahead was full with ${parts.size} before its turn came; it joins the next one.`
    case 'later':
      return say`Ready. It joins a later batch: ${count(parts.before, 'pull is', 'pulls are')} before it.`
    case 'fill':
      return say`Ready. ${who(parts.lander)} gives the batch ${span(parts.left)} more to fill.`
    case 'flight-running':
      return join(
        parts.since === undefined
          ? say`Waiting for ${preflights(parts.names)}.`
          : say`Waiting for ${preflights(parts.names)}, running for ${lasting(parts.since)}.`,
        ahead(parts),
      )
    case 'flight-head':
      return join(
        say`Waiting for ${preflights(parts.names)} ${one(parts.names) ? 'runs' : 'run'} again because the head moved${parts.since === undefined ? say`` : say`, for ${lasting(parts.since)}`}.`,
        ahead(parts),
      )
    case 'flight-none':
      return join(
        say`Waiting for ${preflights(parts.names)} ${one(parts.names) ? 'has' : 'have'} not started.`,
        parts.taken === true
          ? say`${who(parts.lander)} is starting ${one(parts.names) ? 'it' : 'them'}.`
          : say`${who(parts.lander)} takes ${one(parts.names) ? 'it' : 'them'} up in its next pass${within(parts.within)}.`,
      )
    case 'flight-job':
      return parts.jobs === undefined
        ? join(
            say`Waiting for ${preflights(parts.names)} ${one(parts.names) ? 'waits' : 'wait'} for a free job on ${who(parts.lander)}.`,
            ahead(parts),
          )
        : say`Waiting for ${preflights(parts.names)} ${one(parts.names) ? 'has' : 'have'} no free job on ${who(parts.lander)} yet (${parts.jobs} of ${parts.jobs} in use).`
    case 'flight-again':
      return join(
        say`Waiting for ${preflights(parts.names)} ended without a verdict and ${one(parts.names) ? 'is' : 'are'} run again.`,
        ahead(parts),
      )
    case 'conflict-ahead': {
      const isOne = parts.others.length + parts.more === 1
      const others = list(parts.others, parts.more)
      const what =
        parts.files === undefined
          ? say`it does not fit on top of ${others}`
          : say`it changes ${list(parts.files.map(code))} as ${others} ${isOne ? 'does' : 'do'}`
      return say`Held: ${what}, which ${isOne ? 'is' : 'are'} being checked ahead of it. If that lands, merge ${parts.branch} into this pull; if it is turned away, this one goes on by itself.`
    }
    case 'conflict-branch':
      return say`Held: it does not apply on ${parts.branch} at ${commit(parts.tip)} any more, and is turned away when its turn comes. Merge or rebase ${parts.branch} to keep its place.`
    case 'halving':
      return say`Waiting while a failed batch is checked in halves; nothing runs ahead until the cause is found.`
    case 'no-lander':
      return parts.since === undefined
        ? say`Waiting for a lander: none has been seen yet. It keeps its place.`
        : say`Waiting for a lander: none seen since ${clock(parts.since, parts.now)}. It keeps its place.`
    case 'stopped':
      return say`Waiting: ${who(parts.lander)} was told to stop and starts nothing new. It keeps its place.`
    case 'no-runners':
      return say`Waiting: ${repoName(parts.owner, parts.name)} names no runner, so nothing lands it. It keeps its place.`
    case 'unnamed-lander':
      return say`Waiting for ${who(parts.lander)}, which lands this queue but is not named here, so its batches are not shown: name it to see them.`
    case 'not-delegated':
      return say`Waiting for ${who(parts.owner)} to let this server write for them. It keeps its place.`
    case 'restart':
      return say`Waiting: ${who(parts.lander)} started ${ago(parts.since)} and is reading the queue again.`
  }
}

function one(names: readonly string[]): boolean {
  return names.length === 1
}

function ahead({ behind }: { behind: boolean }): Phrase | undefined {
  return behind ? say`Pulls behind it go ahead meanwhile.` : undefined
}

/** How soon the next pass is due. */
function within(ms: number | undefined): string {
  return ms === undefined ? '' : `, within ${span(Math.max(ms, 1000))}`
}

/** QUE-9: the pull changed since it was queued. */
export function queuedAtWords(then: string, now: string): Phrase {
  return say`Queued at ${commit(then)}, now ${commit(now)}.`
}

/** REC-9: a record first seen long after the time in its key. */
export function backdatedWords(parts: { keyTime: number; seenAt: number }): Phrase {
  return say`Backdated: its key says ${{ time: parts.keyTime, form: 'full' }}, and it was first seen ${{ time: parts.seenAt, form: 'full' }}. Its place is by its key.`
}
