import { createReadStream, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEngine } from '../src/runner/executor/engine.ts'
import { findEngine } from '../src/runner/executor/probe.ts'
import { makeImageRoot, packImage } from './engine-image.ts'
import { startPodman } from './podman-service.ts'

/** A container engine for tests. */
export interface TestEngine {
  socketPath: string
  /** The id of an image with a shell and the usual tools. */
  image: string
  name: 'docker' | 'podman'
  /** Stops what was started for the tests and removes all of it. */
  close(): Promise<void>
}

/** One that a test may break: nobody else uses it. */
export interface OwnEngine extends TestEngine {
  /** Ends the engine alone, at once; its containers go on. */
  crash(): Promise<void>
  /** Starts it again on what the crash left. */
  restart(): Promise<void>
}

/** How a test run tells its tests of the engine that it started: socket, image, name. */
const variable = 'KNOTLESS_TEST_ENGINE'
/** How a test run tells that there is none. */
const none = 'none'

/**
 * The engine for tests: the one that this test run started, a running one (`DOCKER_HOST`, or the usual places), or, as root on Linux with podman and
 * runc, a service with a store of its own; on a Debian machine they are installed when they are not there. Gives undefined, having said why,
 * where there is none: such tests are then skipped and counted as skipped.
 */
export async function findTestEngine(): Promise<TestEngine | undefined> {
  const given = process.env[variable] ?? ''
  if (given === none) return undefined
  const [socketPath, image, name] = given.split(' ')
  if (socketPath && image) return { socketPath, image, name: name === 'docker' ? 'docker' : 'podman', close: async () => {} }
  const found = await findEngine({ env: process.env })
  if (!found.ok) return startOwnEngine()
  if (process.platform !== 'linux') return skip('their image is made of files of a Linux machine')
  const dir = mkdtempSync(join(tmpdir(), 'knotless-engine-'))
  try {
    const id = await importImage(found.socketPath, dir)
    return {
      socketPath: found.socketPath,
      name: found.name,
      image: id,
      async close() {
        await openEngine(found.socketPath).getImage(id).remove({ force: true })
      },
    }
  } catch (error) {
    return skip(`${found.name} cannot import an image: ${error instanceof Error ? error.message : error}`)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Starts an engine for one test run or one test. Gives undefined, having said why, where none can be had. */
export async function startOwnEngine(): Promise<OwnEngine | undefined> {
  if (process.platform !== 'linux') return skip('their image is made of files of a Linux machine')
  const dir = mkdtempSync(join(roomy('/dev/shm') ? '/dev/shm' : tmpdir(), 'knotless-engine-'))
  const first = await startPodman(dir)
  if ('why' in first) {
    rmSync(dir, { recursive: true, force: true })
    return skip(first.why)
  }
  let service = first
  async function close(): Promise<void> {
    await service.stop()
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    return {
      socketPath: service.socketPath,
      name: 'podman',
      image: await importImage(service.socketPath, dir),
      close,
      crash: () => service.crash(),
      async restart() {
        const again = await startPodman(dir)
        if ('why' in again) throw new Error(again.why)
        service = again
      },
    }
  } catch (error) {
    await close()
    return skip(`podman does not work: ${error instanceof Error ? error.message : error}`)
  }
}

/** Lets processes that are started from here on find this engine, or know that there is none. */
export function shareTestEngine(engine: TestEngine | undefined): void {
  process.env[variable] = engine === undefined ? none : `${engine.socketPath} ${engine.image} ${engine.name}`
}

function skip(why: string): undefined {
  console.log(`SKIPPED: the tests of containers need Docker or Podman. Start one, or run as root with podman and runc installed (${why}).`)
}

function roomy(path: string): boolean {
  if (!existsSync(path)) return false
  const { bavail, bsize } = statfsSync(path)
  return bavail * bsize > 2 * 2 ** 30
}

async function importImage(socketPath: string, dir: string): Promise<string> {
  const root = join(dir, 'image')
  const file = join(dir, 'image.tar')
  makeImageRoot(root)
  packImage(root, file)
  // Engines differ in what they make of a name, and each tells the id.
  const answer = await openEngine(socketPath).importImage(createReadStream(file), { repo: 'knotless-test', tag: String(process.pid) })
  let said = ''
  for await (const chunk of answer) said += chunk
  const id = /sha256:[0-9a-f]{64}/.exec(said)?.[0]
  rmSync(root, { recursive: true })
  rmSync(file)
  if (id === undefined) throw new Error('the image could not be imported')
  return id
}
