/** The whole runner while people move things under batches that are being checked: one runner, a repository for each story, all at once. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { OpenedPull, Planted } from '../server/gateway-world.ts'
import { until } from '../support/until.ts'
import { merged, queue, type RunnerWorld, type Running, startRunnerWorld, workflow } from './runner-world.ts'

let world: RunnerWorld
let running: Running
const names = ['deleted', 'unnamed', 'remade', 'removed', 'merged'] as const
type Name = (typeof names)[number]
const stories = new Map<Name, Story>()

interface Story {
  repo: Planted
  gate: string
  stays: OpenedPull
  goes: OpenedPull
}

before(async () => {
  world = await startRunnerWorld()
  for (const name of names) stories.set(name, await begin(name))
  const repos = [...stories.values()].map(({ repo }) => repo)
  running = await world.start({ repos, flags: ['--jobs', '10', '--notice', '5s'] })
  for (const [name, { gate }] of stories)
    await until(() => world.gates.came(gate) === 1, { timeout: 60_000, what: `${name} to be checked` })
})
after(async () => {
  await running?.stop()
  await world?.end()
})

/** Two queued pulls whose batch will be held. */
async function begin(name: Name): Promise<Story> {
  const gate = `race_${name}`
  const files = { 'README.md': 'An orchard.\n', '.knotless/workflows/test.yml': workflow(gate, `${world.dir}/gates`) }
  const repo = await world.orchard(`race-${name}`, { files })
  world.gates.hold(gate)
  const [stays, goes] = [
    await repo.openPull({ branch: 'stays', files: { 's.txt': '' } }),
    await repo.openPull({ branch: 'goes', files: { 'g.txt': '' } }),
  ]
  for (const pull of [stays, goes]) await queue(world, repo, pull)
  return { repo, gate, stays, goes }
}

function story(name: Name): Story {
  const found = stories.get(name)
  assert.ok(found)
  return found
}

/** The batch is built again, and may go on. */
async function builtAgain({ gate }: Story): Promise<void> {
  await until(() => world.gates.came(gate) >= 2, { timeout: 30_000, what: 'the batch to be built again' })
  world.gates.release(gate)
}

async function dropped({ repo, gate }: Story): Promise<void> {
  const isDropped = async () =>
    (await world.people.rigby.list('dev.knotless.check')).some(({ value }) => value.repo === repo.uri && value.status === 'cancelled')
  await until(isDropped, { timeout: 30_000, what: 'the batch to be dropped' })
  world.gates.release(gate)
}

/** What the runner's account says of a pull: states, and kinds of ejections. */
async function said(pull: OpenedPull): Promise<string[]> {
  const { rigby } = world.people
  const all = [...(await rigby.list('dev.knotless.state')), ...(await rigby.list('dev.knotless.queue'))]
  return all
    .filter(({ value }) => value.subject === pull.uri)
    .map(({ value }) => [value.state, value.kind].filter(part => part !== undefined).join(' '))
}

test('MOV-2 QUE-2 a pull that its author deletes does not land, and the other does', async () => {
  const it = story('deleted')
  await world.people.carol.remove('dev.knotless.pull', it.goes.uri.split('/').at(-1) ?? '')
  await builtAgain(it)
  await merged(world, it.stays)
  assert.deepEqual(await said(it.goes), [])
})

test('WHO-3 a runner that is named no more drops its batch and ejects nobody; named again it lands them', async () => {
  const it = story('unnamed')
  await it.repo.edit({ runners: [] })
  await dropped(it)
  assert.deepEqual(await said(it.goes), [])
  await it.repo.edit({ runners: [{ did: world.people.rigby.did }] })
  for (const pull of [it.stays, it.goes]) await merged(world, pull)
})

test('MOV-1 CHK-9 a branch that is deleted and made again while it is checked: what was checked for the old one does not land on it', async () => {
  const it = story('remade')
  await it.repo.push('main', null)
  await it.repo.push('main', it.repo.tip)
  await builtAgain(it)
  await merged(world, it.goes)
  const landed = (await world.people.rigby.list('dev.knotless.check')).filter(
    ({ value }) => value.repo === it.repo.uri && value.batch !== undefined && value.status === 'success',
  )
  assert.deepEqual(
    landed.map(({ value }) => value.generation),
    [2],
  )
})

test('MOV-2 HON-5 pulls whose queuer may no more do not land and are not ejected', async () => {
  const it = story('removed')
  await it.repo.edit({ collaborators: [] })
  await dropped(it)
  assert.deepEqual(await said(it.goes), [])
  assert.equal((await it.repo.refs()).get('main'), it.repo.tip)
})

test('MOV-1 MOV-2 a queued pull that is merged by hand while it is checked is merged once, and the other lands on it', async () => {
  const it = story('merged')
  const answer = await world.call(world.people.bob, 'dev.knotless.mergePull', { repo: it.repo.uri, pull: it.goes.uri })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  await builtAgain(it)
  await merged(world, it.stays)
  assert.deepEqual(await said(it.goes), [])
})
