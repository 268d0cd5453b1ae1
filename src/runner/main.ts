import { startProcessesBy } from '../git/processes.ts'
import { openStarter } from '../git/starter.ts'
import { type RunnerConfig, readRunnerConfig } from './config.ts'
import { createRunner } from './runner.ts'
import { keepHeapSmall } from './small-heap.ts'
import { findAll } from './start.ts'
import { usage, words } from './words.ts'

/** A signal that comes this soon after the first, in milliseconds, is the same Ctrl-C, passed on by the program that started this one. */
const SAME_SIGNAL_MS = 1_000
/** How long what a second signal ends may take, in milliseconds. */
const GRACE_MS = 5_000

/**
 * `knotless runner`: runs until SIGTERM or SIGINT, then as MOV-5 says; a second signal drops everything. Gives the exit code: 0 after a stop, 1 when
 * it broke, 2 for wrong flags or configuration, said in one line.
 */
export async function runRunner(args: readonly string[], env: Readonly<Record<string, string | undefined>>): Promise<number> {
  const read = readRunnerConfig(args, env)
  if ('help' in read) {
    console.log(usage)
    return 0
  }
  if (!read.ok) {
    console.error(read.fault)
    return 2
  }
  keepHeapSmall()
  // Without it git is started straight, and the runner stands still a little longer each time.
  const starter = await openStarter().catch(() => undefined)
  startProcessesBy(starter?.start)
  try {
    return await runUntilSignalled(read.config)
  } finally {
    startProcessesBy(undefined)
    await starter?.close()
  }
}

async function runUntilSignalled(config: RunnerConfig): Promise<number> {
  const signals = countSignals()
  const found = await findAll(config, Date.now)
  if (!found.ok) {
    console.error(found.fault)
    return 1
  }
  const made = await createRunner(config, found.found)
  if (!made.ok) {
    console.error(made.fault)
    found.found.fetch.close()
    found.found.folder.release()
    return 1
  }
  const { runner } = made
  try {
    await runner.start()
  } catch (error) {
    console.error(`${words.broke}: ${error instanceof Error ? error.message : 'unknown trouble'}`)
    await runner.kill()
    return 1
  }
  const isOnce = config['--once'] || config['--dry-run']
  const went = isOnce ? await Promise.race([runner.finish(), signals.first.then(() => true)]) : await signals.first.then(() => true)
  const stopped = runner.stop().then(() => true)
  const inOrder = await Promise.race([stopped, signals.second.then(() => false)])
  if (inOrder) return went ? 0 : 1
  const late = setTimeout(() => process.exit(1), GRACE_MS)
  await runner.kill()
  clearTimeout(late)
  return 0
}

function countSignals(): { first: Promise<void>; second: Promise<void> } {
  const first = Promise.withResolvers<void>()
  const second = Promise.withResolvers<void>()
  let at: number | undefined
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      at ??= Date.now()
      if (Date.now() - at > SAME_SIGNAL_MS) second.resolve()
      first.resolve()
    })
  }
  return { first: first.promise, second: second.promise }
}
