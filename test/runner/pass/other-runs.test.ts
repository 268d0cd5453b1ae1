/** What runs beside queues, by the whole runner: pulls by themselves, reruns, pushes and the push that lands. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { commit } from '../../git/support.ts'
import type { Planted } from '../../server/gateway-world.ts'
import { until } from '../../support/until.ts'
import { merged, queue, type RunnerWorld, startRunnerWorld, workflow } from '../runner-world.ts'

let world: RunnerWorld
before(async () => {
  world = await startRunnerWorld()
})
after(() => world?.end())

const files = (gate: string) => ({ '.knotless/workflows/test.yml': workflow(gate, `${world.dir}/gates`) })

async function checks(repo: Planted): Promise<Record<string, unknown>[]> {
  const all = await world.people.rigby.list('dev.knotless.check')
  return all.map(({ value }) => value).filter(value => value.repo === repo.uri)
}

async function ended(repo: Planted, which: (check: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> {
  const find = async () => (await checks(repo)).find(check => which(check) && check.finishedAt !== undefined)
  return await until(find, { timeout: 60_000, what: 'a run to end' })
}

test('RUN-2 RUN-6 with --pulls an open pull of a fork runs at its head, and again when a collaborator asks', async () => {
  const repo = await world.orchard('pulls', { files: files('pulls') })
  const pull = await repo.openPull({ branch: 'f', files: { 'f.txt': '' }, fork: true })
  const running = await world.start({ repos: [repo], flags: ['--pulls', 'all'] })
  const first = await ended(repo, check => check.pull === pull.uri)
  assert.deepEqual([first.status, first.commit, first.baseCommit, first.trusted], ['success', pull.head, repo.tip, false])
  await world.people.bob.create('dev.knotless.rerun', { repo: repo.uri, pull: pull.uri, createdAt: new Date().toISOString() })
  await until(async () => (await checks(repo)).filter(check => check.pull === pull.uri && check.finishedAt !== undefined).length === 2, {
    timeout: 60_000,
    what: 'the rerun to end',
  })
  await world.people.mallory.create('dev.knotless.rerun', { repo: repo.uri, pull: pull.uri, createdAt: new Date().toISOString() })
  await running.stop()
  assert.equal(world.gates.came('pulls'), 2, 'a stranger asks for nothing')
})

test('RUN-4 a push runs its workflows, and the push that lands a trusted batch takes over what the batch passed', async () => {
  const repo = await world.orchard('pushes', { files: files('pushes') })
  const running = await world.start({ repos: [repo] })
  await until(async () => (await world.people.rigby.list('dev.knotless.lander')).some(({ value }) => value.repo === repo.uri))
  const hand = commit(repo.gitDir, 'by-hand', { ...files('pushes'), 'README.md': 'By hand.\n' }, { parents: [repo.tip] })
  await repo.push('main', hand)
  const pushed = await ended(repo, check => check.commit === hand)
  assert.deepEqual([pushed.status, pushed.pull, pushed.batch], ['success', undefined, undefined])

  const pull = await repo.openPull({ branch: 'own', files: { ...files('pushes'), 'o.txt': '' }, author: world.people.bob, parents: [hand] })
  await queue(world, repo, pull)
  const landed = await merged(world, pull)
  const over = await ended(repo, check => check.commit === landed && check.batch === undefined)
  assert.equal(over.status, 'success')
  assert.equal(typeof over.reusedFrom, 'string')
  await running.stop()
  assert.equal(world.gates.came('pushes'), 2, 'the landing ran nothing')
})
