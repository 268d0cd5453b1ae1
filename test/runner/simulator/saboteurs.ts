/** Planners that are wrong in one way each, made of the right one: each must be caught by the property that it breaks. */
import type { Action, Line, Plan, Result, RunNow, Snapshot } from '../../../src/runner/planner/types.ts'
import type { Planner } from './world.ts'

export interface Saboteur {
  name: string
  /** What it breaks. */
  caught: RegExp
  wrong: (right: Planner) => Planner
}

/** A planner that is told something else than what is so. */
function misled(lie: (seen: Snapshot, line: Line) => Snapshot): (right: Planner) => Planner {
  return right => (line, seen, results) => right(line, lie(seen, line), results)
}

/** A planner whose answer is changed. */
function twisted(twist: (plan: Plan, seen: Snapshot, line: Line, results: readonly Result[]) => Plan): (right: Planner) => Planner {
  return right => (line, seen, results) => twist(right(line, seen, results), seen, line, results)
}

function withRuns(seen: Snapshot, change: (run: RunNow) => RunNow): Snapshot {
  return { ...seen, runs: new Map([...seen.runs].map(([id, runs]) => [id, runs.map(change)])) }
}

function withActions(plan: Plan, change: (action: Action) => readonly Action[]): Plan {
  return { ...plan, actions: plan.actions.flatMap(change) }
}

export const saboteurs: readonly Saboteur[] = [
  {
    name: 'lands what is still being checked',
    caught: /^1 base/,
    wrong: misled(seen => withRuns(seen, run => (run.state === 'filed' || run.state === 'running' ? { ...run, state: 'passed' } : run))),
  },
  {
    name: 'takes a failure for a pass',
    caught: /^1 base/,
    wrong: misled(seen => withRuns(seen, run => (run.state === 'failed' ? { ...run, state: 'passed' } : run))),
  },
  {
    name: 'takes a lost executor for a pass',
    caught: /^1 base/,
    wrong: misled(seen => withRuns(seen, run => (run.state === 'no-verdict' ? { ...run, state: 'passed' } : run))),
  },
  {
    name: 'lands the batch ahead before the one under it',
    caught: /^1 base/,
    wrong: twisted((plan, seen) => {
      const ahead = plan.line.batches[1]
      const runs = ahead === undefined ? undefined : seen.runs.get(ahead.id)
      if (ahead === undefined || runs === undefined || !runs.every(run => run.state === 'passed')) return plan
      return { ...plan, actions: [...plan.actions, { do: 'land', id: ahead.id }] }
    }),
  },
  {
    name: 'keeps a batch ahead whose base never landed',
    caught: /^(1 base|2 tree)/,
    wrong: twisted((plan, seen, line) => {
      const ahead = line.batches[1]
      if (seen.tip === null || ahead === undefined || !plan.actions.some(one => one.do === 'drop' && one.id === ahead.id)) return plan
      const kept = { ...ahead, base: seen.tip.commit, generation: seen.tip.generation }
      const actions = plan.actions.filter(one => one.do === 'drop' && one.id !== ahead.id)
      return { ...plan, line: { ...plan.line, batches: [kept] }, actions: [...actions, { do: 'land', id: ahead.id }] }
    }),
  },
  {
    name: 'lands other heads than it checked',
    caught: /^2 tree/,
    wrong: twisted(plan => {
      const batches = plan.line.batches.map(batch => {
        const [first, second, ...rest] = batch.members
        if (first === undefined || second === undefined) return batch
        return { ...batch, members: [{ ...first, commit: second.commit }, { ...second, commit: first.commit }, ...rest] }
      })
      return plan.actions.some(one => one.do === 'land') ? { ...plan, line: { ...plan.line, batches } } : plan
    }),
  },
  {
    name: 'forgets what it ejected and landed',
    caught: /^(3 once|FAI-6)/,
    wrong: right => (line, seen, results) => right({ ...line, memory: { ...line.memory, done: [] } }, seen, results),
  },
  {
    name: 'ejects everybody whom it landed',
    caught: /^3 once/,
    wrong: right => (line, seen, results) => {
      const plan = right(line, seen, results)
      const landed = results.find(result => result.of === 'land' && result.ok)
      const batch = line.batches.find(one => landed?.of === 'land' && one.id === landed.id)
      const ejects = (batch?.members ?? []).map((member): Action => {
        const { pull, entry, key, head } = member
        return { do: 'eject', pull, entry, key, head, kind: 'empty', why: { key: 'empty', branch: seen.branch, tip: head }, checks: [] }
      })
      return { ...plan, actions: [...ejects, ...plan.actions] }
    },
  },
  {
    name: 'asks to be woken for nothing',
    caught: /^4 bounded/,
    wrong: twisted(plan => ({ ...plan, wakeAt: undefined })),
  },
  {
    name: 'never builds',
    caught: /^(4 bounded|STA-4)/,
    wrong: twisted(plan => withActions(plan, action => (action.do === 'build' ? [] : [action]))),
  },
  {
    name: 'asks for the same file again and again',
    caught: /^(4 bounded|plan)/,
    wrong: twisted(plan => ({
      ...plan,
      actions: plan.line.batches.slice(0, 1).map(batch => ({ do: 'file', id: batch.id, ahead: false }) as const),
    })),
  },
  {
    name: 'ejects the first of a batch that failed',
    caught: /^5 innocent/,
    wrong: twisted((plan, seen, line) => {
      const batch = line.batches[0]
      const first = batch?.members[0]
      const dropped = plan.actions.some(one => one.do === 'drop' && one.id === batch?.id && one.cause === 'batch-failed')
      if (
        !dropped ||
        batch === undefined ||
        first === undefined ||
        batch.members.length === 1 ||
        seen.stopping ||
        seen.standBy !== undefined
      )
        return plan
      const why = { key: 'alone', names: ['test'], commit: first.commit, branch: seen.branch, tip: batch.base, newer: 0 } as const
      const failed = (seen.runs.get(batch.id) ?? []).filter(({ state }) => state === 'failed')
      const checks = failed.map(({ workflow, check }) => ({ workflow, status: 'failure', check }) as const)
      const { pull, entry, key, head } = first
      return { ...plan, actions: [...plan.actions, { do: 'eject', pull, entry, key, head, kind: 'checks', why, checks }] }
    }),
  },
  {
    name: 'takes a lost executor for a failure',
    caught: /^5 innocent/,
    wrong: misled(seen =>
      withRuns(seen, run => (run.state === 'no-verdict' ? { ...run, state: 'failed', status: 'failure', verdict: undefined } : run)),
    ),
  },
  {
    name: 'takes a cancelled run for a failure',
    caught: /^5 innocent/,
    wrong: misled(seen => withRuns(seen, run => (run.state === 'cancelled' ? { ...run, state: 'failed', status: 'failure' } : run))),
  },
  {
    name: 'ejects for a conflict with a batch that may never land',
    caught: /^5 innocent/,
    wrong: twisted((plan, seen, line, results) => {
      const ejects = results.flatMap(result => {
        if (result.of !== 'build' || !result.ok || line.batches.length === 0) return []
        return [...result.left].flatMap(([key, left]): Action[] => {
          const waiting = seen.queue.find(one => one.key === key)
          if (left.why !== 'conflict' || waiting?.head.state !== 'at') return []
          const { pull, entry } = waiting
          const head = waiting.head.commit
          const why = {
            key: 'conflict',
            branch: seen.branch,
            tip: seen.tip?.commit ?? '',
            head,
            files: left.files,
            more: left.more,
          } as const
          return [{ do: 'eject', pull, entry, key, head, kind: 'conflict', why, checks: [] }]
        })
      })
      return { ...plan, actions: [...plan.actions, ...ejects] }
    }),
  },
  {
    name: 'takes the last first',
    caught: /^6 order/,
    wrong: twisted(plan =>
      withActions(plan, action => [action.do === 'build' ? { ...action, candidates: action.candidates.toReversed() } : action]),
    ),
  },
  {
    name: 'passes the oldest over',
    caught: /^6 order/,
    wrong: misled((seen, line) => {
      const flying = line.batches.some(batch => batch.members.some(member => member.key === seen.queue[0]?.key))
      return seen.queue.length < 2 || flying ? seen : { ...seen, queue: seen.queue.slice(1) }
    }),
  },
  {
    name: 'does not see that somebody left',
    caught: /^MOV-2/,
    wrong: misled((seen, line) => {
      const missing = line.batches.flatMap(batch => batch.members).filter(member => !seen.queue.some(one => one.key === member.key))
      const like = seen.queue[0]
      if (missing.length === 0 || like === undefined) return seen
      const ghosts = missing.map(({ pull, entry, key, head }) => ({
        ...like,
        pull,
        entry,
        key,
        head: { state: 'at' as const, commit: head },
      }))
      return { ...seen, queue: [...seen.queue, ...ghosts].sort((a, b) => (a.key < b.key ? -1 : 1)) }
    }),
  },
  {
    name: 'does not see that the branch moved',
    caught: /^(MOV-1|1 base|MOV-4)/,
    wrong: misled((seen, line) => {
      const lowest = line.batches[0]
      return lowest === undefined ? seen : { ...seen, tip: { commit: lowest.base, generation: lowest.generation } }
    }),
  },
  {
    name: 'takes a branch made again for the one that was deleted',
    caught: /^(MOV-1|AHD-2)/,
    wrong: misled((seen, line) => {
      const generation = line.batches[0]?.generation
      return seen.tip === null || generation === undefined ? seen : { ...seen, tip: { ...seen.tip, generation } }
    }),
  },
  {
    name: 'checks more at once than it may',
    caught: /^AHD-1/,
    wrong: misled(seen => ({ ...seen, settings: { ...seen.settings, depth: 2 } })),
  },
  {
    name: 'never halves',
    caught: /^(FAI-3|4 bounded|AHD-3)/,
    wrong: right => (line, seen, results) => right({ ...line, memory: { ...line.memory, suspects: null } }, seen, results),
  },
  {
    name: 'goes on with a clock that is wrong',
    caught: /^REC-8/,
    wrong: misled(seen => (seen.standBy?.why === 'clock' ? { ...seen, standBy: undefined } : seen)),
  },
  {
    name: 'goes on though another one lands',
    caught: /^(REC-8|WHO-3)/,
    wrong: misled(seen => (seen.standBy?.why === 'not-lander' ? { ...seen, standBy: undefined } : seen)),
  },
  {
    name: 'does not hear that it is to stop',
    caught: /^MOV-5/,
    wrong: misled(seen => ({ ...seen, stopping: false })),
  },
  {
    name: 'lets runs count as filed that are not',
    caught: /^REC-5/,
    wrong: right => (line, seen, results) =>
      right(
        line,
        seen,
        results.map(result => (result.of === 'file' && !result.ok ? { of: 'file', id: result.id, ok: true } : result)),
      ),
  },
  {
    name: 'builds with pulls whose pre-flights have not passed',
    caught: /^PRE-3/,
    wrong: misled(seen => ({ ...seen, queue: seen.queue.map(one => ({ ...one, flights: [] })), preflights: [] })),
  },
  {
    name: 'says nothing when it ejects',
    caught: /^words/,
    wrong: twisted(plan =>
      withActions(plan, action => [action.do === 'eject' ? { ...action, why: { key: 'other', detail: '' } } : action]),
    ),
  },
  {
    name: 'names checks that did not fail',
    caught: /^REC-2/,
    wrong: twisted(plan =>
      withActions(plan, action => [
        action.do === 'eject' ? { ...action, checks: action.checks.map(one => ({ ...one, check: 'check/another' })) } : action,
      ]),
    ),
  },
  {
    name: 'does not build again what ran out of time once',
    caught: /^5 innocent/,
    wrong: right => (line, seen, results) => {
      const first = { until: seen.now, since: seen.now, times: 1, said: '', check: null }
      const timedOut = line.batches.slice(0, 1).flatMap(({ members }) =>
        ['test', 'check', 'lint'].map(name => ({
          ...first,
          kind: 'timed-out' as const,
          about: `${name} ${members.map(({ head }) => head).join(' ')}`,
          keys: members.map(({ key }) => key),
        })),
      )
      return right({ ...line, memory: { ...line.memory, setbacks: [...line.memory.setbacks, ...timedOut] } }, seen, results)
    },
  },
  {
    name: 'builds again at once what the runner could not check',
    caught: /^FAI-8/,
    wrong: right => (line, seen, results) => {
      const setbacks = line.memory.setbacks.filter(({ kind }) => kind !== 'checks')
      const plan = right({ ...line, memory: { ...line.memory, setbacks } }, seen, results)
      return {
        ...plan,
        line: {
          ...plan.line,
          memory: { ...plan.line.memory, setbacks: plan.line.memory.setbacks.filter(({ kind }) => kind !== 'checks') },
        },
      }
    },
  },
  {
    name: 'does not land what passes while it stops',
    caught: /^LND-1/,
    wrong: misled(seen => (seen.stopping ? withRuns(seen, run => (run.state === 'passed' ? { ...run, state: 'running' } : run)) : seen)),
  },
  {
    name: 'lets what lands next run as a batch ahead',
    caught: /^AHD-5/,
    wrong: twisted(plan => withActions(plan, action => (action.do === 'promote' ? [] : [action]))),
  },
  {
    name: 'takes more into a batch than it may',
    caught: /^BLD-1/,
    wrong: misled(seen => ({ ...seen, settings: { ...seen.settings, batch: 50 } })),
  },
  {
    name: 'does not wait for a batch to fill',
    caught: /^BLD-9/,
    wrong: misled(seen => ({ ...seen, settings: { ...seen.settings, waitMs: 0 } })),
  },
]
