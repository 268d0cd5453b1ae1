/** Why a pull was turned away. A reason is the headline, a full stop, then the sentence; blame is exact (FAI-7). */
import { code, commit, count, list, type Phrase, quoted, repoName, say, who } from './phrase.ts'

export interface EjectionWords {
  /** Follows "Ejected: ". */
  reason: Phrase
  says: Phrase
}

/** Commits are whole ids, people are DIDs. `names` are workflows. */
export type EjectionParts =
  | { key: 'conflict'; branch: string; tip: string; head: string; files: readonly string[]; more: number }
  /** `pulls` are those that have these head branches, in the same order. */
  | {
      key: 'conflict-pulls'
      branch: string
      head: string
      files: readonly string[]
      more?: number | undefined
      branches: readonly string[]
      pulls?: readonly { title: string; pull: string }[] | undefined
    }
  /** `commit` is the batch's tip, `tip` the branch's. `newer`: commits of its head that were not tried. `onTop`: what landed out of its failing batch before it. */
  | {
      key: 'alone'
      names: readonly string[]
      commit: string
      branch: string
      tip: string
      newer: number | 'unknown'
      onTop?: Phrase | undefined
    }
  /** `halving`: it was found by halving, without a run of its own (FAI-4). */
  | { key: 'together'; names: readonly string[]; others: Phrase; branch: string; halving?: boolean | undefined }
  | { key: 'halving'; names: readonly string[]; others: Phrase; size: number; branch: string; tip: string }
  | { key: 'preflight'; names: readonly string[]; head: string; branch: string; tip: string }
  | { key: 'branch-gone'; head: string; owner: string; name: string }
  | { key: 'unreadable'; head: string; server: string }
  | { key: 'account-gone'; author: string }
  | { key: 'draft'; by: string }
  | { key: 'changed'; from: string; to: string }
  /** From and to are branches. */
  | { key: 'retargeted'; from: string; to: string }
  | { key: 'unseen'; head: string }
  | { key: 'timeout'; names: readonly string[] }
  | { key: 'head-moved'; times: number }
  | { key: 'head-unread'; times: number }
  | { key: 'hostile'; detail: string }
  | { key: 'not-filed'; workflow: string }
  /** `said` is the gateway's sentence. */
  | { key: 'no-delegation'; owner: string; said?: string | undefined }
  | { key: 'gateway'; said: string }
  /** `commit` is the one on the branch that names it. */
  | { key: 'empty'; branch: string; tip: string; commit?: string | undefined }
  | { key: 'other'; detail: string }

/** Titles are in quotation marks: these words are kept as plain text, where nothing else would tell where they end. */
export function ejectionWords(parts: EjectionParts): EjectionWords {
  const { reason, says } = wordsOf(parts)
  return { reason: quoted(reason), says: quoted(says) }
}

function wordsOf(parts: EjectionParts): EjectionWords {
  switch (parts.key) {
    case 'conflict':
      return {
        reason: say`conflict with ${parts.branch}`,
        says: say`At ${commit(parts.head)} it does not apply on ${parts.branch} at ${commit(parts.tip)}: ${list(parts.files.map(code), parts.more)}. Merge or rebase ${parts.branch}, then add it again.`,
      }
    case 'conflict-pulls': {
      const one = parts.branches.length === 1
      const named = (branch: string, at: number): Phrase => {
        const pull = parts.pulls?.[at]
        return pull === undefined ? [code(branch)] : say`${code(branch)} of ${pull}`
      }
      return {
        reason: say`conflict with pulls ahead of it`,
        says: say`At ${commit(parts.head)} it changes ${list(parts.files.map(code), parts.more)} as the ${one ? 'branch' : 'branches'} ${list(parts.branches.map(named))} ${one ? 'does, which was' : 'do, which were'} stacked before it. Merge ${one ? 'that branch' : 'those branches'} in, or wait until ${one ? 'it has' : 'they have'} landed and merge ${parts.branch}.`,
      }
    }
    case 'alone':
      return {
        reason: failed(parts.names),
        says: say`It failed alone, at ${commit(parts.commit)} on ${parts.branch} at ${commit(parts.tip)}${parts.onTop === undefined ? '' : say`, on top of ${parts.onTop}, which had landed before it`}.${newerWords(parts.newer)}`,
      }
    case 'together':
      return {
        reason: failed(parts.names),
        says: say`It fails together with ${parts.others}: each passed without the other. That one landed first, so merge ${parts.branch} and look.${parts.halving === true ? ' Halving the batch found it' : ''}`,
      }
    case 'halving':
      return {
        reason: failed(parts.names),
        says: say`It failed on top of ${parts.others}, in a batch of ${parts.size} on ${parts.branch} at ${commit(parts.tip)}. Those landed; this one was left. Halving the batch found it`,
      }
    case 'preflight':
      return {
        reason: say`${failed(parts.names)} before it joined a batch`,
        says: say`Its pre-flight failed at ${commit(parts.head)} merged with ${parts.branch} at ${commit(parts.tip)}.`,
      }
    case 'branch-gone':
      return {
        reason: say`its branch is gone`,
        says: say`${code(parts.head)} no longer exists in ${repoName(parts.owner, parts.name)}. Push it again, then add it again.`,
      }
    case 'unreadable':
      return {
        reason: say`its branch cannot be read`,
        says: say`${code(parts.head)} could not be read from ${parts.server} for an hour. Add it again once that server answers.`,
      }
    case 'account-gone':
      return {
        reason: say`its author’s account is gone`,
        says: say`The account of ${who(parts.author)} was deleted or taken down, and its branch with it.`,
      }
    case 'draft':
      return {
        reason: say`made a draft`,
        says: say`${who(parts.by)} made it a draft while it was queued. Mark it as ready, then add it again.`,
      }
    case 'changed':
      return {
        reason: say`changed after it was queued`,
        says: say`It was queued at ${commit(parts.from)} and is now at ${commit(parts.to)}. Look and queue again.`,
      }
    case 'retargeted':
      return {
        reason: say`changed after it was queued`,
        says: say`It was queued for ${parts.from} and is now for ${parts.to}. Look and queue again.`,
      }
    case 'unseen':
      return {
        reason: say`queued without saying at which commit`,
        says: say`This branch takes only what was looked at, and the record that queued it does not name its head. It is at ${commit(parts.head)}: look and queue again.`,
      }
    case 'timeout':
      return {
        reason: say`${list(parts.names)} timed out`,
        says: say`It ran out of time on its own as well, so it is not the queue. Make it faster, or ask for a longer limit.`,
      }
    case 'head-moved':
      return {
        reason: say`its head moved while it landed`,
        says: say`That happened ${parts.times} times in one queueing, and each time the batch was built again. Add it again when it is still.`,
      }
    case 'head-unread':
      return {
        reason: say`its head could not be read while it landed`,
        says: say`That happened ${parts.times} times in one queueing, and each time the batch was built again. Add it again once it can be read.`,
      }
    case 'hostile':
      return { reason: say`its head cannot be taken`, says: say`${parts.detail} Push a head without that, then add it again.` }
    case 'not-filed':
      return {
        reason: say`a check could not be filed`,
        says: say`The workflow ${code(parts.workflow)}, which this pull brings, could not be recorded. Rename it, then add it again.`,
      }
    case 'no-delegation':
      return {
        reason: say`the gateway would not land it`,
        says: say`${who(parts.owner)} does not let the gateway write for them.${parts.said === undefined ? '' : ` The gateway said: ${parts.said}`} Nothing is wrong with this pull: once ${who(parts.owner)} has given the delegation in their settings, add it again.`,
      }
    case 'gateway':
      return { reason: say`the gateway would not land it`, says: say`The gateway said: ${parts.said}` }
    case 'empty':
      return {
        reason: say`nothing left to land`,
        says: say`Its changes are already on ${parts.branch} as of ${commit(parts.tip)}${parts.commit === undefined ? '' : say`, where ${commit(parts.commit)} names it`}. Close it, or push what is missing.`,
      }
    case 'other':
      return { reason: say`turned away`, says: say`${parts.detail}` }
  }
}

function newerWords(newer: number | 'unknown'): string {
  if (newer === 'unknown') return ' Newer commits were not tried.'
  return newer === 0 ? '' : ` ${count(newer, 'newer commit was', 'newer commits were')} not tried.`
}

function failed(names: readonly string[]): Phrase {
  return say`${list(names)} failed`
}

/** Headlines for records that carry no reason; an unknown kind reads as other (REC-6). */
const BARE: ReadonlyMap<string, string> = new Map([
  ['conflict', 'conflict'],
  ['checks', 'its checks failed'],
  ['preflight', 'its pre-flight failed'],
  ['infra', 'no verdict'],
  ['timeout', 'timed out'],
  ['branch-gone', 'its branch is gone'],
  ['unreadable', 'its branch cannot be read'],
  ['draft', 'made a draft'],
  ['changed', 'changed after it was queued'],
  ['gateway', 'the gateway would not land it'],
  ['empty', 'nothing left to land'],
])

/** FAI-4: what a recorded reason ends with, which is read with a full stop. */
const CLOSING = /Halving the batch found it$/

/** The kind as it reads: an unknown or missing one is other (REC-6). */
export function ejectionKind(kind: string | undefined): string {
  return kind !== undefined && BARE.has(kind) ? kind : 'other'
}

/** Takes a recorded reason apart: the headline up to the first full stop that a space or the end follows, and the rest. */
export function readReason(reason: string | undefined, kind: string | undefined): { reason: string; says: string } {
  const text = (reason ?? '').trim()
  if (text === '') return { reason: BARE.get(ejectionKind(kind)) ?? 'turned away', says: '' }
  const stop = /\.(?=\s|$)/.exec(text)
  if (stop === null) return { reason: text, says: '' }
  return {
    reason: text.slice(0, stop.index),
    says: text
      .slice(stop.index + 1)
      .trim()
      .replace(CLOSING, '$&.'),
  }
}
