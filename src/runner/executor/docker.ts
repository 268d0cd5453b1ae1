import type Docker from 'dockerode'
import { runLines, runSummaries } from '../../queue/words/run.ts'
import type { Executor, Job, JobEnd, Log } from '../types.ts'
import { labels } from './container.ts'
import { makeRun } from './docker-run.ts'
import { answered, faultOf, openEngine, saidOf } from './engine.ts'
import { createImages, type ImageFound } from './image.ts'
import { limitsOf, type RunLimits } from './limits.ts'

export interface DockerOptions {
  /** Where the engine answers: Docker's API, of Docker or Podman. */
  socketPath: string
  /** Whose runs and caches they are: two runners on one engine have two, and one runner the same one at each start. */
  owner: string
  /** For workflows that name none. */
  image?: string | undefined
  allowNetwork: boolean
  log: Log
  limits?: Partial<RunLimits> | undefined
  /** `never`: images that the engine has, alone. Default `missing`: others are fetched. */
  pull?: 'missing' | 'never' | undefined
}

const pullMs = 15 * 60_000

/** Runs steps in containers, a fresh one for each run, through Docker's API. */
export function createDockerExecutor(options: DockerOptions): Executor {
  const engine = openEngine(options.socketPath)
  const images = createImages(engine, { pull: options.pull ?? 'missing', pullMs })
  const limits = limitsOf(options.limits)
  const { log, owner } = options
  /** Containers that could not be removed when their run ended. */
  const left = new Set<string>()
  const going = new Set<Promise<unknown>>()

  async function remove(id: string): Promise<void> {
    left.add(id)
    const container = engine.getContainer(id)
    try {
      // What does not run cannot be ended, and need not be.
      await answered(container.kill()).catch(() => undefined)
      await answered(container.remove({ force: true, v: true }))
      left.delete(id)
    } catch (error) {
      if (faultOf(error) === 'missing') left.delete(id)
      else log.warn('container of a run is left over', { container: id.slice(0, 12), said: saidOf(error) })
    }
  }

  async function run(job: Job): Promise<JobEnd> {
    const { workflow, signal } = job
    for (const id of left) await remove(id)
    const name = workflow.image ?? options.image
    if (name === undefined) return { end: 'error', summary: runSummaries.noDefaultImage() }
    if (workflow.network && !options.allowNetwork) return { end: 'error', summary: runSummaries.needsNetwork() }
    const image = await images.find(name, signal)
    if (signal.aborted) return { end: 'cancelled' }
    if (!image.ok) {
      log.warn('image is not there', { run: job.id, image: name, said: image.said })
      return imageEnd(image.why, name)
    }
    return makeRun({ engine, job, owner, limits, log, image: { name, id: image.id }, remove })
  }

  async function logged(job: Job): Promise<JobEnd> {
    let any = false
    const end = await run({
      ...job,
      onOutput(bytes) {
        any = true
        job.onOutput(bytes)
      },
    }).catch((error: unknown): JobEnd => {
      log.error('run broke', { run: job.id, said: saidOf(error) })
      return { end: 'error', verdict: 'other', summary: runSummaries.other() }
    })
    // A log is never empty: one that began nothing says why.
    if (!any) job.onOutput(Buffer.from(`${end.end === 'cancelled' ? runLines.cancelled() : end.summary}\n`))
    return end
  }

  return {
    kind: 'docker',
    isolated: true,
    run(job) {
      const one = logged(job)
      going.add(one)
      void one.finally(() => going.delete(one))
      return one
    },
    async sweep() {
      await sweepRuns(engine, owner, remove)
    },
    async close() {
      await Promise.allSettled(going)
      for (const id of left) await remove(id)
    },
  }
}

/** Removes containers and volumes of this owner's runs, whatever they do. Its caches stay. Rejects when the engine does not answer. */
async function sweepRuns(engine: Docker, owner: string, remove: (id: string) => Promise<void>): Promise<void> {
  const filters = { label: [`${labels.run}=${owner}`] }
  for (const { Id } of await answered(engine.listContainers({ all: true, filters }))) await remove(Id)
  const { Volumes } = await answered(engine.listVolumes({ filters: JSON.stringify(filters) }))
  // What a container still has cannot be removed, and goes with it.
  for (const { Name } of Volumes ?? []) await answered(engine.getVolume(Name).remove()).catch(() => undefined)
}

function imageEnd(why: Exclude<ImageFound, { ok: true }>['why'], name: string): JobEnd {
  switch (why) {
    case 'missing':
      return { end: 'error', summary: runSummaries.noImage(name) }
    case 'unfetched':
      return { end: 'error', verdict: 'other', summary: runSummaries.imageNotFetched(name) }
    case 'disk':
      return { end: 'error', verdict: 'disk', summary: runSummaries.diskFull() }
    case 'lost':
      return { end: 'error', verdict: 'executor-lost', summary: runSummaries.noEngine() }
  }
}
