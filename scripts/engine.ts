import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { openEngine } from '../src/runner/executor/engine.ts'
import { findEngine } from '../src/runner/executor/probe.ts'
import { makeImageRoot, packImage } from './engine-image.ts'

/** A container engine for tests. */
export interface TestEngine {
  socketPath: string
  /** The id of an image with a shell and the usual tools. */
  image: string
  name: 'docker' | 'podman'
  /** Stops what was started for the tests and removes all of it. */
  close(): Promise<void>
}

/** How a test run tells its tests of the engine that it started: socket, image, name. */
const variable = 'KNOTLESS_TEST_ENGINE'

/**
 * The engine for tests: the one that this test run started, a running one (`DOCKER_HOST`, or the usual places), or, as root on Linux with podman and
 * runc, a service with a store of its own; on a Debian machine they are installed when they are not there. Gives undefined, having said why,
 * where there is none: such tests are then skipped and counted as skipped.
 */
export async function findTestEngine(): Promise<TestEngine | undefined> {
  const [socketPath, image, name] = (process.env[variable] ?? '').split(' ')
  if (socketPath && image) return { socketPath, image, name: name === 'docker' ? 'docker' : 'podman', close: async () => {} }
  if (process.platform !== 'linux') return skip('their image is made of files of a Linux machine')
  const found = await findEngine({ env: process.env })
  const dir = mkdtempSync(join(existsSync('/dev/shm') && roomy('/dev/shm') ? '/dev/shm' : tmpdir(), 'knotless-engine-'))
  const service = found.ok ? undefined : await startPodman(dir)
  const socket = found.ok ? found.socketPath : service?.socketPath
  if (socket === undefined) {
    rmSync(dir, { recursive: true, force: true })
    return undefined
  }
  try {
    const id = await importImage(socket, dir)
    return {
      socketPath: socket,
      image: id,
      name: found.ok ? found.name : 'podman',
      async close() {
        if (found.ok) await openEngine(socket).getImage(id).remove({ force: true })
        await service?.stop()
        rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
      },
    }
  } catch (error) {
    await service?.stop()
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
    return skip(`the engine does not work: ${error instanceof Error ? error.message : error}`)
  }
}

/** Lets processes that are started from here on find this engine. */
export function shareTestEngine({ socketPath, image, name }: TestEngine): void {
  process.env[variable] = `${socketPath} ${image} ${name}`
}

function skip(why: string): undefined {
  console.log(
    `SKIPPED: tests of containers need a container engine. Start Docker or Podman, or run as root with podman and runc installed (${why}).`,
  )
}

function roomy(path: string): boolean {
  const { bavail, bsize } = statfsSync(path)
  return bavail * bsize > 2 * 2 ** 30
}

async function importImage(socketPath: string, dir: string): Promise<string> {
  const root = join(dir, 'image')
  const file = join(dir, 'image.tar')
  makeImageRoot(root)
  packImage(root, file)
  const engine = openEngine(socketPath)
  // Engines differ in what they make of a name, and each tells the id.
  const answer = await engine.importImage(createReadStream(file), { repo: 'knotless-test', tag: String(process.pid) })
  let said = ''
  for await (const chunk of answer) said += chunk
  const id = /sha256:[0-9a-f]{64}/.exec(said)?.[0]
  rmSync(root, { recursive: true })
  rmSync(file)
  if (id === undefined) throw new Error('the image could not be imported')
  return id
}

const config = `[containers]
default_ulimits = ["nofile=1024:4096", "nproc=1024:1024"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
lock_type = "file"
exit_command_delay = 10
`

/** Starts podman's service with a store, a run folder and a socket in `dir`: nothing of the user's is touched. Undefined, having said why, where it cannot. */
async function startPodman(dir: string): Promise<{ socketPath: string; stop(): Promise<void> } | undefined> {
  if (process.getuid?.() !== 0) return skip('this is not root')
  if (!hasPodman() && !installPodman()) return skip('podman and runc are not installed')
  const socketPath = join(dir, 'engine.sock')
  writeFileSync(join(dir, 'containers.conf'), config)
  for (const name of ['store', 'run', 'tmp']) mkdirSync(join(dir, name))
  const log = openSync(join(dir, 'log'), 'a')
  const service = spawn(
    'podman',
    [
      '--root',
      join(dir, 'store'),
      '--runroot',
      join(dir, 'run'),
      '--tmpdir',
      join(dir, 'tmp'),
      'system',
      'service',
      '--time=0',
      `unix://${socketPath}`,
    ],
    { env: { ...process.env, CONTAINERS_CONF: join(dir, 'containers.conf') }, stdio: ['ignore', log, log], detached: true },
  )
  service.on('error', () => undefined)
  const stop = () => stopPodman(service, dir)
  // A test run that is broken off leaves nothing either.
  process.once('exit', () => clean(service, dir))
  for (let tries = 0; tries < 200 && service.exitCode === null; tries++) {
    const found = await findEngine({ socket: socketPath, env: {} })
    if (found.ok) return { socketPath, stop }
    await wait(50)
  }
  const said = readFileSync(join(dir, 'log'), 'utf8').trim().split('\n').at(-1)
  await stop()
  return skip(`podman does not start: ${said}`)
}

const folders = (dir: string) => ['--root', join(dir, 'store'), '--runroot', join(dir, 'run'), '--tmpdir', join(dir, 'tmp')]
const environment = (dir: string) => ({ ...process.env, CONTAINERS_CONF: join(dir, 'containers.conf') })

async function stopPodman(service: ChildProcess, dir: string): Promise<void> {
  const ended =
    service.exitCode !== null || service.signalCode !== null ? Promise.resolve() : new Promise(done => service.once('exit', done))
  clean(service, dir)
  await ended
  for (let tries = 0; tries < 100 && processesOf(dir).length > 0; tries++) {
    clean(service, dir)
    await wait(20)
  }
  clean(service, dir)
}

/** Ends the service and what it started, by their pids, and undoes its mounts. */
function clean(service: ChildProcess, dir: string): void {
  if (service.exitCode === null && service.signalCode === null && existsSync(dir)) {
    // Containers outlive a service; only podman knows which they are.
    spawnSync('podman', [...folders(dir), 'rm', '--all', '--force', '--time=0', '--volumes'], {
      env: environment(dir),
      stdio: 'ignore',
      timeout: 30_000,
    })
    service.kill('SIGKILL')
  }
  for (const pid of processesOf(dir)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended.
    }
  }
  const mounts = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .flatMap(line => line.split(' ')[1] ?? [])
    .filter(path => path.startsWith(`${dir}/`))
  for (const path of mounts.reverse()) spawnSync('umount', ['-l', path])
}

/** Processes that name the folder on their command line, such as what watches over containers. */
function processesOf(dir: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter(pid => {
      if (!(pid > 1) || pid === process.pid) return false
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
          .split('\0')
          .some(word => word.includes(`${dir}/`))
      } catch {
        return false
      }
    })
}

const hasPodman = () => ['podman', 'runc'].every(name => spawnSync('sh', ['-c', 'command -v -- "$1"', 'sh', name]).status === 0)

function installPodman(): boolean {
  if (spawnSync('sh', ['-c', 'command -v apt-get']).status !== 0) return false
  console.log('Installing podman and runc for the tests of containers …')
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  try {
    execFileSync('apt-get', ['update', '-qq'], { stdio: ['ignore', 'ignore', 'inherit'], env, timeout: 300_000 })
    const args = ['install', '-y', '-qq', '--no-install-recommends', 'podman', 'runc']
    execFileSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'], env, timeout: 600_000 })
  } catch {
    return false
  }
  return hasPodman()
}
