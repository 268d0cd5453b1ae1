import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const root = join(import.meta.dirname, '..')

export interface Program {
  pid: number
  /** Its memory now, and the most it had, in MiB. */
  memory(): { now: number; most: number }
  /** The time of processors that it used, in milliseconds. */
  cpuMs(): number
  stop(): Promise<void>
}

/** Starts a script of this project as its npm scripts do, in a process of its own, and waits until `url` answers, 60 s at most. */
export async function run(args: readonly string[], env: Readonly<Record<string, string>>, url: string): Promise<Program> {
  const child = spawn('sh', ['scripts/with-node.sh', ...args], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = new Promise<void>(done => child.once('exit', () => done()))
  const { pid } = child
  if (pid === undefined) throw new Error('the program did not start')
  try {
    await answers(url, child)
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
  return {
    pid,
    memory: () => ({ now: kib(pid, 'VmRSS') / 1024, most: kib(pid, 'VmHWM') / 1024 }),
    cpuMs: () => ticks(pid) * 10,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

async function answers(url: string, child: ChildProcess): Promise<void> {
  const until = Date.now() + 60_000
  while (Date.now() < until) {
    if (child.exitCode !== null) throw new Error(`the program ended with ${child.exitCode}`)
    const answer = await fetch(url).catch(() => undefined)
    await answer?.arrayBuffer()
    if (answer?.ok) return
    await wait(50)
  }
  throw new Error(`no answer at ${url}`)
}

function kib(pid: number, field: string): number {
  const line = readFileSync(`/proc/${pid}/status`, 'utf8').match(new RegExp(`^${field}:\\s+(\\d+)`, 'm'))
  return Number(line?.[1] ?? Number.NaN)
}

/** Hundredths of a second in user and kernel mode: the 14th and 15th field, counted behind the name, which may hold blanks. */
function ticks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return Number(fields[11]) + Number(fields[12])
}
