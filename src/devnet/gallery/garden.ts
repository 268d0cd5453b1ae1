/** The repository in which most of it happens: a busy queue, and beside it every state of a pull that is in none. */
import { madeUp, type Pulled } from './pen.ts'
import type { Repo } from './scene.ts'
import type { Making } from './world.ts'

/** Puts up the garden: its queue first. */
export async function garden(making: Making): Promise<void> {
  const { cast, pen, passes, history } = making
  const { alice, bob, carol, ivy, runner } = cast
  const repo = await pen.repo({
    owner: alice,
    name: 'garden',
    collaborators: [bob, carol, ivy],
    runners: [runner],
    queueOnly: ['main'],
    branches: { old: history.trunk('first') },
  })
  await pen.lander(runner, repo)
  passes.push({ repo, by: runner })
  await busyQueue(making, repo)
  await settled(making, repo)
  await ready(making, repo)
  await hindered(making, repo)
}

/** A batch of three, one of two ahead of it, and what waits behind them. */
async function busyQueue({ cast, pen, history, open, show }: Making, repo: Repo): Promise<void> {
  const { bob, carol, runner } = cast
  const base = history.trunk('landed-3')
  const queued: Pulled[] = []
  const put = async (title: string, head?: string, ago = 40 - queued.length) => {
    const pull = await open(repo, title, head === undefined ? {} : { head })
    await pen.queue(queued.length % 2 === 0 ? carol : bob, pull, 'queued', ago, { head: pull.head, branch: 'main' })
    queued.push(pull)
    return pull
  }
  const lower = [
    await put('Label the trees by their sort'),
    await put('Rows from a list', 'csv-import'),
    await put('Count the apples twice'),
  ]
  const held = await put('Rows in a list', 'csv-stream')
  const upper = [await put('Warn of hail'), await put('Plan hedges for the north wall')]
  const flight = await put('Show the weights in pounds')
  const unstarted = await put('Translate the picking list')
  const changed = await put('Water less after rain')
  await pen.queue(carol, changed, 'left', 21)
  await pen.queue(carol, changed, 'queued', 20, { head: madeUp('an earlier head'), branch: 'main' })
  const next = await put('Say when the cider is ready', undefined, 9)

  await earlierBatches(pen, runner, lower, history.trunk('landed-1'))
  const { tip } = await pen.batch(runner, lower, { check: 'success', docs: 'success', e2e: 'running', test: 'running' }, { base, ago: 4 })
  await pen.batch(runner, upper, { check: 'success', docs: 'success', e2e: 'queued', test: 'running' }, { base: tip, ago: 1 })
  const preflight = { queue: 'first', baseCommit: base }
  for (const pull of [held, next]) await pen.check(runner, pull, 'check', 'success', 8, preflight)
  await pen.check(runner, flight, 'check', 'running', 3, preflight)
  await pen.check(runner, unstarted, 'check', 'queued', 3, preflight)
  await pen.check(runner, changed, 'check', 'success', 15, { ...preflight, commit: madeUp('an earlier head') })
  await pen.check(runner, changed, 'check', 'running', 2, preflight)

  const [second, above] = [lower[1], upper[0]]
  if (second === undefined || above === undefined) throw new Error('no batches')
  show('in-batch', 'In a batch', second, { title: 'In the batch that is checked' })
  show('in-batch-owner', 'In a batch', second, { as: 'alice', title: 'In a batch, as the owner sees it' })
  show('in-batch-signed-out', 'In a batch', second, { as: 'nobody', title: 'In a batch, as anybody sees it' })
  show('in-ahead', 'In a batch', above, { title: 'In a batch that runs ahead of another' })
  show('queued-conflict-ahead', 'Queued', held, { title: 'Held, since it changes what a pull ahead of it changes' })
  show('queued-flight', 'Queued', flight, { title: 'Waiting for its pre-flight, which runs' })
  show('queued-flight-job', 'Queued', unstarted, { title: 'Waiting for its pre-flight, which waits for a free job' })
  show('queued-changed', 'Queued', changed, { title: 'Its head moved since it was queued, and its pre-flight runs again' })
  show('queued-next', 'Queued', next, { title: 'Ready, while one batch is checked and another runs ahead' })
}

/** Batches of a day ago that passed: what estimates go by. */
async function earlierBatches(pen: Making['pen'], runner: Making['cast']['runner'], pulls: readonly Pulled[], base: string): Promise<void> {
  for (const [at, took] of [41, 44, 39, 47].entries()) {
    const earlier = { base, ago: 1_500 + at * 60, tip: madeUp(`an earlier batch ${at}`), took }
    await pen.batch(runner, pulls, { check: 'success', docs: 'success', e2e: 'success', test: 'success' }, earlier)
  }
}

/** Merged, closed and drafts. */
async function settled({ cast, pen, history, open, show }: Making, repo: Repo): Promise<void> {
  const { alice, bob, carol, runner } = cast
  const batch = history.trunk('landed-3')
  const base = history.trunk('steps')
  const three: Pulled[] = []
  const land = async (title: string, commit: string, head: string, more: Record<string, unknown> = {}) => {
    const pull = await open(repo, title, { head })
    await pen.queue(carol, pull, 'queued', 30)
    three.push(pull)
    return async () => void (await pen.state(runner, pull, 'merged', 5, { commit: history.trunk(commit), batch, head: pull.head, ...more }))
  }
  const landings = [
    await land('Labels for rows', 'landed-1', 'row-labels-gone'),
    await land('The frost table', 'landed-2', 'later', { head: madeUp('the head that landed') }),
    await land('The picking list', 'landed-3', 'topic-16'),
  ]
  await pen.batch(
    runner,
    three,
    { check: 'success', test: 'success' },
    { base, ago: 12, commits: ['landed-1', 'landed-2', 'landed-3'].map(history.trunk) },
  )
  for (const write of landings) await write()
  const [merged, later] = three
  if (merged === undefined || later === undefined) throw new Error('nothing landed')
  show('merged', 'Merged', merged, { title: 'Landed in a batch of three' })
  show('merged-later', 'Merged', later, { title: 'Landed, and its branch went on' })

  const byHand = await open(repo, 'A word in the readme')
  await pen.state(alice, byHand, 'merged', 200, { commit: history.trunk('steps') })
  show('merged-by-hand', 'Merged', byHand, { title: 'Merged by hand' })
  const notThere = await open(repo, 'Marked merged by mistake')
  await pen.state(carol, notThere, 'merged', 182, { commit: madeUp('nowhere') })
  show('merged-not-there', 'Merged', notThere, { title: 'Marked merged, but its commit is not on the branch' })
  const bare = await open(repo, 'Marked merged without a commit')
  await pen.state(carol, bare, 'merged', 183)
  show('merged-no-commit', 'Merged', bare, { title: 'Marked merged, with no commit' })

  const closed = await open(repo, 'Trees in circles')
  await pen.state(carol, closed, 'closed', 2_900)
  show('closed', 'Closed', closed, { title: 'Closed by a collaborator' })
  show('closed-stranger', 'Closed', closed, { as: 'mallory', title: 'Closed, as a stranger sees it' })

  const draft = await open(repo, 'Half a thought', { by: bob, draft: true })
  show('draft', 'Draft', draft, { title: 'A draft, as its author sees it' })
  const heldDraft = await open(repo, 'Queued, then made a draft', { by: bob, draft: true })
  await pen.queue(carol, heldDraft, 'queued', 70)
  show('draft-held', 'Draft', heldDraft, { title: 'A draft that is queued: held out until it is ready' })
  const out = await open(repo, 'Made a draft while queued', { by: bob, draft: true })
  await pen.queue(carol, out, 'queued', 90)
  await pen.ejected(runner, out, { key: 'draft', by: bob.did }, 82, { kind: 'draft' })
  show('draft-taken-out', 'Draft', out, { title: 'Made a draft while it was queued, and taken out' })
}

/** Open, and nothing in the way. */
async function ready({ cast, pen, history, open, show }: Making, repo: Repo): Promise<void> {
  const { runner } = cast
  const base = history.trunk('landed-3')
  const passed = await open(repo, 'Ladders for the tall trees')
  for (const name of ['check', 'docs', 'e2e', 'test']) await pen.check(runner, passed, name, 'success', 31, { baseCommit: base })
  show('ready', 'Ready', passed, { title: 'Its checks passed' })
  show('signed-out', 'Not allowed', passed, { as: 'nobody', title: 'Nobody is logged in' })
  show('not-allowed', 'Not allowed', passed, { as: 'mallory', title: 'Logged in, and not one of those who may' })
  show('refused-upstream', 'When it says no', passed, {
    as: 'ivy',
    press: 'Add to merge queue',
    title: 'Add, while the server of one’s account does not take it',
  })
  show('ready-unrun', 'Ready', await open(repo, 'A second gate'), { title: 'No check has run yet' })
  const notAll = await open(repo, 'Crates by weight')
  await pen.check(runner, notAll, 'test', 'failure', 300, { baseCommit: history.trunk('landed-2') })
  show('ready-not-all', 'Ready', notAll, { title: 'A check failed, on the branch as it was before' })
  const running = await open(repo, 'Crates by colour')
  for (const [name, status] of Object.entries({ check: 'success', docs: 'success', e2e: 'queued', test: 'running' })) {
    await pen.check(runner, running, name, status, 1, { baseCommit: base })
  }
  show('ready-running', 'Ready', running, { title: 'Checks still run' })
  show('ready-merge-too', 'Ready', await open(repo, 'Frost, for the release', { head: 'backport', onto: 'release/1.0' }), {
    title: 'Onto a branch that takes pulls past its queue as well',
  })
  show('ready-unchecked', 'Ready', await open(repo, 'For the old branch', { onto: 'old' }), { title: 'Nothing checks the branch' })
  show('ready-changes-checks', 'Ready', await open(repo, 'Check more', { head: 'stricter' }), { title: 'It changes what checks it' })
  show('ready-empty', 'Ready', await open(repo, 'What is there already', { head: 'main' }), { title: 'It would change nothing' })
}

/** Open, and something in the way. */
async function hindered({ cast, pen, history, open, show }: Making, repo: Repo): Promise<void> {
  const { hugo, runner } = cast
  const base = history.trunk('landed-3')
  show('conflict', 'What git says', await open(repo, 'Rows: five steps apart', { head: 'row-labels' }), {
    title: 'In conflict with the branch',
  })
  show('head-gone', 'What git says', await open(repo, 'From a branch that is gone', { head: 'nowhere' }), {
    title: 'Its head branch is gone',
  })
  show('branch-gone', 'What git says', await open(repo, 'Onto a branch that is gone', { onto: 'release/0.9' }), {
    title: 'The branch that it is onto is gone',
  })
  show('unrelated', 'What git says', await open(repo, 'Another beginning', { head: 'unrelated' }), {
    title: 'Nothing in common with the branch',
  })
  const unread = `at://${hugo.did}/dev.knotless.repo/garden`
  show('working', 'What git says', await open(repo, 'From a fork that cannot be read yet', { from: unread }), {
    title: 'Its head has not been read yet',
    unread: true,
  })
  const failed = await open(repo, 'Pears too')
  await pen.check(runner, failed, 'check', 'failure', 30, { baseCommit: base, queue: 'first' })
  await pen.check(runner, failed, 'docs', 'success', 30, { baseCommit: base })
  show('checks-failed', 'Checks failed', failed, { title: 'A check failed at its head' })
}
