import { startProcessesBy } from '../git/processes.ts'
import { openStarter } from '../git/starter.ts'
import { type Config, readConfig } from './config.ts'
import { createServer } from './server.ts'

/** How long requests under way are waited for at the end, in milliseconds. */
const GRACE_MS = 10_000

/**
 * `knotless serve`: reads the configuration, serves until SIGTERM or SIGINT, and stops in order. Gives the exit code: 0 after a stop, 1 when it
 * could not start, 2 for configuration that is missing or wrong, which is said in one line.
 */
export async function runServe(env: Readonly<Record<string, string | undefined>>): Promise<number> {
  const read = readConfig(env)
  if (!read.ok) {
    console.error(read.fault)
    return 2
  }
  // Without it git is started straight, and the server stands still a little longer each time.
  const starter = await openStarter().catch(() => undefined)
  startProcessesBy(starter?.start)
  try {
    return await serveUntilSignalled(read.config)
  } finally {
    startProcessesBy(undefined)
    await starter?.close()
  }
}

async function serveUntilSignalled(config: Config): Promise<number> {
  const server = await createServer(config).catch((error: unknown) => {
    console.error(`knotless could not start: ${error instanceof Error ? error.message : 'unknown error'}`)
    return undefined
  })
  if (server === undefined) return 1
  const signalled = new Promise<void>(resolve => {
    process.once('SIGTERM', () => resolve())
    process.once('SIGINT', () => resolve())
  })
  try {
    await server.start()
    console.log(`knotless serves ${config.publicUrl}`)
  } catch (error) {
    console.error(`knotless could not start: ${error instanceof Error ? error.message : 'unknown error'}`)
    await server.stop()
    return 1
  }
  await signalled
  const late = setTimeout(() => process.exit(1), GRACE_MS)
  await server.stop()
  clearTimeout(late)
  return 0
}
