/** What a runner says while it lands queues: why something waits, and why a check was cancelled. */
import { clock, commit, count, list, ordinal, type Phrase, say, span, who } from './phrase.ts'

/** Why a runner does not land now. Accounts are DIDs, times milliseconds since 1970. */
export type StandByParts =
  /** WHO-3, WHO-7, GWY-9: another one lands; `first` says who. */
  | { why: 'not-lander'; first?: string | undefined }
  /** WHO-8: another process of this account holds the lease. */
  | { why: 'lease'; until: number }
  /** REC-8: nothing lands and nobody is ejected until that is put right. Positive: this clock is ahead of its server's. */
  | { why: 'clock'; skewMs: number }
  /** GWY-8: the merge status says so beforehand; no batch is built, and what waits keeps its place. */
  | { why: 'not-delegated'; owner: string }
  /** GWY-8: trees came out differently here and at the gateway. */
  | { why: 'git-version'; mine: string; theirs: string }

/** Why something waits. */
export type WaitParts =
  | { for: 'stand-by'; standBy: StandByParts }
  | { for: 'checks'; tip: string; workflows: readonly string[] }
  | { for: 'preflights'; pulls: number; workflows: readonly string[] }
  | { for: 'filling'; until: number; ready: number; most: number }
  /** FAI-8: the runner's own trouble; built again then. */
  | { for: 'trouble'; until: number; times: number; said: string }
  | { for: 'unreadable'; pull: string; server: string; until: number }
  | { for: 'landing-again'; until: number; said: string }
  | { for: 'suspects'; left: number; of: number }
  /** Their ejections could not be written. */
  | { for: 'ejections'; pulls: number; until: number }
  /** The workflows at the branch's tip cannot be read now; nothing is built. */
  | { for: 'workflows' }
  /** The branch is not there. */
  | { for: 'branch' }

/** By these words a reader of the report knows that a pull was left out for its server, and not for what it changes. */
export const unreadable = 'cannot be read from'

/** And by these that it waits for pre-flights, before a run of one can be read. */
export const awaited = 'pre-flights: '

/** Why something waits (STA-4, FAI-8). One sentence or two. */
export function waitWords(wait: WaitParts): Phrase {
  switch (wait.for) {
    case 'stand-by':
      return standByWords(wait.standBy)
    case 'checks':
      return say`The batch at ${commit(wait.tip)} is being checked: ${list(wait.workflows)}.`
    case 'preflights':
      return say`${count(wait.pulls, 'pull waits', 'pulls wait')} for ${wait.pulls === 1 ? 'its' : 'their'} ${awaited}${list(wait.workflows)}.`
    case 'filling':
      return say`The next batch may fill until ${at(wait.until)}: ${wait.ready} of ${wait.most} are ready.`
    case 'trouble':
      return say`The runner has trouble${wait.times === 1 ? '' : ` for the ${ordinal(wait.times)} time in a row`}: ${sentence(wait.said)} It builds again at ${at(wait.until)}, and nobody is blamed.`
    case 'unreadable':
      return say`The head of a pull ${unreadable} ${wait.server}: it is left out, and tried again at ${at(wait.until)}.`
    case 'landing-again':
      return say`A batch passed and could not land: ${sentence(wait.said)} It is tried again at ${at(wait.until)}.`
    case 'suspects':
      return say`A batch of ${wait.of} failed, so it is checked in halves: the cause is among ${count(wait.left, 'pull')}.`
    case 'ejections':
      return say`${count(wait.pulls, 'pull is', 'pulls are')} to be turned away, and the runner’s account could not record it: that is tried again at ${at(wait.until)}.`
    case 'workflows':
      return say`The workflows of the branch cannot be read now, so nothing is built.`
    case 'branch':
      return say`The branch that these pulls are queued for is not there, so nothing is built.`
  }
}

function standByWords(standBy: StandByParts): Phrase {
  switch (standBy.why) {
    case 'not-lander':
      return standBy.first === undefined
        ? say`Another runner lands here, so this one stands by.`
        : say`${who(standBy.first)} lands here, so this runner stands by.`
    case 'lease':
      return say`Another process of this runner’s account holds the queue until ${at(standBy.until)}, so this one stands by.`
    case 'clock':
      return say`This runner’s clock is ${span(Math.abs(standBy.skewMs))} ${standBy.skewMs > 0 ? 'ahead of' : 'behind'} that of its account’s server: nothing lands and nobody is turned away until that is put right.`
    case 'not-delegated':
      return say`${who(standBy.owner)} does not let the gateway write for them, so nothing can land. What is waiting keeps its place.`
    case 'git-version':
      return say`Git ${standBy.mine} here and git ${standBy.theirs} at the gateway merge to different trees, so this runner stands by. Bring both to one version.`
  }
}

/** In UTC with its day where that is not today, as `clock` says times; a wait is always near. */
function at(time: number): Phrase {
  return [clock(time, time)]
}

/** With a full stop at the end; what a server said may lack it. */
function sentence(said: string): string {
  const text = said.trim()
  if (text === '') return 'it is not known why.'
  return /[.:]$/.test(text) ? text : `${text}.`
}

/** NOT-6: the runner watches more accounts than it may ask about as often as it was told to. `everyMs` in milliseconds. */
export function looksWords(everyMs: number): Phrase {
  return say`So many accounts are watched that each is looked at every ${span(everyMs)} only; what the event stream brings is still noticed at once.`
}

/** Why a batch may be dropped. */
export const DROPS = ['branch-moved', 'pull-moved-on', 'batch-failed', 'no-verdict', 'landing-failed', 'not-lander', 'stopping'] as const

export type DropParts = (typeof DROPS)[number]

/** What is said of a drop: its cause, or that it passed and its checks do not say why it did not land. */
export type DropSaid = DropParts | 'not-landed'

const CAUSES: Readonly<Record<DropParts, string>> = {
  'branch-moved': 'the branch moved',
  'pull-moved-on': 'a pull moved on',
  'batch-failed': 'the batch or the one under it failed',
  'no-verdict': 'a run ended without a verdict',
  'landing-failed': 'its landing was refused',
  'not-lander': 'another runner lands here',
  stopping: 'the runner stopped',
}

const DROPPED = /^cancelled as the merge queue dropped its batch \((.*)\)$/

/** MOV-4, REA-3: what a check cancelled by a drop says. It begins the same for every cause. */
export function dropWords(cause: DropParts): string {
  return `cancelled as the merge queue dropped its batch (${CAUSES[cause]})`
}

/** Why a batch was dropped, as its cancelled checks say; undefined where they say nothing that is known. */
export function readDrop(cause: string | undefined): DropParts | undefined {
  const said = DROPPED.exec(cause ?? '')?.[1]
  return DROPS.find(one => CAUSES[one] === said)
}

/** Why a batch was dropped, and what comes of it, after a colon. */
export function dropWhy(cause: DropSaid | undefined, branch: string): Phrase {
  switch (cause) {
    case 'branch-moved':
      return say`${branch} moved by another push, so it is built again`
    case 'pull-moved-on':
      return say`a pull in it, or under it, moved on`
    case 'batch-failed':
      return say`the batch that it stood on did not land`
    case 'no-verdict':
      return say`a run ended without a verdict, so it is built again`
    case 'landing-failed':
      return say`its landing was refused, so it is built again`
    case 'not-lander':
      return say`another runner lands here`
    case 'stopping':
      return say`the runner stopped`
    case 'not-landed':
      return say`it passed, but what it stood on or held had changed`
    case undefined:
      return say`it was not decided`
  }
}

/** FAI-8: the runs that ended without a verdict, as the wait after them says it. `verdict` as the check records it. */
export function noVerdictSaid(runs: readonly { workflow: string; state: string; verdict?: string | undefined }[]): string {
  const silent = runs.filter(({ state }) => state === 'no-verdict' || state === 'cancelled')
  if (silent.length === 0) return 'some of the checks of a batch are missing.'
  const said = silent
    .slice(0, 8)
    .map(({ workflow, state, verdict }) => `${workflow} ${state === 'cancelled' ? 'was cancelled' : verdictSaid(verdict)}`)
  return `${said.join(', ')}.`
}

function verdictSaid(verdict: string | undefined): string {
  switch (verdict) {
    case 'timeout':
      return 'timed out'
    case 'executor-lost':
      return 'lost its executor'
    case 'disk':
      return 'ran out of disk'
    case 'restart':
      return 'was cut off by a restart'
    default:
      return 'ended without a verdict'
  }
}

/** REC-5: nothing runs before every check is on file. */
export function filingSaid(): string {
  return 'the checks of a batch could not be filed.'
}

/** A stack that holds nobody, without a word why. */
export function nothingBuiltSaid(): string {
  return 'a batch came out empty.'
}
