import { ejectionWords } from '../../queue/words/ejection.ts'
import { plain, say } from '../../queue/words/phrase.ts'
import type { Action, Result } from '../planner/types.ts'
import type { Doing } from './carry-out.ts'
import type { Parts } from './parts.ts'

/**
 * `--dry-run`: says what would be done and why, and writes nothing. An ejection is taken for done, so that what would come after it is said as well; of what
 * a file, a run or a landing would come to nothing is known, and the pass ends there.
 */
export function wouldDo({ ctx }: Parts, { ground, branch, line }: Doing, action: Exclude<Action, { do: 'build' }>): Result | undefined {
  const about = { repo: ground.repo, branch }
  switch (action.do) {
    case 'eject': {
      const { reason, says } = ejectionWords(action.why)
      const why = plain(say`${reason}. ${says}`, ctx.now(), ctx.names)
      ctx.log.info('would eject', { ...about, pull: action.pull, head: action.head, kind: action.kind, why })
      return { of: 'eject', key: action.key, ok: true }
    }
    case 'fly':
      ctx.log.info('would run pre-flights', {
        ...about,
        pull: action.pull,
        head: action.head,
        tip: action.tip,
        workflows: action.workflows,
      })
      return undefined
    default: {
      const batch = line.batches.find(one => one.id === action.id)
      const verb = { file: 'would check', land: 'would land', drop: 'would drop', promote: 'would promote' }[action.do]
      ctx.log.info(verb, { ...about, base: batch?.base, tip: batch?.tip, pulls: batch?.members.map(member => member.pull) })
      return undefined
    }
  }
}
