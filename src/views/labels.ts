/** Labels for what XRPC answers carry as open strings: whatever is unknown reads as something, never as nothing. */
import { batchLabels, healthLabels, type Label, pullLabels, runLabels } from '../queue/words/labels.ts'
import { place } from '../queue/words/phrase.ts'
import type { StandingWords } from './models.ts'

const tones = new Set(['success', 'attention', 'danger', 'accent', 'done', 'neutral'])

/** A tone that the style knows. */
export function tone(name: string | undefined): string {
  return name !== undefined && tones.has(name) ? name : 'neutral'
}

/** A member of a table, looked up by a name that may be anything. */
function pick<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}

const standings: Readonly<Record<string, Label>> = {
  ...pullLabels,
  'in-ahead': pullLabels['in-batch'],
  'merged-not-there': pullLabels['not-there'],
}

/** A pull's label: with its place or the size of its batch where it has one. */
export function standingLabel(standing: StandingWords): Label {
  const label = pick(pullLabels, standing.label ?? '') ?? pick(standings, standing.kind) ?? pullLabels.open
  const { position, length } = standing
  if (standing.kind === 'queued' && position !== undefined && length !== undefined) {
    return { ...label, word: `${pullLabels.queued.word}, ${place(position, length)}` }
  }
  const size = standing.batch?.size
  return size === undefined || label !== pullLabels['in-batch'] ? label : { ...label, word: `${label.word} of ${size}` }
}

export function healthLabel(kind: string): Label {
  return pick(healthLabels, kind) ?? healthLabels.waiting
}

const judgements: Readonly<Record<string, Pick<Label, 'icon' | 'tone'>>> = {
  healthy: { icon: 'check-circle', tone: 'success' },
  near: { icon: 'alert', tone: 'attention' },
  far: { icon: 'alert', tone: 'danger' },
}

/** How a figure stands to what is called healthy. */
export function judgedLabel({ is, word }: { is: string; word: string }): Label {
  return { word, icon: 'alert', tone: 'neutral', ...pick(judgements, is) }
}

export function batchLabel(state: string): Label {
  return pick(batchLabels, state) ?? batchLabels.checking
}

const statuses: Readonly<Record<string, keyof typeof runLabels>> = {
  queued: 'queued',
  running: 'running',
  success: 'passed',
  failure: 'failed',
  cancelled: 'cancelled',
  skipped: 'skipped',
}

/** A run's label, from the status and verdict of its record (CHK-6, CHK-7, REC-6). */
export function runLabel(status: string, verdict?: string): Label {
  return runLabels[runStateOf(status, verdict)]
}

/** How a run reads, from what its record says. */
export function runStateOf(status: string, verdict?: string, reusedFrom?: string): keyof typeof runLabels {
  if (status === 'error') return verdict === undefined ? 'failed' : 'no-verdict'
  return status === 'success' && reusedFrom !== undefined ? 'reused' : (pick(statuses, status) ?? 'unknown')
}

const boxIcons: Readonly<Record<string, string>> = {
  merged: 'git-merge',
  'merged-later': 'git-merge',
  'merged-not-there': 'alert',
  closed: 'git-pull-request-closed',
  draft: 'git-pull-request-draft',
  landing: 'git-merge-queue',
  'in-batch': 'stack',
  'in-ahead': 'stack',
  queued: 'git-merge-queue',
  'queued-flight': 'hourglass',
  'queued-stranded': 'alert',
  ejected: 'x-circle',
  conflict: 'alert',
  'checks-failed': 'x-circle',
  'head-gone': 'x-circle',
  'branch-gone': 'x-circle',
  unreadable: 'alert',
  'gateway-owner': 'shield-slash',
  'gateway-other': 'shield-slash',
  'no-runners': 'person',
  'not-allowed': 'lock',
  'signed-out': 'lock',
  ready: 'check-circle',
  'ready-running': 'clock',
  'ready-unchecked': 'alert',
  working: 'sync',
}

/** The octicon in the head of the merge box. */
export function boxIcon(key: string): string {
  return pick(boxIcons, key) ?? 'git-pull-request'
}
