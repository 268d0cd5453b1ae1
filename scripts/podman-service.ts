import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { findEngine } from '../src/runner/executor/probe.ts'

/** Podman's service with a store of its own. */
export interface PodmanService {
  socketPath: string
  /** Ends the service alone, at once, as a crash would: what it started goes on. */
  crash(): Promise<void>
  /** Ends it with all its containers and undoes its mounts. */
  stop(): Promise<void>
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

/** Registries of tests are on this machine, without TLS. */
const registries = `[[registry]]
prefix = "127.0.0.1"
location = "127.0.0.1"
insecure = true
`

/**
 * Starts podman's service with store, run folder and socket in `dir`: nothing of the user's is touched. A folder that a crashed one left is taken
 * on. As root alone; podman and runc are installed where they are not there and can be. Where it cannot be had, says why.
 */
export async function startPodman(dir: string): Promise<PodmanService | { why: string }> {
  if (process.getuid?.() !== 0) return { why: 'this is not root' }
  if (!hasPodman() && !installPodman()) return { why: 'podman and runc are not installed' }
  const socketPath = join(dir, 'engine.sock')
  writeFileSync(join(dir, 'containers.conf'), config)
  writeFileSync(join(dir, 'registries.conf'), registries)
  for (const name of ['store', 'run', 'tmp']) mkdirSync(join(dir, name), { recursive: true })
  const log = openSync(join(dir, 'log'), 'a')
  const service = spawn('podman', [...folders(dir), 'system', 'service', '--time=0', `unix://${socketPath}`], {
    env: environment(dir),
    // What watches over containers leaves files where it stands.
    cwd: dir,
    stdio: ['ignore', log, log],
    detached: true,
  })
  const ended = new Promise<void>(done => service.once('exit', () => done()).once('error', () => done()))
  // A test run that is broken off leaves nothing either.
  const atExit = () => {
    clean(service, dir)
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
  }
  process.once('exit', atExit)
  const started: PodmanService = {
    socketPath,
    async crash() {
      service.kill('SIGKILL')
      await ended
      process.off('exit', atExit)
    },
    async stop() {
      removeContainers(dir)
      service.kill('SIGKILL')
      await ended
      for (let tries = 0; tries < 100 && processesOf(dir).length > 0; tries++) {
        clean(service, dir)
        await wait(20)
      }
      clean(service, dir)
      process.off('exit', atExit)
    },
  }
  for (let tries = 0; tries < 200 && runs(service); tries++) {
    const found = await findEngine({ socket: socketPath, env: {} })
    if (found.ok) return started
    await wait(50)
  }
  await started.stop()
  return { why: `podman does not start: ${readFileSync(join(dir, 'log'), 'utf8').trim().split('\n').at(-1)}` }
}

const folders = (dir: string) => ['--root', join(dir, 'store'), '--runroot', join(dir, 'run'), '--tmpdir', join(dir, 'tmp')]
const environment = (dir: string) => ({
  ...process.env,
  CONTAINERS_CONF: join(dir, 'containers.conf'),
  CONTAINERS_REGISTRIES_CONF: join(dir, 'registries.conf'),
})
const runs = (service: ChildProcess) => service.pid !== undefined && service.exitCode === null && service.signalCode === null

/** Containers outlive a service, and only podman knows which processes are theirs. */
function removeContainers(dir: string): void {
  const args = [...folders(dir), 'rm', '--all', '--force', '--time=0', '--volumes']
  spawnSync('podman', args, { env: environment(dir), stdio: 'ignore', timeout: 30_000 })
}

/** Ends the service and what it started, by their pids, and undoes its mounts. */
function clean(service: ChildProcess, dir: string): void {
  if (runs(service)) {
    removeContainers(dir)
    service.kill('SIGKILL')
  }
  for (const pid of processesOf(dir)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended.
    }
  }
  if (!existsSync(dir)) return
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
