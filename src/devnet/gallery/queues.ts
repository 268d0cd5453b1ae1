/** Small queues, each with a state that the garden's cannot have at the same time: landing, red ahead, halving, filling, nobody who lands. */
import type { Pulled } from './pen.ts'
import type { Repo } from './scene.ts'
import type { Making } from './world.ts'

/** Puts up all of them. */
export async function queues(making: Making): Promise<void> {
  await flights(making)
  await halving(making)
  await filling(making)
  await landers(making)
}

async function planted(
  { cast, pen, passes }: Making,
  name: string,
  more: { branches?: Record<string, string>; lander?: Record<string, unknown> } = {},
): Promise<Repo> {
  const { alice, bob, carol, runner } = cast
  const repo = await pen.repo({ owner: alice, name, collaborators: [bob, carol], runners: [runner], branches: more.branches ?? {} })
  await pen.lander(runner, repo, more.lander)
  passes.push({ repo, by: runner })
  return repo
}

/** A pull that bob queued. */
async function queuedIn({ cast, pen, open }: Making, repo: Repo, title: string, onto = 'main', ago = 12): Promise<Pulled> {
  const pull = await open(repo, title, { onto })
  await pen.queue(cast.bob, pull, 'queued', ago, { head: pull.head, branch: onto })
  return pull
}

/** One repository with a queue on each of several branches: batches at every point of their way. */
async function flights(making: Making): Promise<void> {
  const { cast, pen, history, show } = making
  const { runner } = cast
  const base = history.trunk('landed-3')
  const moved = history.trunk('landed-2')
  const repo = await planted(making, 'orchard-house', {
    branches: { spring: base, summer: base, autumn: base, winter: base, frost: base, next: moved },
  })
  const two = async (branch: string) => [
    await queuedIn(making, repo, `First into ${branch}`, branch, 14),
    await queuedIn(making, repo, `Second into ${branch}`, branch),
  ]

  const [landing, beside] = [await queuedIn(making, repo, 'Prune in winter'), await queuedIn(making, repo, 'Prune less')]
  await pen.batch(runner, [landing, beside], { check: 'success', test: 'success' }, { base, ago: 2 })
  show('landing', 'Landing', beside, { title: 'Every check passed: the branch is being moved' })
  const [done, next] = await two('next')
  if (done !== undefined && next !== undefined) {
    await pen.batch(runner, [done, next], { test: 'success' }, { base: history.trunk('landed-1'), ago: 2, branch: 'next', tip: moved })
    show('landing-moved', 'Landing', next, { title: 'The branch was moved, and that is being recorded' })
  }
  for (const [branch, id, status, title] of [
    ['spring', 'in-ahead-passed', 'success', 'Ahead, and passed: it waits for the batch under it'],
    ['summer', 'in-ahead-red', 'failure', 'Ahead, and red: not decided yet'],
  ] as const) {
    const [under, above] = await two(branch)
    if (under === undefined || above === undefined) continue
    const { tip } = await pen.batch(runner, [under], { test: 'running' }, { base, ago: 5, branch })
    await pen.batch(runner, [above], { test: status }, { base: tip, ago: 4, branch })
    show(id, 'In a batch', above, { title })
  }
  const reusing = await queuedIn(making, repo, 'Alone into autumn', 'autumn')
  const before = await pen.check(runner, reusing, 'check', 'success', 11, { baseCommit: base, ref: 'refs/heads/autumn' })
  const taken = { status: 'success', reusedFrom: before.uri }
  await pen.batch(runner, [reusing], { check: taken, test: 'running' }, { base, ago: 3, branch: 'autumn' })
  show('in-batch-reused', 'In a batch', reusing, { title: 'Alone in its batch, a pass taken over' })
  const waiting = await queuedIn(making, repo, 'Into winter', 'winter')
  await pen.check(runner, waiting, 'check', 'success', 8, { baseCommit: base, ref: 'refs/heads/winter', queue: 'first' })
  show('queued', 'Queued', waiting, { title: 'Ready for the next batch' })
  const apart = await making.open(repo, 'Rows: five steps apart', { head: 'row-labels', onto: 'frost' })
  await pen.queue(cast.bob, apart, 'queued', 9, { head: apart.head, branch: 'frost' })
  show('queued-conflict-branch', 'Queued', apart, { title: 'Queued, and the branch moved into a conflict with it' })
  show('queued-stranger', 'Queued', waiting, { as: 'mallory', title: 'Queued, as a stranger sees it' })
}

/** A batch that failed, and the half of it that is checked now. */
async function halving(making: Making): Promise<void> {
  const { cast, pen, history, show } = making
  const repo = await planted(making, 'nursery')
  const base = history.trunk('landed-3')
  const four: Pulled[] = []
  for (const title of ['Graft earlier', 'Graft later', 'Other twine', 'Other wax'])
    four.push(await queuedIn(making, repo, title, 'main', 30))
  await pen.batch(cast.runner, four, { check: 'success', test: 'failure' }, { base, ago: 10 })
  await pen.batch(cast.runner, four.slice(0, 2), { check: 'success', test: 'running' }, { base, ago: 3 })
  const [half, , other] = four
  if (half === undefined || other === undefined) throw new Error('no halves')
  show('in-batch-half', 'In a batch', half, { title: 'In the half of a failed batch that is checked now' })
  show('queued-halving', 'Queued', other, { title: 'Waiting while a failed batch is checked in halves' })
}

/** A lander that lets a batch fill for a day. */
async function filling(making: Making): Promise<void> {
  const { cast, pen, history, show } = making
  const repo = await planted(making, 'cider-press', { lander: { wait: 86_400 } })
  const pull = await queuedIn(making, repo, 'Press on Fridays', 'main', 5)
  await pen.check(cast.runner, pull, 'check', 'success', 3, { baseCommit: history.trunk('landed-3'), queue: 'first' })
  show('queued-fill', 'Queued', pull, { title: 'Ready, while the lander lets the batch fill' })
}

/** Queues that nobody lands, or nobody whom their repository names. */
async function landers(making: Making): Promise<void> {
  const { cast, pen, passes, show, open } = making
  const { alice, bob, carol, runner } = cast
  const people = { owner: alice, collaborators: [bob, carol], runners: [runner] }
  const never = await pen.repo({ ...people, name: 'attic' })
  const unseen = await queuedIn(making, never, 'Dust')
  show('queued-never-lander', 'Queued', unseen, { title: 'No lander was ever seen' })
  show('queued-never-lander-owner', 'Queued', unseen, { as: 'alice', title: 'The same, as the owner sees it' })

  const silent = await planted(making, 'cellar', { lander: { stoppedAt: pen.ago(142) } })
  passes.pop()
  show('queued-stranded', 'Queued', await queuedIn(making, silent, 'Damp', 'main', 150), { title: 'No lander was seen for hours' })

  const stopped = await planted(making, 'stable', { lander: { stoppedAt: pen.ago(6), lease: undefined } })
  show('queued-stopped', 'Queued', await queuedIn(making, stopped, 'Hay'), { title: 'The lander is stopping' })

  const unnamed = await pen.repo({ ...people, name: 'bower' })
  await pen.lander(bob, unnamed)
  passes.push({ repo: unnamed, by: bob })
  show('queued-unnamed-lander', 'Queued', await queuedIn(making, unnamed, 'Roses'), { title: 'Who lands is not named by the repository' })

  const byHand = await pen.repo({
    ...people,
    name: 'commons',
    runners: [],
    queueOnly: ['stable'],
    branches: { stable: making.history.trunk('landed-3') },
  })
  const benches = await open(byHand, 'Benches')
  show('no-runners', 'No runners', benches, { title: 'Merged by hand, here' })
  show('no-runners-owner', 'No runners', benches, { as: 'alice', title: 'The same, as the owner sees it' })
  show('no-runners-signed-out', 'No runners', benches, { as: 'nobody', title: 'The same, as anybody sees it' })
  show('no-runners-queue-only', 'No runners', await open(byHand, 'More benches', { onto: 'stable' }), {
    title: 'Onto a branch that insists on its queue',
  })
  show('queued-no-runners', 'Queued', await queuedIn(making, byHand, 'A well'), { title: 'Queued before the last runner was taken out' })
}
