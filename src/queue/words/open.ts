/** Labels of open pulls that are not queued: what keeps one out of the queue, or that nothing does. */
import type { BoxKey } from './box.ts'
import type { Label } from './labels.ts'

const labels: ReadonlyMap<BoxKey, Label> = new Map<BoxKey, Label>([
  ['conflict', { word: 'Conflicts', icon: 'alert', tone: 'danger' }],
  ['checks-failed', { word: 'Checks failed', icon: 'x-circle', tone: 'danger' }],
  ['head-gone', { word: 'Branch gone', icon: 'x-circle', tone: 'danger' }],
  ['branch-gone', { word: 'Target gone', icon: 'x-circle', tone: 'danger' }],
  ['unreadable', { word: 'Cannot be read', icon: 'alert', tone: 'danger' }],
  ['ready', { word: 'Ready', icon: 'check-circle', tone: 'success' }],
  ['ready-running', { word: 'Being checked', icon: 'sync', tone: 'accent' }],
  ['ready-unchecked', { word: 'Ready', icon: 'check-circle', tone: 'success' }],
])

/** The label that goes with the state of a merge box; undefined where it says no more than that the pull is open. */
export function openLabel(box: BoxKey): Label | undefined {
  return labels.get(box)
}
