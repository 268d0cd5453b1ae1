import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { dropWords } from '../../src/queue/words/runner.ts'
import { type BatchedOrchard, base, minutesAgo, plantBatched } from './made-batches.ts'
import { madeUp } from './orchard.ts'
import { type Served, serve } from './serve.ts'

let server: Served
let made: BatchedOrchard
let many = 0

before(async () => {
  server = await serve()
})
after(() => server?.end())

beforeEach(async () => {
  made = await plantBatched(server.context, ++many)
})

/** A check of ten minutes ago. */
function check(fields: Record<string, unknown>, key?: string): Promise<string> {
  return made.check({ createdAt: minutesAgo(20), startedAt: minutesAgo(19), finishedAt: minutesAgo(10), ...fields }, key)
}

async function page(tip: string, query = '') {
  const answer = await fetch(`${server.url}/alice.test/${made.name}/batches/${tip}${query}`, { redirect: 'manual' })
  return { status: answer.status, text: await answer.text(), location: answer.headers.get('location') }
}

function merged(pull: number, fields: { commit: string; batch: string }): Promise<string> {
  return made.orchard.write(madeUp.runner, 'dev.knotless.state', made.orchard.key(), {
    repo: made.orchard.repo,
    subject: made.orchard.pulls[pull] ?? '',
    state: 'merged',
    ...fields,
  })
}

test('a batch in flight: its pulls in stacking order, its runs with their logs, live', async () => {
  for (const pull of made.orchard.pulls.slice(0, 2)) await made.orchard.queue(pull)
  const members = made.membersOf([0, 1], 10)
  const tip = made.commit(11)
  const going = { finishedAt: undefined, createdAt: minutesAgo(4), startedAt: minutesAgo(3), of: 2, commit: tip, batch: members }
  const uri = await check({ ...going, status: 'running' })
  await check({ ...going, workflow: 'docs', status: 'success', finishedAt: minutesAgo(1) })
  const { status, text } = await page(tip)
  assert.equal(status, 200)
  assert.match(text, /<title>Batch of 2, being checked · main · alice\.test\/orchard-1 · knotless<\/title>/)
  assert.match(text, /<b>Being checked:<\/b> 1 of 2 workflows has passed; test is running\./)
  assert.ok(text.indexOf('Pull 1</a>') < text.indexOf('Pull 0</a>'), 'the last on top')
  assert.match(text, /Workflows <span class="count">1 running, 1 passed<\/span>/)
  assert.match(text, new RegExp(`href="/alice\\.test/orchard-1/checks/rigby\\.test/${uri.split('/').at(-1)}">Log`))
  assert.match(text, /Built on main at/)
  assert.match(text, /data-live="fate"/)
  assert.match(
    text,
    /<link rel="alternate" type="application\/json" href="\/xrpc\/dev\.knotless\.listChecks\?repo=[^"]+&amp;commit=[0-9a-f]{40}">/,
  )
  assert.match((await page(tip, '?have=fate.x')).text, /^<hx-partial [^>]*>\s*<section id="fate"/)
  const short = await page(tip.slice(0, 9))
  assert.deepEqual([short.status, short.location], [302, `/alice.test/${made.name}/batches/${tip}`])
})

test('FAI-3 FAI-7 a batch that failed: it was halved, what landed of it and where, and which pull was left', async () => {
  const tip = made.commit(22)
  const failed = {
    commit: tip,
    batch: made.membersOf([0, 1, 2], 20),
    createdAt: minutesAgo(60),
    startedAt: minutesAgo(59),
    finishedAt: minutesAgo(50),
  }
  const failing = await check({ status: 'failure', ...failed, summary: 'Failed after 9 min, with exit code 1', report: undefined })
  await check({ workflow: 'e2e', status: 'cancelled', cause: 'cancelled', ...failed })
  const half = made.commit(31)
  await check({
    commit: half,
    batch: made.membersOf([0, 1], 30),
    createdAt: minutesAgo(49),
    startedAt: minutesAgo(49),
    finishedAt: minutesAgo(40),
  })
  await merged(0, { commit: made.commit(30), batch: half })
  await merged(1, { commit: half, batch: half })
  await made.orchard.write(madeUp.runner, 'dev.knotless.queue', made.orchard.key(), {
    repo: made.orchard.repo,
    subject: made.orchard.pulls[2] ?? '',
    state: 'ejected',
    kind: 'checks',
    commit: tip,
    reason: 'test failed. It failed on top of Pull 0 and Pull 1. Halving the batch found it',
    checks: [{ workflow: 'test', status: 'failure', check: failing }],
  })
  const { text } = await page(tip)
  assert.match(text, /<b>Failed:<\/b> test failed on this stack, so none of it landed as it stood\./)
  assert.match(text, /checked it in halves\. 2 of the 3 landed after all; <a href="[^"]+"><bdi>Pull 2<\/bdi><\/a> was ejected\./)
  assert.match(text, /Ejected<\/span> test failed\. It failed on top of Pull 0 and Pull 1\. Halving the batch found it\./)
  assert.match(
    text,
    new RegExp(`Landed</span> as <code>${made.commit(30).slice(0, 7)}</code>, <a href="[^"]+/batches/${half}">in another batch</a>`),
  )
  const story = text.slice(text.indexOf('id="story"'))
  assert.match(story, new RegExp(`<a class="long" href="[^"]+/checks/rigby\\.test/${failing.split('/').at(-1)}">test failed</a>`))
  assert.match(story, /e2e was cancelled/)
  assert.match(story, new RegExp(`href="[^"]+/batches/${half}">Pulls 1 and 2 checked again by themselves`))
  assert.match(story, new RegExp(`href="[^"]+/batches/${half}">Pulls 1 and 2 landed; main at`))
  assert.match(story, /href="\/at\/[^"]+">Pull 3 was ejected: test failed</)
  const landed = (await page(half)).text
  assert.match(landed, /<b>Landed:<\/b> main moved from/)
  assert.match(landed, /Landed; main at/)
})

test('FAI-8 a batch red only by runs without a verdict blames nobody', async () => {
  const tip = made.commit(40)
  await check({ status: 'error', verdict: 'executor-lost', commit: tip, batch: made.membersOf([0], 40) })
  const { text } = await page(tip)
  assert.match(text, /<b>No verdict:<\/b> test ended without a verdict\. No pull is blamed\./)
  assert.doesNotMatch(text, /Failed/)
})

test('MOV-1 MOV-2 a dropped batch says why, and because of which pull', async () => {
  const tip = made.commit(51)
  const dropped = { status: 'cancelled', commit: tip, batch: made.membersOf([0, 1], 50) }
  await check({ ...dropped, cause: dropWords('branch-moved') })
  assert.match((await page(tip)).text, /<b>Dropped:<\/b> main moved by another push, so the stack had to be built again\./)
  const other = made.commit(61)
  await check({
    ...dropped,
    commit: other,
    batch: made.membersOf([0, 1], 60),
    createdAt: minutesAgo(40),
    finishedAt: minutesAgo(1),
    cause: dropWords('pull-moved-on'),
  })
  await made.orchard.queue(made.orchard.pulls[1] ?? '')
  await made.orchard.write(madeUp.owner, 'dev.knotless.queue', made.orchard.key(), {
    repo: made.orchard.repo,
    subject: made.orchard.pulls[1] ?? '',
    state: 'left',
  })
  assert.match((await page(other)).text, /<bdi>Pull 1<\/bdi><\/a> left the queue while it was in this batch\./)
  const moved = made.commit(65)
  const [member] = made.membersOf([2], 65)
  await check({ ...dropped, commit: moved, batch: [{ ...member, head: 'd'.repeat(40) }], cause: dropWords('pull-moved-on') })
  assert.match(
    (await page(moved)).text,
    /<bdi>Pull 2<\/bdi><\/a> changed while it was in this batch, so what was checked was no longer the pull\./,
  )
})

test('REA-5 a batch whose checks were pruned is shown from what is kept of them, and from merged records', async () => {
  const tip = made.commit(71)
  const key = 'queue:pruned'
  await check({ commit: tip, batch: made.membersOf([0, 1], 70) }, key)
  await merged(0, { commit: made.commit(70), batch: tip })
  await merged(1, { commit: tip, batch: tip })
  assert.match((await page(tip)).text, /<b>Landed:<\/b>/)
  await made.orchard.remove(madeUp.runner, 'dev.knotless.check', key)
  const kept = (await page(tip)).text
  assert.match(kept, /<b>Landed:<\/b> main moved from/)
  assert.match(kept, /this is what was kept of them/)
  assert.match(kept, /Workflows <span class="count">1 passed<\/span>/)
  assert.doesNotMatch(kept, />Log</, 'its check is gone')

  const alone = made.commit(82)
  await merged(2, { commit: alone, batch: alone })
  const { text } = await page(alone)
  assert.match(text, /<h1>Batch of 1<\/h1>/)
  assert.match(text, /<b>Landed:<\/b> main moved to/)
  assert.match(text, /its pulls say what landed/)
})

test('CHK-9 a batch of an earlier branch of that name still has its page', async () => {
  const tip = made.commit(90)
  await check({ generation: 0, status: 'failure', commit: tip, batch: made.membersOf([0], 90) })
  assert.match((await page(tip)).text, /<b>Failed:<\/b> test failed on this stack, which held one pull\./)
})

test('HON-2 STA-7 what a stranger says of a batch is no batch, and what nobody tells of is not there', async () => {
  const tip = made.commit(95)
  await made.orchard.write(madeUp.author, 'dev.knotless.check', 'queue:theirs', {
    repo: made.orchard.repo,
    workflow: 'test',
    status: 'success',
    ref: 'refs/heads/main',
    generation: 1,
    commit: tip,
    baseCommit: base,
    batch: made.membersOf([0], 95),
  })
  await made.orchard.write(madeUp.author, 'dev.knotless.state', made.orchard.key(), {
    repo: made.orchard.repo,
    subject: made.orchard.pulls[0] ?? '',
    state: 'merged',
    commit: tip,
    batch: tip,
  })
  const { status, text } = await page(tip)
  assert.equal(status, 404)
  assert.match(text, /There is no batch/)
  for (const odd of ['x', '..%2f', 'f'.repeat(41), 'abc1234', '%3Cscript%3E']) assert.equal((await page(odd)).status, 404)
  assert.equal((await page('f'.repeat(65))).status, 400)
})
