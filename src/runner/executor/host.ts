import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runLines, runSummaries } from '../../queue/words/run.ts'
import type { Executor, Job, JobEnd, Log } from '../types.ts'
import { endOf, noTree, type Stop } from './ending.ts'
import { limitsOf, type RunLimits } from './limits.ts'
import { endTree, runVariable } from './process-tree.ts'
import { mergeReports, readReports } from './report.ts'
import { stepsScript } from './steps.ts'
import { createTranscript } from './transcript.ts'
import { putTree } from './tree.ts'
import { watchDisk, watchRun } from './watch.ts'

export interface HostOptions {
  /** Runs have their folders in it; two executors that run at once have two. */
  dir: string
  log: Log
  limits?: Partial<RunLimits> | undefined
}

const prefix = 'run-'
/** How long what is left of a run's output may take once its processes have ended. */
const lastOutputMs = 10_000

/**
 * Runs steps as child processes of this one, each run in a process group and a folder of its own, with a clean environment. Nothing is isolated:
 * not the network, not the machine's files; memory and processes are not limited, caches are not kept, and `image` is not looked at (WHO-5).
 */
export function createHostExecutor(options: HostOptions): Executor {
  const limits = { ...limitsOf(options.limits), enforced: false }
  const going = new Set<Promise<unknown>>()

  async function run(job: Job): Promise<JobEnd> {
    if (job.signal.aborted) return { end: 'cancelled' }
    const mark = `${job.id}-${randomBytes(6).toString('hex')}`
    const folder = join(options.dir, prefix + mark)
    try {
      return await runIn(folder, mark, job, limits)
    } catch (error) {
      options.log.error('run broke', { run: job.id, said: codeOf(error) })
      if (codeOf(error) === 'ENOSPC') return noTree(true)
      return { end: 'error', verdict: 'other', summary: runSummaries.other() }
    } finally {
      await endTree(mark)
      await remove(folder, options.log)
    }
  }

  return {
    kind: 'host',
    isolated: false,
    run(job) {
      const one = run(job)
      going.add(one)
      void one.finally(() => going.delete(one))
      return one
    },
    async sweep() {
      const names = await readdir(options.dir).catch(() => [])
      for (const name of names) {
        if (!name.startsWith(prefix)) continue
        await endTree(name.slice(prefix.length))
        await remove(join(options.dir, name), options.log)
      }
    },
    async close() {
      await Promise.allSettled(going)
    },
  }
}

async function runIn(folder: string, mark: string, job: Job, limits: RunLimits): Promise<JobEnd> {
  const began = performance.now()
  const { workflow } = job
  const own = { tree: join(folder, 'tree'), steps: join(folder, 'steps'), home: join(folder, 'home'), tmp: join(folder, 'tmp'), mark }
  for (const path of [own.tree, own.steps, own.home, own.tmp]) await mkdir(path, { recursive: true, mode: 0o700 })
  await Promise.all(workflow.steps.map(({ run }, i) => writeFile(join(own.steps, `${i + 1}`), `${run}\n`)))

  let end = () => {}
  const watch = watchRun(job, () => end())
  const transcript = createTranscript(job, limits.output, () => watch.stop('output'))
  try {
    const put = await putTree(job.source, own.tree, watch.signal)
    if (!put.ok && watch.stopped === undefined) {
      const ending = noTree(put.full)
      transcript.end([ending.summary])
      return ending
    }
    const code = watch.stopped === undefined ? await runSteps() : null
    return await finish(code, watch.stopped)
  } finally {
    watch.end()
  }

  async function runSteps(): Promise<number | null> {
    transcript.say(runLines.host())
    const words = ['-c', stepsScript(), 'sh', own.steps, `${workflow.steps.length}`, `${workflow.retries}`, transcript.mark, 'unlimited']
    const nice = job.weight === 'low' ? ['nice', '-n', '10'] : []
    const [command = 'sh', ...args] = [...nice, 'sh', ...words]
    const child = spawn(command, args, { cwd: own.tree, env: environment(job, own), stdio: ['ignore', 'pipe', 'ignore'], detached: true })
    const closed = once(child, 'close').catch(() => undefined)
    const exited = new Promise<number | null>((resolve, reject) => child.once('exit', resolve).once('error', reject))
    end = () => void endTree(mark, child.pid)
    const disk = watchDisk(folder, limits, why => watch.stop(why))
    child.stdout.on('data', (chunk: Buffer) => transcript.write(chunk))
    const code = await exited.finally(() => disk.stop())
    await endTree(mark, child.pid)
    // Who escaped may hold the output open for ever.
    await Promise.race([closed, watch.pause(lastOutputMs)])
    child.stdout.destroy()
    return code
  }

  async function finish(code: number | null, stop: Stop | undefined): Promise<JobEnd> {
    const pattern = stop === 'cancelled' ? undefined : workflow.report
    const report = pattern === undefined ? undefined : mergeReports(await readReports(own.tree, pattern, limits.reportBytes))
    const took = performance.now() - began
    const ending = endOf({ stop, code, progress: transcript.progress, took, timeoutMs: job.timeoutMs, limits, report })
    const lines = pattern !== undefined && report === undefined ? [runLines.noReport(pattern)] : []
    transcript.end([...lines, ending.end === 'cancelled' ? runLines.cancelled() : ending.summary])
    return ending
  }
}

/** Nothing of this process's but PATH. */
function environment(job: Job, own: { home: string; tmp: string; mark: string }): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin',
    LANG: 'C.UTF-8',
    CI: 'true',
    ...job.env,
    ...job.secrets,
    HOME: own.home,
    TMPDIR: own.tmp,
    [runVariable]: own.mark,
  }
}

async function remove(folder: string, log: Log): Promise<void> {
  const gone = () => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 })
  try {
    // A run may have taken its own folders' permissions away.
    await gone().catch(async () => {
      await once(spawn('chmod', ['-R', 'u+rwX', folder], { stdio: 'ignore' }), 'close')
      await gone()
    })
  } catch (error) {
    log.warn('folder of a run is left over', { said: codeOf(error) })
  }
}

/** What an error is called, without the path that its message holds. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown'
}
