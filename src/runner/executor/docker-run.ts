import { setTimeout as wait } from 'node:timers/promises'
import type Docker from 'dockerode'
import { runLines, runSummaries } from '../../queue/words/run.ts'
import type { Job, JobEnd, Log } from '../types.ts'
import { type CacheMount, cacheMounts, inside } from './cache.ts'
import { containerOptions, openRoot, skeleton } from './container.ts'
import { endOf, noTree } from './ending.ts'
import { answered, faultOf, saidOf } from './engine.ts'
import { execSteps } from './exec-steps.ts'
import { watchInside } from './inside-watch.ts'
import type { RunLimits } from './limits.ts'
import { readReport } from './report-out.ts'
import { createTranscript } from './transcript.ts'
import { watchRun } from './watch.ts'

export interface DockerRun {
  engine: Docker
  job: Job
  owner: string
  limits: RunLimits
  log: Log
  image: { name: string; id: string }
  /** Ends and removes a container, now or, where the engine does not answer, later. */
  remove: (container: string) => Promise<void>
}

/** How long an engine takes to know of a container that was ended. */
const settleMs = 500

/** Makes one run in a container of its own, which is gone afterwards. Never rejects for what an engine does. */
export async function makeRun(run: DockerRun): Promise<JobEnd> {
  const { job, limits, image } = run
  const began = performance.now()
  let kill = () => {}
  const watch = watchRun(job, () => kill())
  const transcript = createTranscript(job, limits.output, () => watch.stop('output'))
  let container: Docker.Container | undefined
  let unwatch = () => {}
  let ending: JobEnd
  const lines: string[] = []
  try {
    transcript.say(runLines.container(image.name, limits.memoryBytes, job.workflow.network))
    const mounts = await cacheMounts(job, run.owner, volume => exists(run.engine.getVolume(volume)))
    const made = await answered(
      run.engine.createContainer(containerOptions({ ...run, image: image.id, network: job.workflow.network, mounts })),
    )
    container = made
    for (const { target } of mounts) await answered(made.putArchive(openRoot(), { path: target }))
    await answered(made.putArchive(skeleton(job, mounts), { path: inside.root }))
    unwatch = await watchInside(run.engine, made, limits, watch)
    if (watch.stopped === undefined) await answered(made.start())
    kill = () => void made.kill().catch(() => undefined)
    ending = watch.stopped === undefined ? await runSteps(made, mounts) : endNow(null)
  } catch (error) {
    ending = broken(error)
  } finally {
    watch.end()
    unwatch()
    if (container !== undefined) await run.remove(container.id)
  }
  transcript.end([...lines, ending.end === 'cancelled' ? runLines.cancelled() : ending.summary])
  return ending

  async function runSteps(made: Docker.Container, mounts: readonly CacheMount[]): Promise<JobEnd> {
    const { report } = job.workflow
    const code = await execSteps(run, made, mounts, transcript, watch)
    if (watch.stopped !== undefined) return endNow(null)
    if (code === 'no-tree') return noTree(false)
    // A script that was killed may be the first sign of a container that is just being ended.
    if (code === 137) await wait(settleMs)
    const { State } = await answered(made.inspect())
    // Somebody else ended it, such as an engine that was told to stop; or it was the largest when memory ran out.
    if (!State.Running && !State.OOMKilled) watch.stop('lost')
    const { tree } = transcript.progress
    if (State.Running && tree === 127) return { end: 'error', summary: runSummaries.unfitImage(image.name) }
    if (State.Running && tree !== 0) return noTree(false)
    const read = report === undefined || !State.Running ? undefined : await readReport(made, report, limits.reportBytes)
    if (report !== undefined && read === undefined) lines.push(runLines.noReport(report))
    return endNow(code, State.OOMKilled, read)
  }

  function endNow(code: number | null, outOfMemory = false, report?: Uint8Array): JobEnd {
    const took = performance.now() - began
    return endOf({ stop: watch.stopped, code, progress: transcript.progress, took, timeoutMs: job.timeoutMs, limits, outOfMemory, report })
  }

  function broken(error: unknown): JobEnd {
    if (watch.stopped !== undefined) return endNow(null)
    const said = error instanceof Error ? error.message : String(error)
    run.log.warn('run broke', { run: job.id, said: saidOf(error) })
    if (/executable file not found|stat .*sh: no such file/i.test(said))
      return { end: 'error', summary: runSummaries.unfitImage(image.name) }
    const fault = faultOf(error)
    if (fault === 'lost' || fault === 'missing') return { end: 'error', verdict: 'executor-lost', summary: runSummaries.engineLost() }
    if (fault === 'disk') return noTree(true)
    return { end: 'error', verdict: 'other', summary: runSummaries.other() }
  }
}

async function exists(volume: Docker.Volume): Promise<boolean> {
  try {
    await answered(volume.inspect())
    return true
  } catch (error) {
    if (faultOf(error) === 'missing') return false
    throw error
  }
}
