/** A branch, its queue and its runs as a test wants them, and a driver that does what plans say and writes it down in short words. */
import { emptyLine, plan } from '../../../src/runner/planner/plan.ts'
import type {
  Action,
  Flight,
  Held,
  LeftOut,
  Line,
  Member,
  NotLanded,
  Plan,
  Result,
  RunNow,
  Settings,
  Snapshot,
  StandBy,
  Waiting,
} from '../../../src/runner/planner/types.ts'

export const MINUTE = 60_000
export const HOUR = 60 * MINUTE
export const START = Date.UTC(2026, 10, 30, 12)
export const owner = 'did:plc:aliceaaaaaaaaaaaaaaaaaaa'
export const author = 'did:plc:bobbbbbbbbbbbbbbbbbbbbbb'

type Ejection = Extract<Action, { do: 'eject' }>

/** A pull named by a letter: its head is `a1`, its key `key-a`. */
export function waiting(name: string, over: Partial<Waiting> = {}): Waiting {
  return {
    pull: `pull-${name}`,
    entry: `entry-${name}`,
    key: `key-${name}`,
    by: owner,
    queuedAt: START,
    title: `Pull ${name.toUpperCase()}`,
    author,
    headBranch: `branch-${name}`,
    headRepo: `at://${author}/dev.knotless.repo/orchard`,
    head: { state: 'at', commit: `${name}1` },
    sawHead: `${name}1`,
    sawBranch: 'main',
    authorMayQueue: true,
    flights: [],
    ...over,
  }
}

export function run(state: RunNow['state'], over: Partial<RunNow> = {}): RunNow {
  const workflow = over.workflow ?? 'test'
  const status = state === 'failed' ? 'failure' : state === 'no-verdict' ? 'error' : state === 'cancelled' ? 'cancelled' : undefined
  return { workflow, file: `${workflow}.yml`, state, check: `check-${workflow}`, ...(status === undefined ? {} : { status }), ...over }
}

export const timeout = (workflow = 'test') => run('no-verdict', { workflow, verdict: 'timeout' })
export const lost = (workflow = 'test') => run('no-verdict', { workflow, verdict: 'executor-lost' })

export function flight(state: Flight['state'], over: Partial<Flight> = {}): Flight {
  const tip = state === 'none' || state === 'not-needed' ? {} : { tip: 'm0' }
  return { workflow: 'check', state, ...tip, ...over }
}

export interface Scene {
  line: Line
  now: number
  tip: Snapshot['tip']
  queue: Waiting[]
  drafts: Held[]
  settings: Settings
  preflights: Snapshot['preflights']
  pinned: boolean
  stopping: boolean
  standBy: StandBy | undefined
  /** Runs of each batch that was filed, by its id. */
  runs: Map<number, RunNow[]>
  /** What the runs of a batch are when it is filed; nothing runs by default. */
  starts: (pulls: readonly string[]) => RunNow[]
  /** Why pulls are left out of a stack, by name and, where it matters, by base. */
  left: (name: string, base: string) => LeftOut | undefined
  tree: (commit: string) => string
  /** The head that a stack fetches; undefined: the one that was read. */
  fetched: (name: string) => string | undefined
  building: { ok: true } | { ok: false; said: string }
  filing: { ok: true } | { ok: false; blame?: { workflow: string; pull: string } }
  landing: (id: number) => { ok: true } | ({ ok: false } & NotLanded)
  ejecting: boolean
  /** Whether a pull's pre-flights can be filed, by name. */
  flying: (name: string) => boolean
  /** Ejections that were written, in order. */
  ejected: Ejection[]
  /** The queue as read goes on listing what landed and was ejected. */
  lagging: boolean
  /** The last plan of the last pass. */
  last: Plan
  snapshot(): Snapshot
  /** One pass: what was done, in short words. `crash`: breaks off before this action. */
  pass(options?: { crashBefore?: Action['do']; repaired?: readonly string[] }): string[]
  /** Lets the runs of a batch end so; the first workflow that is named, or all. */
  end(id: number, ...runs: RunNow[]): void
  names(): string[]
  change(name: string, over: Partial<Waiting>): void
  leave(name: string): void
  /** Queued at the back. */
  join(name: string): void
  /** Somebody else's push, or a branch made again. */
  move(commit: string, generation?: number): void
}

export function createScene(names: string, over: Partial<Scene> = {}): Scene {
  const scene: Scene = {
    line: emptyLine('main'),
    now: START,
    tip: { commit: 'm0', generation: 1 },
    queue: [...names].map((name, at) => waiting(name, { queuedAt: START + at })),
    drafts: [],
    settings: { batch: 8, depth: 1, waitMs: 0 },
    preflights: [],
    pinned: false,
    stopping: false,
    standBy: undefined,
    runs: new Map(),
    starts: () => [run('filed')],
    left: () => undefined,
    fetched: () => undefined,
    tree: commit => `tree ${commit}`,
    building: { ok: true },
    filing: { ok: true },
    landing: () => ({ ok: true }),
    ejecting: true,
    flying: () => true,
    ejected: [],
    lagging: false,
    last: { line: emptyLine('main'), actions: [], waits: [] },
    snapshot: () => snapshotOf(scene),
    pass: options => pass(scene, options ?? {}),
    end: (id, ...runs) => void scene.runs.set(id, runs),
    names: () => scene.queue.map(({ pull }) => nameOf(pull)),
    change(name, change) {
      scene.queue = scene.queue.map(one => (nameOf(one.pull) === name ? { ...one, ...change } : one))
    },
    leave(name) {
      scene.queue = scene.queue.filter(one => nameOf(one.pull) !== name)
    },
    join(name) {
      scene.queue = [...scene.queue, waiting(name, { queuedAt: scene.now })]
    },
    move(commit, generation = 1) {
      scene.tip = { commit, generation }
    },
    ...over,
  }
  return scene
}

function snapshotOf(scene: Scene): Snapshot {
  const { now, settings, stopping, standBy, pinned, tip, queue, drafts, preflights, runs } = scene
  return { now, settings, stopping, standBy, owner, branch: 'main', pinned, tip, queue, drafts, preflights, runs: new Map(runs) }
}

function pass(scene: Scene, { crashBefore, repaired }: { crashBefore?: Action['do']; repaired?: readonly string[] }): string[] {
  const did: string[] = []
  let results: Result[] = repaired === undefined ? [] : [{ of: 'repair', landed: repaired }]
  for (let turn = 0; turn < 50; turn++) {
    scene.last = plan(freeze(scene.line), freeze(scene.snapshot()), results)
    scene.line = scene.last.line
    results = []
    for (const action of scene.last.actions) {
      if (action.do === crashBefore) return did
      did.push(inWords(action))
      const result = carryOut(scene, action)
      if (result !== undefined) results.push(result)
    }
    if (results.length === 0) return did
  }
  throw new Error(`no end: ${did.slice(-8).join('; ')}`)
}

export function inWords(action: Action): string {
  switch (action.do) {
    case 'eject':
      return `eject ${nameOf(action.pull)} ${action.kind}`
    case 'build': {
      const under = action.under === undefined ? '' : ` ahead of ${action.under}`
      return `build ${action.id} on ${action.base}${under}: ${action.candidates.map(({ pull }) => nameOf(pull)).join('')}`
    }
    case 'file':
      return `file ${action.id}${action.ahead ? ' ahead' : ''}`
    case 'promote':
    case 'land':
      return `${action.do} ${action.id}`
    case 'drop':
      return `drop ${action.id} ${action.cause}`
    case 'fly':
      return `fly ${nameOf(action.pull)} at ${action.head} on ${action.tip}: ${action.workflows.join(' ')}`
  }
}

function carryOut(scene: Scene, action: Action): Result | undefined {
  switch (action.do) {
    case 'eject':
      if (scene.ejecting) {
        scene.ejected.push(action)
        if (!scene.lagging) scene.queue = scene.queue.filter(({ key }) => key !== action.key)
        if (!scene.lagging) scene.drafts = scene.drafts.filter(({ key }) => key !== action.key)
      }
      return { of: 'eject', key: action.key, ok: scene.ejecting }
    case 'build':
      return build(scene, action)
    case 'file': {
      const { filing } = scene
      if (filing.ok) {
        const members = scene.line.batches.find(({ id }) => id === action.id)?.members ?? []
        scene.runs.set(action.id, scene.starts(members.map(({ pull }) => nameOf(pull))))
      }
      return { of: 'file', id: action.id, ...filing }
    }
    case 'promote':
      return undefined
    case 'drop':
      scene.runs.delete(action.id)
      return undefined
    case 'fly':
      return { of: 'fly', pull: action.pull, head: action.head, tip: action.tip, ok: scene.flying(nameOf(action.pull)) }
    case 'land':
      return land(scene, action.id)
  }
}

/** A commit is its parent and the head that came on it, so that equal histories have equal commits and trees. */
function build(scene: Scene, { id, base, candidates, most }: Extract<Action, { do: 'build' }>): Result {
  if (!scene.building.ok) return { of: 'build', id, ...scene.building }
  const left = new Map<string, LeftOut>()
  const members: Member[] = []
  for (const { pull, entry, key, head } of candidates) {
    if (members.length === most) break
    const why = scene.left(nameOf(pull), base)
    if (why !== undefined) left.set(key, why)
    else if (head.state === 'at') {
      const fetched = scene.fetched(nameOf(pull)) ?? head.commit
      const commit = `${members.at(-1)?.commit ?? base}+${fetched}`
      members.push({ pull, entry, key, head: fetched, commit, tree: scene.tree(commit) })
    }
  }
  const last = members.at(-1)
  return { of: 'build', id, ok: true, stack: last === undefined ? null : { tip: last.commit, tree: last.tree, members }, left }
}

function land(scene: Scene, id: number): Result {
  const batch = scene.line.batches.find(one => one.id === id)
  const landed = scene.landing(id)
  if (landed.ok && batch !== undefined) {
    const keys = batch.members.map(({ key }) => key)
    scene.tip = { commit: batch.tip, generation: batch.generation }
    if (!scene.lagging) scene.queue = scene.queue.filter(({ key }) => !keys.includes(key))
    scene.runs.delete(id)
  }
  return { of: 'land', id, ...landed }
}

function nameOf(pull: string): string {
  return pull.replace('pull-', '')
}

/** Deep: a planner that changes what it is given fails at once. */
function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const one of Object.values(value)) freeze(one)
  }
  return value
}
