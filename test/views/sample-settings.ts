import type { DelegationState } from '../../src/queue/asking.ts'
import { auditWords, delegationSays, delegationWords, waitingWords } from '../../src/queue/words/delegation.ts'
import { gatewayLabels } from '../../src/queue/words/labels.ts'
import type { AuditRow, SettingsPage } from '../../src/views/models.ts'
import { alice, bob, commits, frame, hostile, minutesAgo, runner } from './sample.ts'

const host = 'pds.example'

function sheet(delegation: DelegationState): SettingsPage['delegation'] {
  const { what, covers, may, mayNot, withdraw, confirm, exactly } = delegationSays
  const given = delegation.state === 'given'
  const waiting = [
    { owner: alice.did, name: 'orchard', queued: 12 },
    { owner: alice.did, name: 'almanac', queued: 2 },
  ]
  return {
    state: delegation.state,
    label: gatewayLabels[delegation.state],
    says: delegationWords(delegation, host),
    ...{ what, covers, may, mayNot, confirm },
    waiting: given ? undefined : waitingWords(waiting),
    next: given ? withdraw : exactly(host),
  }
}

const line: AuditRow = {
  id: 214,
  at: minutesAgo(5),
  caller: runner,
  by: 'by push',
  repo: { owner: alice, name: 'orchard' },
  ref: 'main',
  from: commits.tip,
  to: commits.head,
  verdict: gatewayLabels.written,
  why: 'a batch of 2 queued pulls, each equal to what the gateway merged itself',
}

const rows: AuditRow[] = [
  line,
  { ...line, id: 213, caller: bob, verdict: gatewayLabels.refused, why: 'main takes pulls only through the queue' },
  { ...line, id: 212, ref: 'topic', from: undefined, why: 'as a collaborator' },
  { ...line, id: 211, verdict: gatewayLabels.unknown, why: 'as the owner' },
  { ...line, id: 210, ref: hostile.script, to: undefined, why: hostile.attribute },
  { ...line, id: 209, ref: undefined, from: undefined, to: undefined, verdict: gatewayLabels.refused, why: auditWords.more(4_000) },
]

function settings(delegation: DelegationState, more: Partial<SettingsPage> = {}): SettingsPage {
  return {
    frame: { ...frame({ title: 'Settings', path: '/settings' }), viewer: alice },
    host,
    delegation: sheet(delegation),
    sessions: [
      { id: '1', name: 'Firefox on Linux', since: minutesAgo(9000), usedAt: minutesAgo(1), current: true },
      { id: 'a/b', name: hostile.attribute, since: minutesAgo(9000), usedAt: minutesAgo(400), current: false },
    ],
    audit: {
      rows,
      says: auditWords.what,
      none: auditWords.none,
      paging: { from: 1, to: rows.length, of: 214, older: '/settings?before=209#audit' },
    },
    ...more,
  }
}

/** The page in each state of the delegation. */
export function settingsPages(): Record<string, SettingsPage> {
  const at = minutesAgo(267)
  const none = { rows: [], says: auditWords.what, none: auditWords.none, paging: { from: 1, to: 0, of: 0 } }
  return {
    settings: settings({ state: 'given', since: minutesAgo(60_000), until: minutesAgo(-20_160) }),
    'settings-never': settings(
      { state: 'never' },
      { audit: none, notice: { code: 'upstream-failed', message: 'Withdrawn here.', advice: 'Remove it there.' } },
    ),
    'settings-withdrawn': settings({ state: 'withdrawn', at }),
    'settings-revoked': settings({ state: 'lost', why: 'revoked', at }),
    'settings-expired': settings({ state: 'lost', why: 'expired', at }),
    'settings-moved': settings({ state: 'lost', why: 'moved', at }, { refused: { code: 'denied', message: 'You denied the request.' } }),
  }
}
