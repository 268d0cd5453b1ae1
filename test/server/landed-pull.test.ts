import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { madeUp, type Orchard, plantOrchard } from './orchard.ts'
import { type Served, serve } from './serve.ts'

const LANDINGS = 9

let server: Served
let orchard: Orchard
/** Keys of the first batch's checks. */
const firstChecks: string[] = []

const hex = (n: number) => n.toString(16).padStart(40, '0')
const tipOf = (landing: number) => hex(1000 + 2 * landing + 1)

/** Nine batches of two land one after the other, each checked by two workflows. */
before(async () => {
  server = await serve()
  orchard = await plantOrchard(server.context, { count: 2 * LANDINGS, handles: { [madeUp.runner]: 'rigby.test' } })
  const { repo, pulls, write, key } = orchard
  const { runner } = madeUp
  for (let landing = 0; landing < LANDINGS; landing++) {
    const members = [0, 1].map(n => ({
      pull: pulls[2 * landing + n] ?? '',
      head: hex(2 * landing + n + 2),
      commit: hex(1000 + 2 * landing + n),
    }))
    const tip = tipOf(landing)
    for (const { pull } of members) await orchard.queue(pull)
    for (const workflow of ['test', 'lint']) {
      const rkey = key()
      if (landing === 0) firstChecks.push(rkey)
      const ran = { status: 'success', startedAt: '2026-01-01T00:00:00Z', finishedAt: '2026-01-01T00:01:00Z' }
      const at = { repo, workflow, ref: 'refs/heads/main', generation: 1, commit: tip, baseCommit: hex(1), of: 2 }
      await write(runner, 'dev.knotless.check', rkey, { ...at, ...ran, batch: members, isolated: true })
    }
    for (const { pull, commit } of members)
      await write(runner, 'dev.knotless.state', key(), { repo, subject: pull, state: 'merged', commit, batch: tip })
  }
})
after(async () => {
  await orchard?.stop()
  await server?.end()
})

async function pageOf(n: number): Promise<string> {
  const answer = await fetch(`${server.url}/${madeUp.owner}/orchard/pulls/${madeUp.author}/${orchard.pulls[n]?.split('/').at(-1)}`)
  assert.equal(answer.status, 200)
  return (await answer.text()).replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
}

test('REA-5 a landed pull shows the pulls that share its batch and the checks of that batch, however long ago that was', async () => {
  for (const landing of [LANDINGS - 1, 0]) {
    const page = await pageOf(2 * landing)
    const [, checks = ''] = page.split(`Checks of its batch at ${tipOf(landing).slice(0, 7)} `)
    assert.match(checks, /^(test .*? Passed .*?lint|lint .*? Passed .*?test) .*? Passed/, `${landing}`)
    assert.match(page, new RegExp(`Pull ${2 * landing + 1}(?!\\d)`), `the other of ${landing}`)
    assert.match(page, /In a batch of 2/, `${landing}`)
  }
})

test('REA-5 where the batch’s checks were pruned, what was kept of them is shown and said to be that', async () => {
  for (const rkey of firstChecks) await orchard.remove(madeUp.runner, 'dev.knotless.check', rkey)
  const page = await pageOf(0)
  assert.match(page, /Its checks were cleared away by its runner; this is what was kept of them\./)
  assert.match(page, /lint .*? Passed .*?test .*? Passed|test .*? Passed .*?lint .*? Passed/)
  assert.match(page, /Pull 1(?!\d)/)
})

test('REA-5 with nothing kept, the runs at the same commit are shown, such as those of the push', async () => {
  const { repo, write, key } = orchard
  server.context.database.sqlite.exec('delete from past_run; delete from past_batch')
  const ran = { status: 'success', startedAt: '2026-01-01T00:00:00Z', finishedAt: '2026-01-01T00:00:30Z' }
  const at = { repo, workflow: 'deploy', ref: 'refs/heads/main', generation: 1, commit: tipOf(0), baseCommit: hex(1) }
  await write(madeUp.runner, 'dev.knotless.check', key(), { ...at, ...ran })
  const page = await pageOf(0)
  assert.match(page, /Its checks were cleared away by its runner; its pulls say what landed\./)
  assert.match(page, /deploy .*? Passed/)
  assert.match(page, /Pull 1(?!\d)/)
})
