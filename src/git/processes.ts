import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'

/** As much of a process as running git takes. */
export interface Started {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** Undefined when it did not start. */
  readonly pid: Promise<number | undefined>
  /** Ends it at once. */
  kill(): void
  /** Once it has ended and all that it said was read. `code` is null when a signal ended it; `error` says why it did not start. */
  readonly closed: Promise<{ code: number | null; error?: Error }>
}

export interface StartOptions {
  env: Record<string, string>
  cwd: string
  /** A process group of its own: what it has started is killed with it. */
  group?: boolean
}

/** Starts a process. It never throws: what goes wrong is in `closed`. */
export type Start = (command: string, args: readonly string[], options: StartOptions) => Started

/** Ends a process at once, with its group where it has one; one that has ended is left alone. */
export function killChild(child: ChildProcess, group: boolean): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  try {
    if (group) process.kill(-child.pid, 'SIGKILL')
    else child.kill('SIGKILL')
  } catch {
    child.kill('SIGKILL')
  }
}

/** Starts a process as a child of this one. */
export const startStraight: Start = (command, args, { group = false, ...options }) => {
  const child = spawn(command, args, { ...options, detached: group })
  const { promise: closed, resolve } = Promise.withResolvers<{ code: number | null; error?: Error }>()
  child.once('error', error => resolve({ code: null, error }))
  child.once('close', code => resolve({ code }))
  const { stdin, stdout, stderr } = child
  return { stdin, stdout, stderr, pid: Promise.resolve(child.pid), kill: () => killChild(child, group), closed }
}

/** How this program starts processes: as a matter of the whole program, which is what grows, it is set once where that begins. */
let start = startStraight

/** From here on the program starts processes this way; straight again without one. */
export function startProcessesBy(way: Start | undefined): void {
  start = way ?? startStraight
}

/** Starts a process in the way of this program. */
export const startProcess: Start = (command, args, options) => start(command, args, options)
