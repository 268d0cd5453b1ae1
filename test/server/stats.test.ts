import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { dev } from '../../src/lexicons/index.ts'
import { DAY, dayOf } from '../../src/queue/stats/figures.ts'
import { tidAt } from '../../src/queue/tid.ts'
import { dropWords } from '../../src/queue/words/runner.ts'
import { commit } from '../queue/made-up.ts'
import { madeUp, type Orchard, plantOrchard } from './orchard.ts'
import { type Served, serve } from './serve.ts'

const MINUTE = 60_000
/** Noon, so that a few hours more are the same day. */
const now = Math.floor(Date.now() / DAY) * DAY + 12 * 60 * MINUTE
const yesterday = now - DAY
const base = commit(1)

let server: Served
let orchard: Orchard
before(async () => {
  server = await serve(undefined, { overrides: { now: () => now } })
  orchard = await plantOrchard(server.context, { count: 8, handles: { [madeUp.owner]: 'alice.test', [madeUp.author]: 'carol.test' } })
  await tell()
})
after(async () => {
  await orchard?.stop()
  await server?.end()
})

const { owner, runner } = madeUp

function queue(pull: string, at: number, state: string, by = owner, more: Record<string, string> = {}) {
  return orchard.write(by, 'dev.knotless.queue', tidAt(at), {
    repo: orchard.repo,
    subject: pull,
    state,
    createdAt: new Date(at).toISOString(),
    ...more,
  })
}

function land(pull: string, at: number, tip: string, n: number) {
  const fields = { repo: orchard.repo, subject: pull, state: 'merged', commit: commit(n), batch: tip }
  return orchard.write(runner, 'dev.knotless.state', tidAt(at), { ...fields, createdAt: new Date(at).toISOString() })
}

function check(tip: string, workflow: string, at: number, minutes: number, more: Record<string, string | { test: string }[]> = {}) {
  return orchard.write(runner, 'dev.knotless.check', `queue:${tip.slice(-4)}:${workflow}`, {
    repo: orchard.repo,
    workflow,
    status: 'success',
    ref: 'refs/heads/main',
    generation: 1,
    commit: tip,
    baseCommit: base,
    batch: [{ pull: orchard.pulls[0] ?? '', head: commit(2), commit: tip }],
    of: 2,
    createdAt: new Date(at).toISOString(),
    startedAt: new Date(at).toISOString(),
    finishedAt: new Date(at + minutes * MINUTE).toISOString(),
    ...more,
  })
}

/** Yesterday three landed and two were turned away; today three landed. */
async function tell(): Promise<void> {
  const [a = '', b = '', c = '', d = '', e = '', f = '', g = ''] = orchard.pulls
  for (const [n, pull] of [a, b, c].entries()) {
    await queue(pull, yesterday + n, 'queued')
    await land(pull, yesterday + (n + 1) * 10 * MINUTE, commit(50), 60 + n)
  }
  await queue(d, yesterday + 5, 'queued')
  await queue(d, yesterday + MINUTE, 'ejected', runner, { kind: 'checks', reason: 'Its checks failed. See the logs.' })
  await queue(g, yesterday + 6, 'queued')
  await queue(g, yesterday + 2 * MINUTE, 'ejected', runner, { kind: 'preflight', reason: 'Its pre-flight failed.' })
  for (const [n, pull] of [d, e, f].entries()) {
    await queue(pull, now - 60 * MINUTE + n, 'queued')
    await land(pull, now - (n + 1) * 10 * MINUTE, commit(51), 70 + n)
  }
  await check(commit(50), 'lint', yesterday, 2)
  await check(commit(50), 'test', yesterday, 9, { retried: [{ test: 'core > slow' }] })
  await check(commit(52), 'lint', yesterday + 20 * MINUTE, 1, { status: 'failure' })
  await check(commit(52), 'test', yesterday + 20 * MINUTE, 1, { status: 'cancelled', cause: dropWords('batch-failed') })
  await check(commit(51), 'lint', now - 30 * MINUTE, 3)
  await check(commit(51), 'test', now - 30 * MINUTE, 5)
}

async function ask(path: string) {
  const answer = await fetch(`${server.url}${path}`)
  const text = await answer.text()
  return { status: answer.status, type: answer.headers.get('content-type') ?? '', text }
}

async function stats(params: Record<string, string>) {
  const { text } = await ask(`/xrpc/dev.knotless.getQueueStats?${new URLSearchParams({ repo: orchard.repo, ...params })}`)
  return dev.knotless.getQueueStats.main.output.schema.parse(JSON.parse(text))
}

test('REA-3 getQueueStats gives each figure by UTC day', async () => {
  const { days, all } = await stats({ branch: 'main' })
  assert.equal(days.length, 30)
  assert.deepEqual(
    days.slice(-2).map(day => [day.day, day.queued, day.landed, day.medianMinutes, day.p95Minutes, day.ejectedFor]),
    [
      [dayOf(yesterday), 5, 3, 20, 30, { conflict: 0, checks: 1, preflight: 1, branchGone: 0, other: 0 }],
      [dayOf(now), 3, 3, 40, 60 * 24 - 10, { conflict: 0, checks: 0, preflight: 0, branchGone: 0, other: 0 }],
    ],
    'what was turned away yesterday waited since then',
  )
  assert.deepEqual(
    days.slice(-2).map(day => [day.batchesPassed, day.batchesEnded, day.longestRunSeconds, day.cancelled?.batchFailed]),
    [
      [1, 2, 300, 1],
      [1, 1, 300, 0],
    ],
  )
  assert.deepEqual([all?.landed, all?.ejected, all?.retried], [6, 2, [{ workflow: 'test', test: 'core > slow', times: 1 }]])
})

test('REA-3 getQueueStats begins at the day that is asked for, and says which repositories and branches are not there', async () => {
  assert.equal((await stats({ since: new Date(yesterday).toISOString() })).days.length, 2)
  assert.equal((await stats({ since: '1999-01-01T00:00:00Z' })).days.length, 400)
  assert.equal((await stats({ branch: 'idle' })).all?.landed, 0)
  const refused = async (params: Record<string, string>) =>
    JSON.parse((await ask(`/xrpc/dev.knotless.getQueueStats?${new URLSearchParams(params)}`)).text).error
  assert.equal(await refused({ repo: orchard.repo, branch: 'nowhere' }), 'BranchNotFound')
  assert.equal(await refused({ repo: `${orchard.repo}-2` }), 'RepoNotFound')
})

test('REA-1 getQueue gives the figures of today and of seven days', async () => {
  const { text } = await ask(`/xrpc/dev.knotless.getQueue?${new URLSearchParams({ repo: orchard.repo, branch: 'main' })}`)
  const { stats: figures } = dev.knotless.getQueue.main.output.schema.parse(JSON.parse(text))
  assert.deepEqual(
    figures?.map(({ days, landed, ejected, medianMinutes, batchesPassed, batchesEnded }) => [
      days,
      landed,
      ejected,
      medianMinutes,
      batchesPassed,
      batchesEnded,
    ]),
    [
      [1, 3, 0, 40, 1, 1],
      [7, 6, 2, 30, 2, 3],
    ],
  )
})

test('REA-4 figures stay when the checks are taken away', async () => {
  const before = await stats({ branch: 'main' })
  for (const tip of [commit(50), commit(52)]) {
    for (const workflow of ['lint', 'test']) await orchard.remove(runner, 'dev.knotless.check', `queue:${tip.slice(-4)}:${workflow}`)
  }
  assert.deepEqual(await stats({ branch: 'main' }), before)
})

const page = '/alice.test/orchard/stats'

test('REA-3 the page says the figures, draws them with the healthy bounds and has the same numbers as a table', async () => {
  const { status, text } = await ask(page)
  assert.equal(status, 200)
  assert.match(text, /<title>Stats, 30 days · alice\.test\/orchard · knotless<\/title>/)
  const figures = [...text.matchAll(/<dt>([^<]*)<\/dt>\s*<dd>([^<]*)<\/dd>/g)].map(([, name, value]) => [name, value])
  assert.deepEqual(figures, [
    ['Landed', '6'],
    ['Queued → landed, median', '30 min'],
    ['95th percentile', '23 h'],
    ['Ejected', '25 %'],
    ['Batches passed', '66.7 %'],
    ['A batch’s run', '5 min'],
  ])
  assert.equal(text.match(/class="plot sheet"/g)?.length, 4)
  assert.equal(text.match(/<line class="bound"/g)?.length, 3)
  const total = /<tfoot>(.*?)<\/tfoot>/s.exec(text)?.[1] ?? ''
  assert.deepEqual(
    [...total.matchAll(/<td>([^<]*)<\/td>/g)].map(match => match[1]),
    ['8', '6', '30', '1430', '0', '1', '1', '0', '0', '3', '2', '5', '1', '1'],
  )
  assert.equal(
    /<tbody>(.*?)<\/tbody>/s.exec(text)?.[1]?.match(/<tr>/g)?.length,
    2,
    'it begins with the first day on which anything happened',
  )
  assert.match(text, /Nothing happened before [^<]* Commonly called healthy: queued → landed under 30 minutes/)
  assert.match(text, /the batch, or the one under it, had failed<\/th>\s*<td>1<\/td>/)
  assert.match(text, /<bdi>core &gt; slow<\/bdi>/)
})

test('REA-3 a bar leads to the pulls of its day', async () => {
  const { text } = await ask(page)
  const day = dayOf(yesterday)
  const href = new RegExp(`<a href="([^"]*day=${day}[^"]*)" tabindex="-1"><title>[^<]*: 3 landed, 2 ejected: checks<`).exec(text)?.[1]
  assert.equal(href, `${page}?day=${day}#day`)
  const listed = (await ask(href?.replace('#day', '') ?? '')).text
  const section = /<section id="day".*?<\/section>/s.exec(listed)?.[0] ?? ''
  assert.deepEqual(
    [...section.matchAll(/<h3>([^<]*) <span class="count">(\d+)<\/span>|dir="auto">([^<]*)</g)].map(
      ([, name, n, title]) => title ?? `${name} ${n}`,
    ),
    ['Landed 3', 'Pull 0', 'Pull 1', 'Pull 2', 'Ejected: checks 1', 'Pull 3', 'Ejected: pre-flight 1', 'Pull 6'],
  )
  assert.match(section, /10 min after it was first queued/)
  assert.match((await ask(`${page}?day=2001-01-01`)).text, /Nothing landed and nothing was turned away on this day\./)
})

test('REA-3 too few landings are said and not drawn; a branch alone, and days side by side', async () => {
  const idle = (await ask(`${page}?branch=idle&days=7`)).text
  assert.match(idle, /Fewer than five landings in this span: too few to draw\./)
  assert.doesNotMatch(idle, /class="plot/)
  const compared = (await ask(`${page}?compare=${dayOf(now)}`)).text
  const table = /<table class="small" id="compared">.*?<\/table>/s.exec(compared)?.[0] ?? ''
  assert.deepEqual(
    [...table.matchAll(/<td>([^<]*)<\/td>\s*<td>([^<]*)<\/td>/g)].map(([, before, since]) => [before, since]),
    [
      ['3', '3'],
      ['20 min', '40 min'],
      ['30 min', '23 h'],
      ['40 %', '0 %'],
      ['50 %', '100 %'],
      ['5 min', '5 min'],
    ],
  )
})

test('REA-3 CSV and JSON hold the numbers of the table', async () => {
  const csv = await ask(`${page}.csv?days=7`)
  assert.match(csv.type, /^text\/csv/)
  const lines = csv.text.trimEnd().split('\n')
  assert.equal(lines[0], 'day,queued,landed,median,p95,conflict,failed,preflight,gone,other,ended,passed,mins,cancelled,retry')
  assert.deepEqual(lines.slice(-2), [`${dayOf(yesterday)},5,3,20,30,0,1,1,0,0,2,1,5,1,1`, `${dayOf(now)},3,3,40,1430,0,0,0,0,0,1,1,5,0,0`])
  assert.equal(lines.length, 8)
  const json = JSON.parse((await ask(`${page}.json?days=90`)).text)
  assert.equal(json.days.length, 90)
  assert.deepEqual([json.repo, json.all.landed, json.cancelled['batch-failed'], json.retried.length], [orchard.repo, 6, 1, 1])
})

test('addresses of figures that are not there, or ask for what is not given, are said so', async () => {
  const statuses = async (...paths: string[]) => Promise.all(paths.map(async path => (await ask(path)).status))
  assert.deepEqual(
    await statuses('/alice.test/nowhere/stats', `${page}?branch=nowhere`, `${page}.csv?branch=nowhere`, '/bob.test/orchard/stats.json'),
    [404, 404, 404, 404],
  )
  assert.deepEqual(await statuses(`${page}?days=31`, `${page}?day=yesterday`), [400, 400])
  assert.deepEqual(await statuses(`${page}?day=2026-13-45`, `${page}?compare=2026-13-45`), [200, 200])
})
