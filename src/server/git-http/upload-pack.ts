import type { Readable } from 'node:stream'
import { gitEnv, pinnedConfig } from '../../git/env.ts'
import { startProcess } from '../../git/processes.ts'

/**
 * What `git upload-pack` is run with beside the pinned configuration: partial clones; any object by its id in every version of the protocol, as
 * version 2 gives it anyway, so that a ref that moves between two requests breaks no fetch; memory that does not grow with a repository.
 */
const config = [
  'uploadpack.allowFilter=true',
  'uploadpack.allowAnySHA1InWant=true',
  'uploadpack.keepAlive=5',
  'pack.useBitmaps=true',
  'pack.windowMemory=128m',
  'pack.deltaCacheSize=64m',
  'pack.writeReverseIndex=true',
]

const stderrLimit = 4_096

/** How a run of upload-pack ended: `code` is its exit code where it exited. */
export interface UploadPackEnd {
  ended: 'exit' | 'signal' | 'timeout' | 'aborted' | 'not-started'
  code: number
  stderr: string
}

export interface UploadPack {
  readonly stdout: Readable
  readonly end: Promise<UploadPackEnd>
}

/**
 * Starts `git upload-pack` on a git directory for one request. `input` undefined: it advertises its refs. `protocol` is the client's `git-protocol`
 * header. It is killed, with what it has started, when the signal comes or after `timeoutMs`.
 */
export function startUploadPack(options: {
  dir: string
  input: Uint8Array | undefined
  protocol: string | undefined
  signal: AbortSignal
  timeoutMs: number
}): UploadPack {
  const settings = [...pinnedConfig, ...config].flatMap(setting => ['-c', setting])
  const mode = options.input === undefined ? ['--http-backend-info-refs'] : []
  const child = startProcess('git', [...settings, 'upload-pack', '--stateless-rpc', '--strict', ...mode, options.dir], {
    env: gitEnv(options.protocol === undefined ? {} : { GIT_PROTOCOL: options.protocol }),
    cwd: '/',
    // pack-objects goes with it.
    group: true,
  })
  const { promise, resolve } = Promise.withResolvers<UploadPackEnd>()
  let why: 'timeout' | 'aborted' | undefined
  let stderr = ''

  function kill(reason: 'timeout' | 'aborted'): void {
    why ??= reason
    child.kill()
  }
  const timer = setTimeout(() => kill('timeout'), options.timeoutMs)
  const onAbort = () => kill('aborted')
  options.signal.addEventListener('abort', onAbort, { once: true })
  if (options.signal.aborted) kill('aborted')

  function end(ended: UploadPackEnd['ended'], code: number): void {
    clearTimeout(timer)
    options.signal.removeEventListener('abort', onAbort)
    resolve({ ended, code, stderr })
  }
  child.stderr.on('data', (chunk: Buffer) => {
    if (stderr.length < stderrLimit) stderr += chunk.toString('utf8')
  })
  void child.closed.then(({ code, error }) => {
    if (error !== undefined) end('not-started', -1)
    else if (why !== undefined) end(why, -1)
    else if (code === null) end('signal', -1)
    else end('exit', code)
  })
  // One that ends before it has read everything said why.
  child.stdin.on('error', () => undefined)
  child.stdin.end(options.input)
  return { stdout: child.stdout, end: promise }
}
