import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { z } from 'zod'
import { dropWords } from '../../src/queue/words/runner.ts'
import { type BatchedOrchard, minutesAgo, plantBatched } from './made-batches.ts'
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

/** A batch that ended so many minutes ago after so many more, its run all the time. */
function past(n: number, ended: number, took: number, fields: Record<string, unknown> = {}): Promise<string> {
  const times = { createdAt: minutesAgo(ended + took), startedAt: minutesAgo(ended + took), finishedAt: minutesAgo(ended) }
  return made.check({ commit: made.commit(n), baseCommit: made.commit(n + 1), batch: made.membersOf([3], n), ...times, ...fields })
}

async function page(query = ''): Promise<string> {
  return await (await fetch(`${server.url}/alice.test/${made.name}/queue/main${query}`)).text()
}

/** The text of the page without its markup, on one line. */
async function textOf(query = ''): Promise<string> {
  return (await page(query)).replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
}

const expected = z.object({ from: z.string(), to: z.string(), basis: z.string() })
const answered = z.object({
  batches: z.array(
    z.object({ expected, checks: z.array(z.object({ usual: z.object({ from: z.int(), typical: z.int(), to: z.int() }) })) }),
  ),
  queued: z.array(z.object({ standing: z.object({ expected }) })),
  activity: z.array(z.object({ says: z.string(), record: z.string() })),
})

async function answer() {
  const url = `${server.url}/xrpc/dev.knotless.getQueue?repo=${encodeURIComponent(made.orchard.repo)}`
  return answered.parse(await (await fetch(url)).json())
}

test('REA-1 a queue in flight says what its runs usually take and when its pulls land, and so does its XRPC answer', async () => {
  for (const n of [1, 2, 3, 4]) await past(100 + n, 60 * n, 12)
  for (const pull of made.orchard.pulls.slice(0, 3)) await made.orchard.queue(pull)
  const members = made.membersOf([0], 50)
  await made.check({ commit: made.commit(50), batch: members, status: 'running', createdAt: minutesAgo(4), startedAt: minutesAgo(4) })
  const text = await textOf()
  assert.match(text, /lands in (7–8|8–9|under 9|about 8) min/)
  assert.match(text, /test 4 min of about 12 min/)
  assert.match(text, /Landing times come from the last 4 batches that passed\./)
  assert.match(
    await page(),
    /<progress value="33" max="100" data-from="[^"]+" data-for="720" aria-label="test: running, usually about 12 min">/,
  )
  assert.match(await page(), new RegExp(`<a class="title" href="/alice\\.test/${made.name}/batches/${made.commit(50)}">Batch of 1`))
  const body = await answer()
  assert.deepEqual(body.batches[0]?.checks[0]?.usual, { from: 720, typical: 720, to: 720 })
  assert.equal(body.queued[2]?.standing.expected.basis, 'from the last 4 batches that passed')
  assert.match(body.activity[0]?.says ?? '', /^(alice\.test|did:plc:\w+) queued: Pull \d$|^rigby\.test built a batch of 1/)
})

test('where nothing is known yet it is said why there is no estimate', async () => {
  await made.orchard.queue(made.orchard.pulls[0] ?? '')
  await made.check({
    commit: made.commit(50),
    batch: made.membersOf([0], 50),
    status: 'running',
    createdAt: minutesAgo(1),
    startedAt: minutesAgo(1),
  })
  assert.match(await textOf(), /No estimate: no batch has passed here yet\./)
})

test('MOV-4 STW-10 the column of what happened tells of drops and of the steward, each line with its record', async () => {
  const cancelled = { status: 'cancelled', cause: dropWords('branch-moved'), batch: made.membersOf([0, 1], 60) }
  for (const pull of made.orchard.pulls.slice(0, 2)) await made.orchard.queue(pull)
  const dropped = await past(60, 5, 3, cancelled)
  const ejection = await made.orchard.write(madeUp.runner, 'dev.knotless.queue', made.orchard.key(), {
    repo: made.orchard.repo,
    subject: made.orchard.pulls[1] ?? '',
    state: 'ejected',
    kind: 'checks',
    commit: made.head(1),
    reason: 'test failed. It failed alone.',
    checks: [{ workflow: 'test', status: 'failure', check: dropped }],
  })
  const decision = {
    repo: made.orchard.repo,
    subject: made.orchard.pulls[1] ?? '',
    ejection,
    head: made.head(1),
    verdict: 'reject',
    kind: 'other',
    assertion: '2 is not 3 <b>',
    evidence: [{ uri: dropped }],
    attempt: 1,
  }
  const uri = await made.orchard.write(madeUp.runner, 'dev.knotless.decision', made.orchard.key(), decision)
  const html = await page()
  const text = await textOf()
  assert.match(text, /A batch of 2 was dropped: main moved by another push, so it is built again See the batch/)
  assert.match(text, /The steward rejected: Pull 1 /)
  assert.match(text, /Ejected, test failed: Pull 1 /)
  assert.match(text, /Steward: rejected “2 is not 3 &lt;b&gt;” failed, which no known flake explains\. Evidence: the run \. Record/)
  assert.ok(html.includes(`href="/at/${uri.replace('at://', '')}"`), 'the decision’s record is linked to')
  assert.ok(html.includes(`href="/at/${dropped.replace('at://', '')}"`), 'and that of the drop')
})

test('what the steward put back is said where it waits, and stays among what was ejected lately with its place', async () => {
  const [first = ''] = made.orchard.pulls
  await made.orchard.queue(first)
  const about = { repo: made.orchard.repo, subject: first }
  const ejection = await made.orchard.write(madeUp.runner, 'dev.knotless.queue', made.orchard.key(), {
    ...about,
    state: 'ejected',
    kind: 'checks',
    commit: made.head(0),
    reason: 'test failed. It failed alone.',
  })
  const why = { kind: 'flake', head: made.head(0), attempt: 1 }
  await made.orchard.write(madeUp.runner, 'dev.knotless.decision', made.orchard.key(), {
    ...about,
    ejection,
    ...why,
    verdict: 'requeue',
    entry: 'frost',
    evidence: [],
  })
  await made.orchard.write(madeUp.owner, 'dev.knotless.queue', made.orchard.key(), {
    ...about,
    state: 'queued',
    requeue: { ...why, evidence: [] },
  })
  const text = await textOf()
  assert.match(text, /The steward put it back: a known flake, 1 of 2 at this head\./)
  assert.match(
    text,
    /Steward: requeued as a flake, 1 of 2 at this head\. Every failed assertion matches frost in the catalogue of known flakes\. It is back, 1st of 1\./,
  )
})

test('1,000 entries page by 50, are filtered in the address, and a page takes no second', async () => {
  made = await plantBatched(server.context, ++many, 1_000)
  for (const n of [1, 2, 3]) await past(100 + n, 60 * n, 12)
  for (const pull of made.orchard.pulls) await made.orchard.queue(pull)
  const rows = (html: string) => html.match(/<li id="entry-/g)?.length
  const first = await page()
  assert.equal(rows(first), 50)
  assert.match(first, /1 to 50 of 1,000/)
  const last = await page('?page=20')
  assert.deepEqual([rows(last), /951 to 1,000 of 1,000/.test(last)], [50, true])
  const filtered = await page(`?q=${encodeURIComponent('Pull 77')}`)
  assert.deepEqual([rows(filtered), /value="Pull 77"/.test(filtered)], [19, true])
  const took: number[] = []
  for (const at of [3, 4, 5, 6, 7]) {
    const startedAt = performance.now()
    await page(`?page=${at}`)
    took.push(performance.now() - startedAt)
  }
  const middle = took.sort((a, b) => a - b)[2] ?? 0
  assert.ok(middle < 1_000, `${middle} ms`)
})
