import type { AtUri } from '../../atproto/ids.ts'
import { intendedAt } from './intent.ts'
import type { Intent } from './lander-record.ts'

/** A push that was sent may still be under way for so long, in milliseconds: its token lasts five minutes, and the gateway tries on for a while. */
export const UNDER_WAY_MS = 10 * 60_000
const MOST = 8

/** Intents that another took the place of while their push may still have been under way. Kept for this process only. */
export interface OpenLandings {
  add(repo: AtUri, intent: Intent): void
  of(repo: AtUri): readonly Intent[]
  remove(repo: AtUri, tip: string): void
}

export function createOpenLandings(now: () => number): OpenLandings {
  const kept = new Map<AtUri, Intent[]>()
  const young = (repo: AtUri) => (kept.get(repo) ?? []).filter(intent => isYoung(intent, now()))
  return {
    add(repo, intent) {
      kept.set(repo, [...young(repo).filter(one => one.tip !== intent.tip), intent].slice(-MOST))
    },
    of: young,
    remove(repo, tip) {
      kept.set(
        repo,
        young(repo).filter(one => one.tip !== tip),
      )
    },
  }
}

/** Whether its push may still be under way. */
export function isYoung(intent: Intent, now: number): boolean {
  return now - intendedAt(intent) < UNDER_WAY_MS
}
