import type { Duplex } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import type Docker from 'dockerode'
import { archiveTree } from '../../git/archive.ts'
import type { Job } from '../types.ts'
import { type CacheMount, inside } from './cache.ts'
import { afterSteps, beforeSteps, runUser } from './container.ts'
import { answered } from './engine.ts'
import { readFrames } from './frames.ts'
import { reportGlob } from './report.ts'
import { stepsScript } from './steps.ts'
import type { Transcript } from './transcript.ts'
import { feed } from './tree.ts'
import type { RunWatch } from './watch.ts'

/** How long an ended container's output may take to end. */
const lastOutputMs = 10_000

/** Runs the whole script in one exec, the tree as its input. Gives its exit code; null when nobody knows. */
export async function execSteps(
  { job, engine }: { job: Job; engine: Docker },
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
  const stream = await open(exec)
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
  // Engines may leave their half of it open, which would hold a socket for as long as the program runs.
  stream.destroy()
  archive.tar.destroy()
  return whole ? exitCode(exec) : 'no-tree'
}

/** A request that an engine refuses is left without an end by its client, and would hold a socket for as long as the program runs. */
async function open(exec: Docker.Exec): Promise<Duplex> {
  const refused = new AbortController()
  try {
    return await answered(exec.start({ hijack: true, stdin: true, abortSignal: refused.signal }))
  } catch (error) {
    refused.abort()
    throw error
  }
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
