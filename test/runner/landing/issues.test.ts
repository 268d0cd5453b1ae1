import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { OpenedPull, Planted } from '../../server/gateway-world.ts'
import { type LandingWorld, landerOf, startLandingWorld, statesOf } from './world.ts'

let world: LandingWorld
before(async () => {
  world = await startLandingWorld()
})
after(() => world?.end())

async function closing(repo: Planted, branch: string, body: string): Promise<OpenedPull> {
  return await world.queued(repo, branch, { body })
}

test('LND-6 a landing closes the issues that its messages name, each once, by the first pull that names it', async () => {
  const { rigby } = world.people
  const repo = await world.orchard('closes')
  const [both, quoted, second] = [await world.issue(repo, 'Worms'), await world.issue(repo, 'Wasps'), await world.issue(repo, 'Mould')]
  const a = await closing(repo, 'a', `Fixes ${both}\n\n> closes ${quoted}`)
  const b = await closing(repo, 'b', `Closes ${both}, resolves ${second}`)
  const { done } = await world.hand().land(repo, [a, b])
  assert.ok(done.ok, JSON.stringify(done))
  const by = async (issue: string) => (await statesOf(rigby, issue)).map(({ state, pull }) => [state, pull])
  assert.deepEqual(await by(both), [['closed', a.uri]])
  assert.deepEqual(await by(second), [['closed', b.uri]])
  assert.deepEqual(await by(quoted), [])
})

test('LND-6 LND-8 over its bounds the rest is closed in the next pass, and said; a crash in between loses none and closes none twice', async () => {
  const { rigby } = world.people
  const repo = await world.orchard('many')
  const issues: string[] = []
  for (let n = 0; n < 23; n++) issues.push(await world.issue(repo, `Worm ${n}`))
  const a = await closing(repo, 'a', issues.map(issue => `Fixes ${issue}`).join('\n'))
  const hand = world.hand()
  const fault = world.network.faults.add({ fault: 'refuse', method: 'com.atproto.repo.applyWrites', account: rigby.did })
  const { done } = await hand.land(repo, [a])
  assert.ok(done.ok)
  assert.ok(hand.lines.some(line => line.fields.left === 3))
  fault.clear()
  const closed = async () => {
    const states = await rigby.list('dev.knotless.state')
    return issues.map(issue => states.filter(({ value }) => value.subject === issue && value.state === 'closed').length)
  }
  const count = async () => (await closed()).reduce((sum, n) => sum + n, 0)
  hand.book.close()
  const next = world.hand(rigby, { instance: hand.ctx.instance })
  await next.book.claim(await next.ground(repo))
  assert.ok((await next.landing.repair(await next.ground(repo))).ok)
  assert.equal(await count(), 20, 'as many as one call closes')
  const again = world.hand(rigby, { instance: hand.ctx.instance })
  await again.book.claim(await again.ground(repo))
  assert.ok((await again.landing.repair(await again.ground(repo))).ok)
  assert.ok((await again.landing.repair(await again.ground(repo))).ok)
  assert.deepEqual(new Set(await closed()), new Set([1]))
  assert.equal((await landerOf(rigby, repo))?.intent, undefined)
  assert.equal((await statesOf(rigby, a.uri)).length, 1)
})

test('LND-6 a server that does not say which issues are open holds up no landing', async () => {
  const { rigby } = world.people
  const repo = await world.orchard('silent')
  const issue = await world.issue(repo)
  const a = await closing(repo, 'a', `Fixes ${issue}`)
  const hand = world.hand()
  const { UpstreamError } = await import('../../../src/atproto/upstream-error.ts')
  hand.ctx.appview.issues = async () => {
    throw new UpstreamError('timeout', 'x', 'no answer')
  }
  const { done } = await hand.land(repo, [a])
  assert.ok(done.ok)
  assert.deepEqual(await statesOf(rigby, issue), [])
})
