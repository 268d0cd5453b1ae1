import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Readable, Transform } from 'node:stream'
import { archivesWhole } from './mirror.ts'
import { isCommitId } from './ref-names.ts'
import { type GitRefusal, refuse } from './refusal.ts'
import { startGit } from './run.ts'
import { words } from './words.ts'

/** Bounds of an archive: bytes of tar, and milliseconds from its start to its end, whoever is slow. */
export interface ArchiveOptions {
  /** Default 4 GiB. */
  maxBytes?: number
  /** Default 10 min. */
  timeoutMs?: number
  signal?: AbortSignal | undefined
}

export interface Archive {
  ok: true
  /** The tar as it comes, no faster than it is read. Destroyed with an error where it is not whole, so that nobody takes a part for all of it. */
  tar: Readable
  /** Settled when git has ended; never rejects. Closing `tar` ends git. */
  ended: Promise<{ ok: true; bytes: number } | GitRefusal>
}

const defaults = { maxBytes: 4 * 2 ** 30, timeoutMs: 600_000 } as const
const ulimit = { memoryKiB: 1_500_000, cpuSeconds: 300 }

/**
 * The files of a commit or a tree as a stream of tar, every one of them as it is (STO-12). `gitDir` is a mirror: in it nothing that a tree says keeps
 * files out or rewrites them; any other directory is refused. A submodule is an empty folder, a symlink a symlink.
 */
export async function archiveTree(
  source: { gitDir: string; commit: string },
  { maxBytes = defaults.maxBytes, timeoutMs = defaults.timeoutMs, signal }: ArchiveOptions = {},
): Promise<Archive | GitRefusal> {
  const { gitDir, commit } = source
  if (!isCommitId(commit)) return refuse('missing-commit', words.missingCommit(commit))
  const attributes = await readFile(join(gitDir, 'info', 'attributes'), 'utf8').catch(() => '')
  if (!archivesWhole(attributes)) return refuse('failed', words.gitFailed('archive the files: not every one would be in it'))
  const child = startGit(['archive', '--format=tar', commit], { dir: gitDir, ulimit })
  let fault: GitRefusal | undefined
  let bytes = 0
  const tar = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes <= maxBytes) done(null, chunk)
      else fail(refuse('too-large', words.archiveTooBig(maxBytes)))
    },
    flush(done) {
      // The last bytes of a git that failed are no end of a tar.
      void ended.then(end => done(end.ok ? null : new Error(end.message)))
    },
  })
  // Whoever reads it hears of it by the stream; nobody need.
  tar.on('error', () => undefined)
  tar.once('close', () => {
    child.kill()
    // What nobody reads any more would keep git from being over.
    child.stdout.unpipe(tar)
    child.stdout.resume()
  })

  function fail(why: GitRefusal): void {
    if (fault !== undefined) return
    fault = why
    child.kill()
    tar.destroy(new Error(why.message))
  }
  const timer = setTimeout(() => fail(refuse('too-large', words.archiveTooSlow())), timeoutMs)
  const onAbort = () => fail(refuse('failed', words.gitFailed('archive the files')))
  signal?.addEventListener('abort', onAbort, { once: true })
  if (signal?.aborted) onAbort()

  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    if (said.length < 4096) said += chunk.toString('latin1')
  })
  child.stdin.on('error', () => undefined)
  child.stdin.end()
  const ended = child.closed.then(({ code }): { ok: true; bytes: number } | GitRefusal => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
    if (fault !== undefined) return fault
    if (code === 0) return { ok: true, bytes }
    const missing = /not a valid object name|not a tree object/i.test(said)
    return missing ? refuse('missing-commit', words.missingCommit(commit)) : refuse('failed', words.gitFailed('archive the files'))
  })
  child.stdout.pipe(tar)
  // A process that did not start has streams that never end.
  void ended.then(end => {
    if (!end.ok) tar.destroy(new Error(end.message))
  })
  return { ok: true, tar, ended }
}
