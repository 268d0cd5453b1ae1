import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { archiveTree } from '../../git/archive.ts'
import type { Job } from '../types.ts'

/** Puts the files of a job's commit into a folder that is there. False when they are not all in it; `full` when the disk has no room for them. */
export async function putTree(
  source: Job['source'],
  folder: string,
  signal: AbortSignal,
): Promise<{ ok: true } | { ok: false; full: boolean }> {
  const archive = await archiveTree(source, { signal })
  if (!archive.ok) return { ok: false, full: false }
  // -o: the files are the runner's own, whoever the archive says they are.
  const tar = spawn('tar', ['-xof', '-'], { cwd: folder, stdio: ['pipe', 'ignore', 'pipe'], env: { PATH: process.env.PATH, LC_ALL: 'C' } })
  let said = ''
  tar.stderr.on('data', (chunk: Buffer) => {
    if (said.length < 65_536) said += chunk.toString('latin1')
  })
  const closed = once(tar, 'close').catch(() => [-1])
  archive.tar.once('error', () => tar.kill('SIGKILL'))
  feed(archive.tar, tar.stdin)
  const [code] = await closed
  if (code !== 0) archive.tar.destroy()
  const { ok } = await archive.ended
  return ok && code === 0 ? { ok: true } : { ok: false, full: saysFull(said) }
}

/** Writes a tar into what reads it. One that has seen the end of it reads no further: the rest, which is padding, is thrown away then. */
export function feed(tar: Readable, into: Writable): void {
  const enough = () => {
    tar.unpipe(into)
    tar.resume()
  }
  into.once('error', enough).once('close', enough)
  into.on('error', () => undefined)
  tar.pipe(into)
}

/** Whether what a program or an engine said is that a disk is full. */
export function saysFull(said: string): boolean {
  return /no space left on device|disk quota exceeded/i.test(said)
}
