import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../../cli/main.ts', import.meta.url))

/** A command of this project as a process of its own. */
export interface Program {
  readonly logPath: string
  /** Settles when it has ended, with what to say of it. */
  readonly ended: Promise<string>
  /** Asks it to stop, and makes it when it takes too long. */
  stop(): Promise<void>
}

export interface ProgramOptions {
  args: readonly string[]
  env: Readonly<Record<string, string>>
  /** Where what it prints goes; begun anew at each start. */
  logPath: string
  /** When it is asked a second time, in milliseconds after the first, and when it is made to end; a time that is absent is not waited for. */
  secondMs?: number
  graceMs: number
  words: {
    unstarted(why: string): string
    /** `last` are the last lines of its log. */
    ended(how: string, logPath: string, last: string): string
  }
}

/** Starts a command; what would configure it is taken from `env` alone. */
export function startProgram({ args, env, logPath, secondMs, graceMs, words }: ProgramOptions): Program {
  const log = openSync(logPath, 'w', 0o600)
  const child = spawn(process.execPath, [program, ...args], {
    // A group of its own: Ctrl-C reaches the demo alone, which stops things in order.
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
    env: { ...foreignEnv(), ...env },
  })
  closeSync(log)
  const ended = new Promise<string>(resolve => {
    child.once('error', error => resolve(words.unstarted(error.message)))
    child.once('exit', (code, signal) => resolve(words.ended(signal ?? `exit code ${code}`, logPath, lastLines(logPath))))
  })
  return { logPath, ended, stop: () => stopChild(child, ended, { secondMs, graceMs }) }
}

/** This process's environment without what would configure the command otherwise. */
function foreignEnv(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('KNOTLESS_')))
}

async function stopChild(
  child: ChildProcess,
  ended: Promise<string>,
  { secondMs, graceMs }: { secondMs: number | undefined; graceMs: number },
): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  child.kill('SIGTERM')
  const second = secondMs === undefined ? undefined : setTimeout(() => child.kill('SIGTERM'), secondMs)
  const last = setTimeout(() => child.kill('SIGKILL'), graceMs)
  await ended
  clearTimeout(second)
  clearTimeout(last)
}

function lastLines(logPath: string): string {
  return readFileSync(logPath, 'utf8').trimEnd().split('\n').slice(-5).join('\n')
}
