/** Property 5, and whatever else an ejection must be: caused, said in words, once, and not while standing by. */
import { ejectionWords } from '../../../src/queue/words/ejection.ts'
import { plain } from '../../../src/queue/words/phrase.ts'
import type { Action, Snapshot } from '../../../src/runner/planner/types.ts'
import { Broken } from './facts.ts'
import type { Pull } from './records.ts'
import { lander, type World } from './world.ts'

type Eject = Action & { do: 'eject' }

const hour = 3_600_000

/** Throws `Broken` unless this pull may be turned away for this reason, as `seen` has it. */
export function judgeEjection(world: World, seen: Snapshot, order: Eject): void {
  const pull = world.byUri.get(order.pull)
  const about = `${pull?.title ?? order.pull}, queued as ${order.key}, is ejected (${order.kind}, ${order.why.key})`
  if (seen.standBy !== undefined && seen.standBy.why !== 'not-delegated' && seen.standBy.why !== 'git-version') {
    throw new Broken('REC-8 stand-by', `${about} while standing by: ${seen.standBy.why}`)
  }
  if (seen.stopping) throw new Broken('MOV-5 stop', `${about} while stopping`)
  if (pull === undefined || !pull.records.some(rec => rec.what === 'queued' && rec.key === order.key))
    throw new Broken('3 once', `${about}, but was never queued so`)
  if (world.facts.landed.has(order.key)) throw new Broken('3 once', `${about}, but landed`)
  if (world.facts.toldEjected.has(`${seen.branch} ${order.key}`)) throw new Broken('3 once', `${about} again`)
  said(world, order, about)
  // One that was asked for before may have been written, whatever was answered.
  const asked = `asked ${order.key}`
  const isDecided = lasting.has(order.why.key) && world.facts.decided.has(`${order.key} ${order.why.key}`)
  if (isDecided || world.facts.decided.has(asked)) return
  world.facts.decided.add(asked)
  const wrong = unjust(world, seen, order, pull)
  if (wrong !== undefined) throw new Broken('5 innocent', `${about}, but ${wrong} any more`)
}

/** Reasons that hold from when they were found; all others must hold when it is ejected. */
const lasting: ReadonlySet<string> = new Set([
  'alone',
  'halving',
  'together',
  'timeout',
  'draft',
  'head-moved',
  'head-unread',
  'not-filed',
  'no-delegation',
  'gateway',
])

/** Judges what a planner decides, when it decides it: it may be asked for later only. Throws `Broken`. */
export function judgeDecisions(world: World, seen: Snapshot, owed: readonly Eject[]): void {
  for (const order of owed) {
    const decision = `${order.key} ${order.why.key}`
    if (world.facts.decided.has(decision)) continue
    world.facts.decided.add(decision).add(order.key)
    const pull = world.byUri.get(order.pull)
    const wrong = pull === undefined ? 'there is no such pull' : unjust(world, seen, order, pull)
    if (wrong !== undefined) {
      throw new Broken(
        '5 innocent',
        `${pull?.title ?? order.pull}, queued as ${order.key}, is to be ejected (${order.kind}, ${order.why.key}), but ${wrong}`,
      )
    }
  }
}

function said(world: World, order: Eject, about: string): void {
  const words = ejectionWords(order.why)
  const name = () => 'somebody'
  for (const text of [plain(words.reason, world.now, name), plain(words.says, world.now, name)]) {
    if (text.trim() === '' || /undefined|NaN|\[object/.test(text)) throw new Broken('words', `${about} with the words “${text}”`)
  }
  const named = order.why.key === 'alone' || order.why.key === 'halving' || order.why.key === 'together' || order.why.key === 'preflight'
  if (named && order.checks.length === 0) throw new Broken('REC-2 checks', `${about} without the checks that failed`)
  const green = order.checks.find(({ check }) => !world.facts.redChecks.has(check))
  if (green !== undefined) throw new Broken('REC-2 checks', `${about} naming ${green.check}, which is not red`)
}

/** Why an ejection is wrong; undefined when it is right. */
function unjust(world: World, seen: Snapshot, order: Eject, pull: Pull): string | undefined {
  const { facts } = world
  const tip = seen.tip === null ? undefined : world.commits.get(seen.tip.commit)
  const head = order.head === undefined ? undefined : world.heads.get(order.head)
  const alone = tip === undefined || head === undefined ? undefined : tip.tree | head.tree
  const left = facts.left.get(`${seen.branch} ${order.key}`)
  const direct = left !== undefined && left.under === undefined && left.base === seen.tip?.commit ? left.left : undefined
  const waiting = seen.queue.find(one => one.key === order.key)
  const { key }: { key: string } = order.why
  switch (key) {
    case 'alone':
    case 'halving':
    case 'together':
      if (alone !== undefined && (facts.red.has(alone) || (order.kind === 'timeout' && facts.timedOut.has(alone)))) return undefined
      return `nothing failed on ${order.head} merged with ${seen.tip?.commit} alone`
    case 'timeout':
      if (timedOutFlights(pull, order.head) >= 2) return undefined
      if (alone === undefined || !facts.timedOut.has(alone)) return 'nothing of it timed out'
      return (facts.timeouts.get(order.key)?.size ?? 0) >= 2 ? undefined : 'it was not built again once'
    case 'preflight': {
      const run = pull.flights.findLast(one => one.head === order.head && one.tip === seen.tip?.commit && one.state === 'failed')
      return run === undefined ? 'no pre-flight failed at this head on this tip' : undefined
    }
    case 'conflict':
      return direct?.why === 'conflict' && direct.with.length === 0 ? undefined : `no build on ${seen.tip?.commit} found that`
    case 'conflict-pulls':
      return direct?.why === 'conflict' && direct.with.length > 0 ? undefined : `no build on ${seen.tip?.commit} found that`
    case 'branch-gone':
      return waiting?.head.state === 'gone' || pull.where === 'gone' || left?.left.why === 'gone' ? undefined : 'its branch is there'
    case 'account-gone':
      return waiting?.head.state === 'account-gone' || pull.where === 'account-gone' || left?.left.why === 'account-gone'
        ? undefined
        : 'its account is there'
    case 'unreadable':
      if ((facts.headRefused.get(order.key) ?? 0) >= 2) return undefined
      if (waiting?.head.state !== 'unreadable' && pull.where !== 'unreadable') return 'it can be read'
      return world.now - pull.unreadableSince >= hour ? undefined : 'it was not unreadable for an hour'
    case 'draft':
      // One that was made a draft is out, also when it no longer is one (QUE-5).
      if (seen.drafts.some(one => one.key === order.key)) return undefined
      return pull.records.some(rec => rec.what === 'draft' && rec.key > order.key) ? undefined : 'nobody made it a draft'
    case 'changed':
    case 'retargeted':
      return seen.pinned && waiting?.authorMayQueue === false && (changed(seen, waiting) || order.head !== waiting.sawHead)
        ? undefined
        : 'it is as it was queued'
    case 'head-moved':
    case 'head-unread':
      return (facts.headRefused.get(order.key) ?? 0) >= 2 ? undefined : 'its head did not move under two landings'
    case 'hostile':
      return left?.left.why === 'hostile' ? undefined : 'its head is within bounds'
    case 'not-filed':
      return facts.blamed.has(order.pull) ? undefined : 'it brought no workflow that cannot be filed'
    case 'no-delegation':
      return facts.notDelegated.has(order.key) ? undefined : 'no landing of it was refused so'
    case 'gateway': {
      const twice = [...facts.notABatch].some(([heads, said]) => said.times >= 2 && heads.split(' ').includes(order.head ?? ''))
      return twice || facts.notDelegated.has(order.key) ? undefined : 'the gateway did not refuse it twice'
    }
    case 'empty':
      if (head === undefined || tip === undefined) return 'there is nothing to compare'
      return (tip.tree & head.tree) === head.tree ? undefined : `what it changes is not on ${seen.branch}`
    default:
      return `${lander} knows no such reason`
  }
}

function changed(seen: Snapshot, waiting: Snapshot['queue'][number]): boolean {
  return (waiting.head.state === 'at' && waiting.head.commit !== waiting.sawHead) || waiting.sawBranch !== seen.branch
}

function timedOutFlights(pull: Pull, head: string | undefined): number {
  return pull.flights.filter(one => one.head === head && one.state === 'timeout').length
}
