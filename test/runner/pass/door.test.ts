/** A repository's door over the real network: what rings while a pass goes on, passes that fail, what comes first in a pass. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createDoor, type DoorOptions, type RepositoryDoor } from '../../../src/runner/pass/repository.ts'
import { until } from '../../support/until.ts'
import { type Opened, openParts, type RunnerWorld, startRunnerWorld } from '../runner-world.ts'

let world: RunnerWorld
let opened: Opened
before(async () => {
  world = await startRunnerWorld()
  opened = await openParts(world, [await world.orchard('doors')])
})
after(async () => {
  await opened?.close()
  await world?.end()
})

type Passed = Parameters<DoorOptions['onPass']>[0]

/** A door of the repository whose passes are noted, and wait for `gate` before they begin. */
function door(options: { gate?: () => Promise<void>; parts?: DoorOptions['parts'] } = {}): { door: RepositoryDoor; passes: Passed[] } {
  const [repo] = opened.parts.ctx.settings.repos
  assert.ok(repo !== undefined)
  const passes: Passed[] = []
  async function turn<T>(work: () => Promise<T>): Promise<T> {
    await options.gate?.()
    return await work()
  }
  return { door: createDoor({ repo, parts: options.parts ?? opened.parts, turn, onPass: pass => passes.push(pass) }), passes }
}

test('NOT-4 whatever rings during a pass is answered by one more, and never two go on at once', async () => {
  let going = 0
  let most = 0
  const { parts } = opened
  const counted = {
    ...parts,
    reads: {
      ...parts.reads,
      async ground(repo: Parameters<typeof parts.reads.ground>[0]) {
        most = Math.max(most, ++going)
        try {
          return await parts.reads.ground(repo)
        } finally {
          going--
        }
      },
    },
  }
  const { door: one, passes } = door({ parts: counted })
  one.ring('first')
  await until(() => going === 1)
  for (let n = 0; n < 20; n++) one.ring(`again ${n}`)
  await one.quiet()
  assert.equal(passes.length, 2)
  assert.equal(most, 1)
  one.ring('later')
  await one.quiet()
  assert.equal(passes.length, 3)
  one.close()
  one.ring('closed')
  await one.quiet()
  assert.equal(passes.length, 3, 'a closed door is not answered')
})

test('NOT-3 a pass that fails says why, and the next one works', async () => {
  const { door: one, passes } = door()
  const fault = world.network.faults.add({ fault: 'refuse', method: 'com.atproto.repo.getRecord', account: world.people.alice.did })
  one.ring('first')
  await one.quiet()
  assert.ok(fault.hits() > 0)
  assert.equal(typeof passes[0]?.failed, 'string')
  assert.equal(one.trouble, passes[0]?.failed)
  world.network.faults.clear()
  one.ring('again')
  await one.quiet()
  assert.equal(passes[1]?.failed, undefined)
  assert.equal(one.trouble, undefined)
  assert.ok(one.last !== undefined)
  one.close()
})

test('NOT-4 in a pass reruns, pushes and pulls come before queues', async () => {
  const order: string[] = []
  const { parts } = opened
  const noted = {
    ...parts,
    others: {
      ...parts.others,
      async take() {
        order.push('others')
      },
    },
    landing: {
      ...parts.landing,
      repair(ground: Parameters<typeof parts.landing.repair>[0]) {
        order.push('queues')
        return parts.landing.repair(ground)
      },
    },
  }
  const { door: one, passes } = door({ parts: noted })
  one.ring('first')
  await one.quiet()
  assert.equal(passes[0]?.failed, undefined)
  assert.deepEqual(order, ['others', 'queues'])
  one.close()
})

test('REC-8 with a clock an hour off nothing is landed or ejected, and what waits says so', async () => {
  const { parts } = opened
  const { door: one, passes } = door({ parts: { ...parts, clockSkew: async () => 3_600_000 } })
  const pull = await opened.repos[0]?.openPull({ branch: 'early', files: { 'e.txt': '' } })
  assert.ok(pull !== undefined)
  const entry = {
    repo: opened.repos[0]?.uri ?? '',
    subject: pull.uri,
    state: 'queued',
    head: pull.head,
    branch: 'main',
    createdAt: new Date().toISOString(),
  }
  await world.people.bob.create('dev.knotless.queue', entry)
  one.ring('first')
  await one.quiet()
  assert.equal(passes[0]?.failed, undefined)
  assert.deepEqual(passes[0]?.done?.did, [])
  assert.match(passes[0]?.done?.waitsFor.join(' ') ?? '', /clock/)
  one.close()
})

test('WHO-8 while another process of the account holds the lease, its checks and its runs are left alone', async () => {
  const { parts } = opened
  const touched: string[] = []
  const other = {
    ...parts,
    book: { ...parts.book, claim: async () => ({ ok: false as const, until: Date.now() + 60_000 }) },
    runs: { ...parts.runs, recover: async () => void touched.push('recover') },
    others: { ...parts.others, take: async () => void touched.push('take') },
  }
  const { door: one, passes } = door({ parts: other })
  one.ring('first')
  await one.quiet()
  assert.equal(passes[0]?.failed, undefined)
  assert.deepEqual(touched, [])
  assert.match(passes[0]?.done?.waitsFor.join(' ') ?? '', /Another process/)
  one.close()
})
