import { refName } from '../../git/ref-names.ts'
import type { Ground } from '../types.ts'

/** Where a branch is by the refs record that was read, and how often it was made; null when it is not there (CHK-9). */
export function tipOf(ground: Ground, branch: string): { commit: string; generation: number } | null {
  const name = refName(branch)
  const row = ground.refs.refs.find(ref => ref.name === name)
  return row === undefined ? null : { commit: row.commit, generation: row.generation }
}
