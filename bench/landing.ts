/** What a landing takes over the local network, from a batch that passed to the branch moved, and to everything on record: by both ways of WHO-4. */
import { type LandingWorld, startLandingWorld } from '../test/runner/landing/world.ts'
import { type Figure, limited, median } from './figures.ts'

const ROUNDS = 7
/** Of the second that there is from the last run's end to the branch moved. */
const limit = 1_000

export async function benchLanding(rounds = ROUNDS): Promise<Figure[]> {
  const world = await startLandingWorld()
  try {
    return [
      ...(await landings(world, { by: 'rigby', how: 'through the gateway', size: 8, rounds })),
      ...(await landings(world, { by: 'alice', how: 'straight to the account', size: 8, rounds })),
    ]
  } finally {
    await world.end()
  }
}

async function landings(
  world: LandingWorld,
  { by, how, size, rounds }: { by: 'rigby' | 'alice'; how: string; size: number; rounds: number },
): Promise<Figure[]> {
  const repo = await world.orchard(`landed-by-${by}`)
  const hand = world.hand(world.people[by])
  const moved: number[] = []
  const whole: number[] = []
  for (let round = 0; round < rounds; round++) {
    const pulls = []
    for (let n = 0; n < size; n++) pulls.push(await world.queued(repo, `r${round}-${n}`))
    const batch = await hand.batch(repo, pulls)
    const ground = await hand.ground(repo)
    await hand.book.claim(ground)
    const begun = performance.now()
    const done = await hand.landing.land(ground, batch)
    whole.push(performance.now() - begun)
    if (!done.ok) throw new Error(`it did not land: ${JSON.stringify(done)}`)
    const line = hand.lines.findLast(one => one.event === 'landed')
    moved.push(Number(line?.fields.ms))
  }
  return [
    limited(`landing ${size} pulls ${how}, until the branch moved`, median(moved), 'ms', limit),
    limited(`landing ${size} pulls ${how}, until all is on record and read again`, median(whole), 'ms', 2 * limit),
  ]
}
