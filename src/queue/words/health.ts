/** The health line: how a queue does, what to do about it and since when (STA-4). */
import type { HealthKind } from './labels.ts'
import { ago, clock, code, commit, count, lasting, type Phrase, repoName, say, span, who } from './phrase.ts'

/** Landers and owners are DIDs, times milliseconds since 1970, spans milliseconds. */
export type HealthParts =
  /** `landing`: every check of the batch passed. */
  | {
      kind: 'busy'
      waiting: number
      size: number
      since: number
      landing?: boolean | undefined
      ahead: number
      lastLanding?: number | undefined
    }
  | { kind: 'checking'; waiting: number; size: number; since: number; landing?: boolean | undefined; lastLanding?: number | undefined }
  | { kind: 'filling'; waiting: number; lander: string; wait: number }
  | { kind: 'waiting'; waiting: number; lander: string; lastLanding?: number | undefined }
  | { kind: 'idle'; lastLanding?: number | undefined }
  | { kind: 'halving'; size: number; failedAt: number; lander: string; waiting: number }
  | { kind: 'no-lander'; since: number; now: number; queued: number; owner: string; isOwner: boolean }
  | { kind: 'never-lander'; lander: string; owner: string; isOwner: boolean; queued: number }
  | { kind: 'stall'; since: number; lander: string; seenAt: number; said?: string | undefined; owner: string }
  | { kind: 'churn'; drops: number; since: number; now: number; branch: string; cause?: Phrase | undefined }
  | { kind: 'not-delegated'; owner: string; isOwner: boolean; since?: number | undefined; now: number; settingsUrl?: string | undefined }
  | { kind: 'no-runners'; owner: string; name: string; isOwner: boolean }
  | { kind: 'unchecked'; branch: string; commit?: string | undefined; since?: number | undefined }
  /** `busy`: it still has a batch in flight. */
  | { kind: 'stopping'; lander: string; busy: boolean }
  /** FAI-8: the last batch ended without a verdict; `said` is why, a sentence. */
  | { kind: 'trouble'; size: number; at: number; said: string; lander: string }
  /** This server behind the network, in milliseconds. */
  | { kind: 'behind'; by: number }

export interface HealthWords {
  kind: HealthKind
  /** How it starts, with its colon. */
  bold: string
  says: Phrase
  advice?: Phrase | undefined
}

/** The words of a health line; `says` goes on after `bold`. */
export function healthWords(parts: HealthParts): HealthWords {
  const line = (bold: string, says: Phrase, advice?: Phrase): HealthWords => ({
    kind: parts.kind,
    bold,
    says,
    ...(advice === undefined ? {} : { advice }),
  })
  switch (parts.kind) {
    case 'busy':
      return line(
        'Healthy:',
        say`${parts.waiting} waiting, ${lowest(parts)} with one of ${parts.ahead} ahead, ${lastLanding(parts.lastLanding)}.`,
      )
    case 'checking':
      return line('Healthy:', say`${parts.waiting} waiting, ${lowest(parts)}, ${lastLanding(parts.lastLanding)}.`)
    case 'filling':
      return line(
        'Healthy:',
        say`${parts.waiting} waiting. ${who(parts.lander)} lets a batch fill for up to ${span(parts.wait)} before it starts.`,
      )
    case 'waiting':
      return line(
        'Healthy:',
        say`${parts.waiting} waiting, ${lastLanding(parts.lastLanding)}. ${who(parts.lander)} builds a batch in its next pass.`,
      )
    case 'idle':
      return line(
        'Healthy and idle:',
        parts.lastLanding === undefined
          ? say`nothing is queued, and nothing has landed yet.`
          : say`nothing is queued. Last landing ${ago(parts.lastLanding)}.`,
      )
    case 'halving':
      return line(
        'Finding the cause:',
        say`a batch of ${parts.size} failed ${ago(parts.failedAt)}, so ${who(parts.lander)} checks it in halves.`,
        parts.waiting === 0
          ? say`Nothing runs ahead meanwhile.`
          : say`${count(parts.waiting, 'other waits', 'others wait')} until the cause is found; nothing runs ahead meanwhile.`,
      )
    case 'no-lander':
      return line(
        'Stalled:',
        say`no lander has been seen since ${clock(parts.since, parts.now)}, ${ago(parts.since)}.`,
        say`Nothing can land or be turned away until a runner is back.${places(parts.queued)} ${parts.isOwner ? say`Start it again, and the queue goes on.` : say`Tell ${who(parts.owner)}, who can start it again.`}`,
      )
    case 'never-lander':
      return line(
        'Not started:',
        say`no lander has been seen. ${who(parts.lander)} is named as the runner here.`,
        say`Nothing lands until it is started.${places(parts.queued)} ${parts.isOwner ? say`Start it, and the queue goes on.` : say`${who(parts.owner)} can start it.`}`,
      )
    case 'stall':
      return line(
        'Stalled:',
        say`nothing has landed or been turned away for ${lasting(parts.since)}, though ${who(parts.lander)} was seen ${ago(parts.seenAt)}.`,
        say`${parts.said === undefined ? '' : `It last said: ${parts.said}. `}If that does not change soon, its log says more: ask ${who(parts.owner)}.`,
      )
    case 'churn':
      return line(
        'Churning:',
        say`${parts.drops} batches were dropped since ${clock(parts.since, parts.now)} and none landed.`,
        say`${parts.cause === undefined ? [] : say`${parts.cause} `}Each such change starts the checks again. Hold direct pushes to ${parts.branch}, or send them through the queue.`,
      )
    case 'not-delegated': {
      const since = parts.since === undefined ? say`` : say` since ${clock(parts.since, parts.now)}`
      const whom = parts.isOwner ? say`you` : who(parts.owner)
      return line(
        'Stopped:',
        say`this server may not write for ${whom}${since}, so it cannot land anything here.`,
        parts.isOwner
          ? say`Give the delegation in your settings. What is waiting keeps its place.`
          : say`Ask ${who(parts.owner)} to give the delegation in their settings${parts.settingsUrl === undefined ? '' : say` (${code(parts.settingsUrl)})`}. What is waiting keeps its place.`,
      )
    }
    case 'no-runners':
      return line(
        'No queue here:',
        say`${repoName(parts.owner, parts.name)} names no runner, so its pulls are merged by hand.`,
        parts.isOwner ? say`Name a runner, and pulls can be queued.` : say`${who(parts.owner)} can name a runner.`,
      )
    case 'unchecked': {
      const commitPart = parts.commit === undefined ? say`` : say`, since ${commit(parts.commit)}`
      const when = parts.since === undefined ? say`` : say`, ${ago(parts.since)}`
      return line(
        'Unchecked:',
        say`no workflow on ${parts.branch} runs on a pull into it${commitPart}${when}.`,
        say`Batches pass with nothing run. Add a workflow with a pull trigger to ${code('.knotless/workflows/')} on ${parts.branch}.`,
      )
    }
    case 'stopping':
      return line(
        parts.busy ? 'Winding down:' : 'Stopped:',
        parts.busy
          ? say`${who(parts.lander)} is stopping. It finishes the batch being checked and starts nothing new.`
          : say`${who(parts.lander)} was stopped, so nothing lands here for now.`,
        say`What is queued keeps its place until a runner is back.`,
      )
    case 'trouble':
      return line(
        'The runner’s trouble:',
        say`a batch of ${parts.size} ended without a verdict ${ago(parts.at)}. ${parts.said}`,
        say`No pull is blamed, and all keep their places: ${who(parts.lander)} builds it again after a while.`,
      )
    case 'behind':
      return line('Catching up:', say`this server is ${span(parts.by)} behind the network, so what you see may be older than it looks.`)
  }
}

/** The batch that lands next. */
function lowest({ size, since, landing }: { size: number; since: number; landing?: boolean | undefined }): Phrase {
  return landing ? say`a batch of ${size} landing` : say`a batch of ${size} being checked for ${lasting(since)}`
}

function lastLanding(at: number | undefined): Phrase {
  return at === undefined ? say`nothing landed yet` : say`last landing ${ago(at)}`
}

function places(queued: number): string {
  if (queued === 0) return ''
  return queued === 1 ? ' What is queued keeps its place.' : ` All ${queued} keep their places.`
}

/** What is said under the health line of a lander that the repository does not name (STA-7). */
export function unnamedLanderWords(lander: string): Phrase {
  return say`${who(lander)} lands this queue but is not named here, so its checks are not shown: name it to see its batches.`
}

/** What is said under the health line when runs are not isolated (WHO-5). */
export function notIsolatedWords(lander: string): Phrase {
  return say`${who(lander)} runs the code of pulls straight on its machine, because its owner says every author is trusted.`
}
