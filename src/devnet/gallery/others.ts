/** What owners did not allow, and what git cannot read. */
import type { Making } from './world.ts'

/** Puts up repositories whose owners let nobody write, and two that git cannot read. */
export async function others({ cast, pen, passes, history, open, show }: Making): Promise<void> {
  const { alice, bob, carol, dave, erin, runner } = cast
  for (const [owner, name, as, id, title] of [
    [dave, 'allotment', 'dave', 'never', 'The owner never let the server write'],
    [erin, 'glasshouse', 'erin', 'withdrawn', 'The owner took the right back'],
  ] as const) {
    const repo = await pen.repo({ owner, name, collaborators: [bob], runners: [runner] })
    await pen.lander(runner, repo)
    passes.push({ repo, by: runner })
    const pull = await open(repo, 'Glass')
    show(`no-delegation-${id}-owner`, 'No delegation', pull, { as, title: `${title}, as the owner sees it` })
    show(`no-delegation-${id}`, 'No delegation', pull, { title })
    if (id === 'withdrawn') {
      const queued = await open(repo, 'Putty')
      await pen.queue(bob, queued, 'queued', 9)
      show('queued-not-delegated', 'Queued', queued, { title: 'Queued, and the owner took the right back' })
    }
  }

  const repo = await pen.repo({ owner: alice, name: 'ruin', collaborators: [bob, carol], runners: [runner] })
  await pen.lander(runner, repo)
  passes.push({ repo, by: runner })
  const fork = await pen.repo({ owner: carol, name: 'ruin' })
  const good = await open(repo, 'From a fork whose state cannot be taken', { by: carol, from: fork.uri })
  await pen.spoil(fork)
  show('head-unreadable', 'What git says', good, { title: 'The state of its fork cannot be taken' })
  const wall = await pen.repo({ owner: alice, name: 'wall', collaborators: [bob, carol], runners: [runner] })
  await pen.lander(runner, wall)
  passes.push({ repo: wall, by: runner })
  const stone = await open(wall, 'Stones')
  const recorded = await open(wall, 'Mortar')
  await pen.state(runner, recorded, 'merged', 1, { commit: history.trunk('landed-3'), batch: history.trunk('landed-3') })
  await pen.spoil(wall)
  show('target-unreadable', 'What git says', stone, { title: 'The state of the repository cannot be taken' })
  show('landing-recorded', 'Landing', recorded, { title: 'Recorded as merged, and the branch not read since', unread: true })
}
