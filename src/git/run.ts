import { setPriority } from 'node:os'
import { gitEnv, pinnedConfig } from './env.ts'
import { type Started, startProcess } from './processes.ts'

/** What a run of git may be given; sizes in bytes, times in milliseconds. */
export interface GitOptions {
  /** The git directory; without one git gets none. */
  dir?: string
  input?: Uint8Array | string | AsyncIterable<Uint8Array>
  env?: Record<string, string>
  /** More `-c` settings, after the pinned ones. */
  config?: readonly string[]
  /** Most of stdout that is taken; over it git is killed. Default 16 MiB. */
  maxOutput?: number
  /** Default 30 s. */
  timeoutMs?: number
  signal?: AbortSignal | undefined
  /** Limits set on the process itself: address space in KiB, CPU in seconds. */
  ulimit?: { memoryKiB: number; cpuSeconds: number }
  /** How much the process gives way to others, 0 to 19 as of `nice`. */
  niceness?: number
  /** Takes stdout as it comes instead of keeping it; false means enough, and git is killed. */
  onOutput?: (chunk: Buffer) => boolean
}

/**
 * How a run ended. Only `exit` has a code; with the others git was killed, or never ran: `signal` by something else (a crash, a limit of the
 * process), `input` since reading the input failed (`error` says how), `stopped` since `onOutput` had enough.
 */
export interface GitRun {
  ended: 'exit' | 'signal' | 'timeout' | 'output' | 'aborted' | 'stopped' | 'input' | 'not-started'
  /** The exit code; -1 unless it exited. */
  code: number
  stdout: Buffer
  /** At most 64 KiB of it. */
  stderr: string
  error?: unknown
}

const defaultOutput = 16 * 2 ** 20
const defaultTimeout = 30_000
const stderrLimit = 64 * 2 ** 10
/** Words come in as arguments only; where a limit cannot be set the run fails rather than going without, but for macOS, which has no `-v`. */
const limitScript = 'ulimit -v "$1" || [ "$(uname)" = Darwin ] || exit 125; ulimit -t "$2" || exit 125; shift 2; exec git "$@"'

/**
 * Runs git once with the pinned environment and configuration, never through a shell that reads its words. Never throws for what git does: exit
 * codes and signals are values.
 */
export function runGit(args: readonly string[], options: GitOptions = {}): Promise<GitRun> {
  const child = startGit(args, options)
  const { niceness } = options
  if (niceness !== undefined) void child.pid.then(pid => pid !== undefined && giveWay(pid, niceness))
  return watch(child, options)
}

/** Starts git with the pinned environment and configuration, and leaves its streams and its end to the caller. */
export function startGit(args: readonly string[], options: Pick<GitOptions, 'dir' | 'env' | 'config' | 'ulimit'>): Started {
  const words = gitWords(args, options)
  const limit = options.ulimit
  if (limit === undefined) return startProcess('git', words, { env: gitEnv(options.env), cwd: '/' })
  return startProcess('/bin/sh', ['-c', limitScript, 'sh', String(limit.memoryKiB), String(limit.cpuSeconds), ...words], {
    env: gitEnv(options.env),
    cwd: '/',
  })
}

/** The words of a git command line: the pinned configuration, the git directory, then what is asked. */
export function gitWords(args: readonly string[], { dir, config = [] }: Pick<GitOptions, 'dir' | 'config'>): string[] {
  const settings = [...pinnedConfig, ...config].flatMap(setting => ['-c', setting])
  return [...settings, ...(dir === undefined ? [] : [`--git-dir=${dir}`]), ...args]
}

function giveWay(pid: number, niceness: number): void {
  try {
    setPriority(pid, niceness)
  } catch {
    // It may have ended already; and where this is not allowed it runs like any other.
  }
}

function watch(child: Started, options: GitOptions): Promise<GitRun> {
  const { promise, resolve } = Promise.withResolvers<GitRun>()
  const kept: Buffer[] = []
  const errors: Buffer[] = []
  let size = 0
  let errorSize = 0
  let why: GitRun['ended'] | undefined
  let error: unknown

  function kill(reason: GitRun['ended'], cause?: unknown): void {
    if (why !== undefined) return
    why = reason
    error = cause
    child.kill()
  }
  const timer = setTimeout(() => kill('timeout'), options.timeoutMs ?? defaultTimeout)
  const onAbort = () => kill('aborted')
  options.signal?.addEventListener('abort', onAbort, { once: true })
  if (options.signal?.aborted) kill('aborted')

  child.stdout.on('data', (chunk: Buffer) => {
    if (why !== undefined) return
    size += chunk.length
    if (options.onOutput !== undefined) {
      if (!options.onOutput(chunk)) kill('stopped')
    } else if (size > (options.maxOutput ?? defaultOutput)) kill('output')
    else kept.push(chunk)
  })
  child.stderr.on('data', (chunk: Buffer) => {
    if (errorSize < stderrLimit) errors.push(chunk)
    errorSize += chunk.length
  })

  const gone = Promise.withResolvers<undefined>()
  function end(ended: GitRun['ended'], code: number): void {
    clearTimeout(timer)
    options.signal?.removeEventListener('abort', onAbort)
    gone.resolve(undefined)
    const stderr = Buffer.concat(errors).subarray(0, stderrLimit).toString('utf8')
    resolve({ ended, code, stdout: Buffer.concat(kept), stderr, ...(error === undefined ? {} : { error }) })
  }
  void child.closed.then(({ code, error: cause }) => {
    if (cause !== undefined) {
      error = cause
      end(why ?? 'not-started', -1)
    } else if (why !== undefined) end(why, -1)
    else if (code === null) end('signal', -1)
    else end('exit', code)
  })

  // A child that ends before it has read all its input is no fault of ours: how it ended says what happened.
  child.stdin.on('error', () => undefined)
  feed(child, options.input, gone.promise).catch(cause => kill('input', cause))
  return promise
}

/** Writes the input, no faster than it is taken, until it or the child ends. Rejects when reading the input fails. */
async function feed(child: Started, input: GitOptions['input'], gone: Promise<undefined>): Promise<void> {
  if (input === undefined || typeof input === 'string' || input instanceof Uint8Array) {
    child.stdin.end(input)
    return
  }
  const reader = input[Symbol.asyncIterator]()
  for (;;) {
    const next = reader.next()
    next.catch(() => undefined)
    const step = await Promise.race([next, gone])
    if (step === undefined || step.done) {
      if (step === undefined) reader.return?.().catch(() => undefined)
      child.stdin.end()
      return
    }
    if (!child.stdin.write(step.value)) {
      const drained = new Promise<void>(resolve => child.stdin.once('drain', () => resolve()))
      await Promise.race([drained, gone])
    }
  }
}
