/** What a plan must keep to whatever was read: order (property 6), blame, depth, bases, stand-by, stop. */
import type { Action, Batch, Line, Plan, RunNow, Snapshot, Waiting } from '../../../src/runner/planner/types.ts'
import { Broken, count } from './facts.ts'
import { hasNoPreflight } from './trees.ts'
import { branchOf, isOn, kept, truth, type World } from './world.ts'

type Build = Action & { do: 'build' }

export function red(seen: Snapshot, id: number): boolean {
  return (seen.runs.get(id) ?? []).some(run => run.state === 'failed')
}

function unpassed(seen: Snapshot, id: number): boolean {
  return (seen.runs.get(id) ?? []).some(run => run.state === 'failed' || run.state === 'no-verdict' || run.state === 'cancelled')
}

/** Whether nothing of what failed changed since, so that its halves are next (FAI-3, FAI-5, FAI-10). */
function stillSuspect(world: World, seen: Snapshot): readonly string[] | undefined {
  const failed = world.facts.failed.get(seen.branch)
  if (failed === undefined || failed.handMoves !== world.facts.handMoves || failed.tip !== seen.tip?.commit) return undefined
  for (const member of failed.members) {
    const waiting = seen.queue.find(one => one.key === member.key)
    if (waiting === undefined || waiting.head.state !== 'at' || waiting.head.commit !== member.head) return undefined
    if (told(world, seen, member.key) || world.facts.ejected.has(member.key) || world.facts.decided.has(member.key)) return undefined
  }
  return failed.members.map(member => member.key)
}

function told(world: World, seen: Snapshot, key: string): boolean {
  return world.facts.toldEjected.has(`${seen.branch} ${key}`)
}

/** Forgets what failed as soon as a planner may: when it is shown that something of it changed. */
export function reviewFailed(world: World, seen: Snapshot): void {
  if (world.facts.failed.has(seen.branch) && stillSuspect(world, seen) === undefined) world.facts.failed.delete(seen.branch)
}

function ready(seen: Snapshot, waiting: Waiting): boolean {
  if (waiting.head.state !== 'at') return false
  if (waiting.applies === false || seen.preflights.length === 0) return true
  return waiting.flights !== 'unread' && waiting.flights.every(flight => flight.state === 'passed' || flight.state === 'not-needed')
}

/** Property 6, BLD-1, FAI-3, AHD-3: who is asked into a batch, and who is passed over. */
export function judgeBuild(world: World, seen: Snapshot, line: Line, order: Build): void {
  const about = `batch ${order.id} on ${seen.branch}`
  const wrong = (property: string, said: string) =>
    new Broken(property, `${about} is built of ${order.candidates.map(one => one.key).join(', ')}, but ${said}`)
  if (seen.standBy !== undefined) throw wrong('REC-8 stand-by', `this runner stands by: ${seen.standBy.why}`)
  if (seen.stopping) throw wrong('MOV-5 stop', 'it is stopping')
  if (order.candidates.length === 0) throw wrong('BLD-1 build', 'that is nobody')
  if (seen.now < (world.facts.notBefore.get(seen.branch) ?? 0))
    throw wrong('FAI-8 back-off', 'the runner had trouble less than a minute ago')
  const under = order.under === undefined ? undefined : line.batches.find(batch => batch.id === order.under)
  if (order.under === undefined ? seen.tip?.commit !== order.base || seen.tip.generation !== order.generation : under?.tip !== order.base) {
    throw wrong('AHD-2 base', `${order.base} is neither the branch's tip nor that of the batch under it`)
  }
  if (order.most > seen.settings.batch) throw wrong('BLD-1 build', `a batch has ${seen.settings.batch} at most`)
  const flying = new Set(line.batches.flatMap(batch => batch.members.map(member => member.key)))
  const dropped = world.facts.dropped.get(seen.branch)
  const asked = new Set<string>()
  let last = ''
  for (const candidate of order.candidates) {
    const { key } = candidate
    if (key <= last) throw wrong('6 order', `${key} comes after ${last}`)
    last = key
    asked.add(key)
    if (flying.has(key)) throw wrong('BLD-1 build', `${key} is in a batch already`)
    if (told(world, seen, key) || world.facts.landed.has(key)) throw wrong('FAI-6 done', `${key} is done`)
    const waiting = seen.queue.find(one => one.key === key)
    if (waiting === undefined) throw wrong('QUE-1 queue', `${key} is not queued`)
    const isSettled = seen.preflights === 'unknown' || waiting.head.state !== 'at' || dropped?.has(key) === true
    if (!isSettled && !ready(seen, waiting) && !flown(world, waiting)) {
      throw wrong('PRE-3 ready', `the pre-flights of ${key} have not passed: ${JSON.stringify(waiting.flights)}`)
    }
  }
  const suspects = stillSuspect(world, seen)
  if (suspects !== undefined) halved(seen, order, line, suspects, asked, wrong)
  const failed = world.facts.failed.get(seen.branch)
  const isHalf = failed?.members.some(member => asked.has(member.key)) ?? false
  if (isHalf || order.candidates.every(one => dropped?.has(one.key) === true)) return
  const { batch, waitMs } = seen.settings
  const oldest = Math.min(...order.candidates.map(one => one.queuedAt))
  if (under === undefined && order.candidates.length < batch && oldest + waitMs > seen.now)
    throw wrong('BLD-9 wait', 'it is to wait for more')
  for (const waiting of seen.queue) {
    if (waiting.key >= last) break
    if (asked.has(waiting.key) || flying.has(waiting.key) || !ready(seen, waiting)) continue
    if (told(world, seen, waiting.key) || world.facts.ejected.has(waiting.key) || world.facts.landed.has(waiting.key)) continue
    if (world.facts.left.has(`${seen.branch} ${waiting.key}`) || world.facts.decided.has(waiting.key) || isOut(world, seen.branch, waiting))
      continue
    throw wrong('6 order', `${waiting.key} was ready and queued before ${last}`)
  }
}

/** Whether it is out, though this pass may not have read so. */
function isOut(world: World, branch: string, { pull, key }: Waiting): boolean {
  const found = world.byUri.get(pull)
  if (found === undefined) return true
  const stands = truth(world, found)
  return stands.entry?.key !== key || stands.draft || stands.branch !== branch
}

/** PRE-8: a run was asked for here, and there is nothing to show; or it could not be begun time and again, so that the build is to say why. */
function flown(world: World, { pull, head }: Waiting): boolean {
  const commit = head.state === 'at' ? head.commit : ''
  return hasNoPreflight(world.heads.get(commit)) || (world.facts.unflown.get(`${pull} ${commit}`) ?? 0) >= 3
}

function halved(
  seen: Snapshot,
  order: Build,
  line: Line,
  suspects: readonly string[],
  asked: ReadonlySet<string>,
  wrong: (property: string, said: string) => Broken,
): void {
  if (order.under !== undefined) {
    const under = line.batches.find(batch => batch.id === order.under)
    if (under?.members.some(member => suspects.includes(member.key))) throw wrong('AHD-3 ahead', 'there are suspects')
    return
  }
  const half = suspects.slice(0, Math.ceil(suspects.length / 2))
  if (asked.size !== half.length || half.some(key => !asked.has(key)) || order.most < half.length) {
    throw wrong('FAI-3 halving', `of ${suspects.join(', ')}, which failed together, the first half is next`)
  }
  if (seen.stopping) throw wrong('MOV-5 stop', 'no halving goes on')
}

/** Whether a drop has the cause that it says. `refused`: a landing was refused in this pass. */
export function judgeDrop(world: World, seen: Snapshot, before: Line, order: Action & { do: 'drop' }, refused: boolean): void {
  // What landed in this pass is in the line before still.
  const line = before.batches.filter(({ members }) => !members.every(({ key }) => world.facts.landed.has(key)))
  const at = line.findIndex(({ id }) => id === order.id)
  const batch = line[at]
  if (batch === undefined) {
    // A batch whose landing nobody was told of may be dropped, and one that was only built; one that never was may not.
    if (before.batches.some(({ id }) => id === order.id) || before.memory.asked?.id === order.id) return
    throw new Broken('MOV-4 drop', `batch ${order.id} is dropped, and is not in flight`)
  }
  const upTo = line.slice(0, at + 1)
  const lowest = line[0]
  const branch = branchOf(world, seen.branch)
  const moved =
    seen.tip === null ||
    lowest === undefined ||
    seen.tip.commit !== lowest.base ||
    seen.tip.generation !== lowest.generation ||
    isOn(branch, batch.tip)
  const gone = (key: string, pull: string) =>
    !seen.queue.some(waiting => waiting.key === key) ||
    world.facts.blamed.has(pull) ||
    world.facts.ejected.has(key) ||
    world.facts.landed.has(key)
  const whole = before.batches.slice(0, before.batches.indexOf(batch) + 1)
  const out = whole.some(one => one.members.some(member => gone(member.key, member.pull)))
  const pinned = seen.pinned
  const failed = upTo.some(one => unpassed(seen, one.id) || seen.runs.get(one.id) === undefined)
  const why = { moved, out: out || pinned || refused, failed, refused }
  const cause: string = order.cause
  const just =
    (cause === 'branch-moved' && (why.moved || why.refused)) ||
    (cause === 'pull-moved-on' && why.out) ||
    ((cause === 'batch-failed' || cause === 'no-verdict') && (why.failed || why.refused)) ||
    (cause === 'landing-failed' && why.refused) ||
    (cause === 'not-lander' && (seen.standBy?.why === 'not-lander' || seen.standBy?.why === 'lease' || why.refused)) ||
    (cause === 'stopping' && seen.stopping)
  if (!just) throw new Broken('MOV-4 drop', `batch ${order.id} is dropped as ${order.cause}, which is not so`)
  count(world.facts, `drops: ${order.cause}`)
  if (at === 0) noteDropped(world, seen.branch, batch)
  const isTimeout = (run: RunNow) => run.state !== 'no-verdict' || run.verdict === 'timeout'
  if (cause === 'no-verdict' && at === 0 && seen.runs.get(batch.id)?.every(isTimeout) === false) {
    world.facts.notBefore.set(seen.branch, seen.now + 60_000)
  }
  if (cause === 'batch-failed' && at === 0 && batch.members.length > 1) {
    count(world.facts, 'halvings begun')
    world.facts.failed.set(seen.branch, { members: batch.members, tip: batch.base, handMoves: world.facts.handMoves })
  }
}

/** Those of a batch may be built again without others; so may what is left of them after a half of it. */
function noteDropped(world: World, branch: string, { members }: Batch): void {
  const before = world.facts.dropped.get(branch)
  if (before !== undefined && members.every(({ key }) => before.has(key))) return
  world.facts.dropped.set(branch, new Set(members.map(({ key }) => key)))
}

function sound(line: Line, seen: Snapshot, about: string): void {
  if (line.batches.length > seen.settings.depth) throw new Broken('AHD-1 depth', `${about} ${line.batches.length} batches are in flight`)
  for (const [i, batch] of line.batches.entries()) {
    const under: Batch | undefined = line.batches[i - 1]
    if (under !== undefined && under.tip !== batch.base)
      throw new Broken('AHD-2 base', `${about} batch ${batch.id} lies on ${batch.base}, not on ${under.tip}`)
    if (batch.filed && seen.runs.get(batch.id) === undefined)
      throw new Broken('REC-5 filed', `${about} batch ${batch.id} counts as filed, and is not`)
  }
}

function hasPassed(seen: Snapshot, batch: Batch): boolean {
  const runs = batch.filed ? seen.runs.get(batch.id) : undefined
  return runs?.every(({ state }) => state === 'passed' || state === 'reused' || state === 'skipped') === true
}

/** What a line must be when a pass asks for nothing more. `tried`: a landing was tried in it. */
export function judgeQuiet(world: World, seen: Snapshot, plan: Plan, tried: boolean): void {
  const { line } = plan
  const about = `after a pass over ${seen.branch}`
  sound(line, seen, about)
  if (plan.wakeAt !== undefined && plan.wakeAt <= seen.now)
    throw new Broken('wake', `${about} the planner asks to be woken ${seen.now - plan.wakeAt} ms ago`)
  const idle = seen.standBy?.why === 'not-lander' || seen.standBy?.why === 'lease'
  if (idle && line.batches.length > 0) throw new Broken('WHO-3 dropped', `${about} a runner that does not land has a batch`)
  const lowest = line.batches[0]
  const isThere = lowest !== undefined && seen.tip?.commit === lowest.base && seen.tip.generation === lowest.generation
  const isHeld = tried || plan.waits.some(wait => wait.for === 'landing-again' || wait.for === 'stand-by')
  if (isThere && seen.standBy === undefined && !isHeld && hasPassed(seen, lowest)) {
    throw new Broken('LND-1 lands', `${about} batch ${lowest.id} has passed and is not landed`)
  }
  if (seen.standBy !== undefined || seen.stopping) return
  if (lowest?.filed === true && kept(world, seen.branch).groups.get(lowest.id)?.ahead === true) {
    throw new Broken('AHD-5 class', `${about} batch ${lowest.id} lands next and runs as one ahead`)
  }
  if (lowest !== undefined && (seen.tip?.commit !== lowest.base || seen.tip.generation !== lowest.generation)) {
    throw new Broken('MOV-1 moved', `${about} batch ${lowest.id} lies on ${lowest.base}; the branch is at ${seen.tip?.commit}`)
  }
  if (lowest?.filed === true && red(seen, lowest.id))
    throw new Broken('FAI-1 failed', `${about} batch ${lowest.id} failed and is still in flight`)
  for (const batch of line.batches) {
    const out = batch.members.find(member => !seen.queue.some(waiting => waiting.key === member.key))
    if (out !== undefined) throw new Broken('MOV-2 moved on', `${about} batch ${batch.id} has ${out.key}, which is out`)
  }
  const isWaiting = (one: Waiting) => one.flights !== 'unread' && !told(world, seen, one.key) && !world.facts.landed.has(one.key)
  const waiting = seen.queue.find(one => isWaiting(one) && !isOut(world, seen.branch, one))
  // What goes on at once needs no words.
  const isSoon = plan.wakeAt !== undefined && plan.wakeAt <= seen.now + 5_000
  if (waiting !== undefined && line.batches.length === 0 && seen.tip !== null && plan.waits.length === 0 && !isSoon) {
    throw new Broken('STA-4 waits', `${about} ${waiting.key} waits, and nothing says for what`)
  }
}
