/** Properties 1 to 3 at the moment when a branch is about to move. */
import type { Batch } from '../../../src/runner/planner/types.ts'
import { Broken } from './facts.ts'
import { treeId } from './trees.ts'
import { branchOf, type Group, may, truth, type World, workflowsAt } from './world.ts'

/** Throws `Broken` unless this batch may land now. */
export function judgePush(world: World, name: string, batch: Batch, group: Group | undefined): void {
  passed(world, name, batch, group)
  chained(world, batch)
  once(world, name, batch)
}

function passed(world: World, name: string, batch: Batch, group: Group | undefined): void {
  const wrong = (said: string) => new Broken('1 base', `batch ${batch.id} (${batch.tip}) lands on ${name}, but ${said}`)
  const branch = branchOf(world, name)
  if (branch.tip?.id !== batch.base || branch.generation !== batch.generation)
    throw wrong(`${name} is at ${branch.tip?.id}, not at ${batch.base}`)
  if (group === undefined || !group.begun) throw wrong('its checks were never filed')
  if (group.base !== batch.base || group.tip !== batch.tip || group.generation !== batch.generation) {
    throw wrong(`its runs are those of ${group.tip} on ${group.base}`)
  }
  const bad = group.runs.find(run => run.state !== 'passed' && run.state !== 'reused' && run.state !== 'skipped')
  if (bad !== undefined) throw wrong(`its run of ${bad.workflow} is ${bad.state}`)
  for (const workflow of workflowsAt(world, group.tree)) {
    if (!group.runs.some(run => run.workflow === workflow)) throw wrong(`${workflow} did not run`)
  }
}

function chained(world: World, batch: Batch): void {
  const wrong = (said: string) => new Broken('2 tree', `batch ${batch.id}: ${said}`)
  let at = batch.base
  for (const member of batch.members) {
    const commit = world.commits.get(member.commit)
    const head = world.heads.get(member.head)
    const parent = commit?.parent
    if (commit === undefined || head === undefined || parent === undefined) throw wrong(`${member.commit} is no squash of ${member.pull}`)
    if (parent.id !== at) throw wrong(`${member.commit} lies on ${parent.id}, not on ${at}`)
    if (commit.tree !== (parent.tree | head.tree)) throw wrong(`${member.commit} is not ${member.head} merged onto ${at}`)
    if (treeId(commit.tree) !== member.tree) throw wrong(`${member.commit} has another tree than it says`)
    at = member.commit
  }
  if (at !== batch.tip || batch.members.length === 0) throw wrong(`its last pull is at ${at}, its tip is ${batch.tip}`)
}

function once(world: World, name: string, batch: Batch): void {
  for (const member of batch.members) {
    const wrong = (said: string) => new Broken('3 once', `${member.pull}, queued as ${member.key}, lands, but ${said}`)
    if (world.facts.landed.has(member.key)) throw wrong('it landed before')
    if (world.facts.ejected.has(member.key)) throw wrong('it was ejected')
    const pull = world.byUri.get(member.pull)
    if (pull === undefined) throw wrong('there is no such pull')
    const stands = truth(world, pull)
    if (!stands.open || stands.draft || stands.branch !== name || stands.entry?.key !== member.key) throw wrong('it is out')
    const saw = stands.entry
    if (
      world.climate.pinned &&
      !may(world, pull.author) &&
      !world.unsettled.has(pull.author) &&
      (saw.sawHead !== member.head || saw.sawBranch !== name)
    ) {
      throw new Broken('QUE-9 pinned', `${member.pull} lands at ${member.head}, which nobody looked at: it was queued at ${saw.sawHead}`)
    }
  }
}
