import { type Duplex, Writable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import type Docker from 'dockerode'
import { z } from 'zod'
import { archiveTree } from '../../git/archive.ts'
import { runLines, runSummaries } from '../../queue/words/run.ts'
import { textOf } from '../../workflows/glob.ts'
import type { Job, JobEnd, Log } from '../types.ts'
import { type CacheMount, cacheMounts, inside } from './cache.ts'
import { afterSteps, beforeSteps, containerOptions, openRoot, readDisk, runUser, skeleton } from './container.ts'
import { endOf, noTree } from './ending.ts'
import { answered, faultOf, saidOf } from './engine.ts'
import type { RunLimits } from './limits.ts'
import { mergeReports, reportGlob } from './report.ts'
import { stepsScript } from './steps.ts'
import { readTar } from './tar.ts'
import { createTranscript, type Transcript } from './transcript.ts'
import { feed } from './tree.ts'
import { type RunWatch, watchRun } from './watch.ts'

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

/** How long an ended container's output may take to end. */
const lastOutputMs = 10_000
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
    await watchInside(run.engine, made, limits, watch)
    if (watch.stopped === undefined) await answered(made.start())
    kill = () => void made.kill().catch(() => undefined)
    ending = watch.stopped === undefined ? await runSteps(made, mounts) : endNow(null)
  } catch (error) {
    ending = broken(error)
  } finally {
    watch.end()
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

/** Runs the whole script in one exec, the tree as its input. Gives its exit code; null when nobody knows. */
async function execSteps(
  { job, engine }: DockerRun,
  container: Docker.Container,
  mounts: readonly CacheMount[],
  transcript: Transcript,
  watch: RunWatch,
): Promise<number | null | 'no-tree'> {
  const { workflow } = job
  const script = stepsScript({
    before: beforeSteps(mounts),
    after: afterSteps(workflow.report, reportGlob(workflow.report ?? '')?.folder ?? ''),
  })
  const exec = await answered(
    container.exec({
      Cmd: ['sh', '-c', script, 'sh', inside.steps, `${workflow.steps.length}`, `${workflow.retries}`, transcript.mark, 'limited'],
      User: `${runUser}:${runUser}`,
      WorkingDir: inside.tree,
      Env: Object.entries({ CI: 'true', ...job.env, ...job.secrets, HOME: inside.home, TMPDIR: '/tmp' }).map(
        ([key, value]) => `${key}=${value}`,
      ),
      AttachStdin: true,
      AttachStdout: true,
      AttachStderr: true,
    }),
  )
  const archive = await archiveTree(job.source, { signal: watch.signal })
  if (!archive.ok) return 'no-tree'
  const stream: Duplex = await answered(exec.start({ hijack: true, stdin: true }))
  const ended = readFrames(engine, stream, bytes => transcript.write(bytes))
  let whole = true
  archive.tar.once('error', () => {
    whole = false
    stream.destroy()
  })
  feed(archive.tar, stream)
  const stopped = new Promise<void>(done => watch.signal.addEventListener('abort', () => done(), { once: true }))
  if (watch.stopped === undefined) await Promise.race([ended, stopped])
  if (watch.stopped !== undefined) {
    await Promise.race([ended, wait(lastOutputMs, undefined, { ref: false })])
    stream.destroy()
    archive.tar.destroy()
    return null
  }
  archive.tar.destroy()
  return whole ? exitCode(exec) : 'no-tree'
}

async function exitCode(exec: Docker.Exec): Promise<number | null> {
  // Output may end a moment before the engine knows the code.
  for (let tries = 0; tries < 50; tries++) {
    const { Running, ExitCode } = await answered(exec.inspect())
    if (!Running && ExitCode !== null) return ExitCode
    await wait(20 + tries * 5)
  }
  return null
}

/** Takes what an engine sends of a process's output, as fast as it comes. Settled at its end, however that is. */
function readFrames(engine: Docker, stream: NodeJS.ReadWriteStream, take: (bytes: Buffer) => void): Promise<void> {
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      take(chunk)
      done()
    },
  })
  engine.modem.demuxStream(stream, sink, sink)
  return new Promise(done => {
    for (const event of ['end', 'close', 'error'] as const) stream.once(event, () => done())
    stream.on('error', () => undefined)
  })
}

/** Follows what the container's own process says of the disk. */
async function watchInside(engine: Docker, container: Docker.Container, limits: RunLimits, watch: RunWatch): Promise<void> {
  const stream = await answered(container.attach({ stream: true, stdout: true, stderr: true }))
  let first: number | undefined
  let measuring = false
  void readFrames(engine, stream, bytes => {
    for (const line of bytes.subarray(-1000).toString('latin1').split('\n')) {
      const disk = readDisk(line)
      if (disk === undefined) continue
      first ??= disk.used
      if (disk.free < limits.freeBytes) watch.stop('disk')
      // Looking at every file of every volume is dear: only once the disk has grown by what may be this run's.
      else if (disk.used - first > limits.diskBytes / 2 && !measuring) {
        measuring = true
        void sizeOf(engine, container).then(size => {
          measuring = false
          if (size > limits.diskBytes) watch.stop('files')
        })
      }
    }
  })
}

const volumeSizes = z.object({
  Volumes: z.array(z.object({ Name: z.string(), UsageData: z.object({ Size: z.number() }).nullish() })).nullish(),
})

/** Bytes in the volumes of a container, as its engine counts them; 0 where it does not. */
async function sizeOf(engine: Docker, container: Docker.Container): Promise<number> {
  try {
    const { Mounts } = await answered(container.inspect())
    const names = new Set(Mounts.map(({ Name }) => Name))
    const { Volumes } = volumeSizes.parse(await answered(engine.df()))
    const sizes = (Volumes ?? []).map(({ Name, UsageData }) => (names.has(Name) ? (UsageData?.Size ?? 0) : 0))
    return sizes.reduce((all, size) => all + Math.max(0, size), 0)
  } catch {
    return 0
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

async function readReport(container: Docker.Container, pattern: string, most: number): Promise<Uint8Array | undefined> {
  const wanted = reportGlob(pattern)
  if (wanted === undefined) return undefined
  const outer = await readFirst(container, inside.report, 2 * most + 2 ** 20)
  // Of the outer tar's one file the first part may be all that was read.
  const files = readTar(readTar(outer, { cut: true })[0]?.bytes ?? Buffer.alloc(0))
    .map(file => ({ path: file.name.replace(/^\.\//, ''), bytes: file.bytes }))
    .filter(({ path }) => wanted.glob.matches(textOf(path)))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
  let room = most
  return mergeReports(
    files.filter(({ bytes }) => {
      if (bytes.length > room) return false
      room -= bytes.length
      return true
    }),
  )
}

async function readFirst(container: Docker.Container, path: string, most: number): Promise<Buffer> {
  const parts: Buffer[] = []
  let size = 0
  try {
    for await (const piece of await answered(container.getArchive({ path }))) {
      const chunk = Buffer.from(piece)
      parts.push(chunk)
      size += chunk.length
      if (size > most) break
    }
  } catch {
    // There is none; or what came of it is all there is.
  }
  return Buffer.concat(parts)
}
