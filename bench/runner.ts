/** The whole runner as a program beside the server, on a local network: how long a queued pull waits for its run, and a passed batch for its landing. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { type RunnerWorld, startRunnerWorld } from '../test/runner/runner-world.ts'
import type { Planted } from '../test/server/gateway-world.ts'
import { type Figure, limited, median, quantile } from './figures.ts'

const LANDINGS = 12
const program = resolve(import.meta.dirname, '../src/cli/main.ts')

const event = z.object({
  kind: z.literal('commit'),
  commit: z.object({
    operation: z.string(),
    collection: z.string(),
    record: z.looseObject({
      status: z.string().optional(),
      finishedAt: z.string().optional(),
      batch: z.array(z.looseObject({ pull: z.string() })).optional(),
    }),
  }),
})

/** When something of a pull's batch was first heard of, in milliseconds since 1970; `ended` as the run says itself. */
interface Times {
  queued: number
  running?: number
  ended?: number
  landed?: number
}

export async function benchRunner(): Promise<Figure[]> {
  const world = await startRunnerWorld()
  try {
    const repo = await world.orchard('speed')
    const pulls = []
    for (let n = 0; n < LANDINGS; n++) pulls.push(await repo.openPull({ branch: `p${n}`, files: { [`p${n}.txt`]: 'x\n' } }))
    const child = await startProgram(world, repo)
    const all: Times[] = []
    try {
      for (const pull of pulls) all.push(await landOne(world, repo, pull))
    } finally {
      const gone = new Promise(done => child.once('exit', done))
      child.kill('SIGTERM')
      await gone
    }
    const toStart = all.map(({ queued, running = Number.NaN }) => running - queued)
    const toLand = all.map(({ ended = Number.NaN, landed = Number.NaN }) => landed - ended)
    return [
      limited('queued → first run started, idle runner, median', median(toStart), 'ms', 3_000),
      limited('queued → first run started, idle runner, slowest', Math.max(...toStart), 'ms', 3_000),
      limited("last run's end → branch moved, median", median(toLand), 'ms', 1_000),
      limited("last run's end → branch moved, p95", quantile(toLand, 0.95), 'ms', 1_000),
    ]
  } finally {
    await world.end()
  }
}

async function startProgram(world: RunnerWorld, repo: Planted) {
  const ready = join(world.dir, 'ready')
  const flags = ['--queue', '--executor', 'host', '--i-trust-every-author', '--ready-file', ready]
  const args = [program, 'runner', '--repo', `${world.people.alice.handle}/${repo.name}`, ...flags]
  const env = { PATH: process.env.PATH, ...world.env(), KNOTLESS_DATA: join(world.dir, 'program') }
  const child = spawn(process.execPath, args, { env, stdio: 'ignore' })
  for (let tries = 0; !existsSync(ready); tries++) {
    if (tries > 1_200) throw new Error('the runner did not start')
    await wait(50)
  }
  return child
}

/** Queues a pull and listens until its branch has moved. */
async function landOne(world: RunnerWorld, repo: Planted, pull: { uri: string; head: string }): Promise<Times> {
  const socket = new WebSocket(`${world.network.jetstreamUrl}?wantedCollections=dev.knotless.check&wantedCollections=dev.knotless.refs`)
  await new Promise((done, failed) => {
    socket.onopen = done
    socket.onerror = failed
  })
  const times: Times = { queued: 0 }
  const landed = new Promise<void>(done => {
    socket.onmessage = ({ data }) => {
      const heard = event.safeParse(JSON.parse(String(data)))
      if (!heard.success) return
      const { collection, record } = heard.data.commit
      const ours = record.batch?.some(member => member.pull === pull.uri) === true
      if (ours && record.status === 'running') times.running ??= Date.now()
      if (ours && record.finishedAt !== undefined) times.ended = Date.parse(record.finishedAt)
      if (collection === 'dev.knotless.refs' && times.ended !== undefined) {
        times.landed = Date.now()
        done()
      }
    }
  })
  const record = {
    repo: repo.uri,
    subject: pull.uri,
    state: 'queued',
    head: pull.head,
    branch: 'main',
    createdAt: new Date().toISOString(),
  }
  await world.people.bob.create('dev.knotless.queue', record)
  times.queued = Date.now()
  await landed
  socket.close()
  return times
}
