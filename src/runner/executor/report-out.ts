import type Docker from 'dockerode'
import { textOf } from '../../workflows/glob.ts'
import { inside } from './cache.ts'
import { answered } from './engine.ts'
import { mergeReports, reportGlob } from './report.ts'
import { readTar } from './tar.ts'

/** The report of a run out of its container, `most` bytes at the most; undefined where none matches. Never rejects. */
export async function readReport(container: Docker.Container, pattern: string, most: number): Promise<Uint8Array | undefined> {
  const wanted = reportGlob(pattern)
  if (wanted === undefined) return undefined
  const outer = await readFirst(container, inside.report, 2 * most + 2 ** 20)
  // Of the outer tar's one file the first part may be all that was read.
  const files = readTar(readTar(outer, { cut: true })[0]?.bytes ?? Buffer.alloc(0))
    .map(file => ({ path: file.name.replace(/^\.\//, ''), bytes: file.bytes }))
    .filter(({ path }) => wanted.glob.matches(textOf(path)))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
  let room = most
  return mergeReports(
    files.filter(({ bytes }) => {
      if (bytes.length > room) return false
      room -= bytes.length
      return true
    }),
  )
}

async function readFirst(container: Docker.Container, path: string, most: number): Promise<Buffer> {
  const parts: Buffer[] = []
  let size = 0
  try {
    for await (const piece of await answered(container.getArchive({ path }))) {
      const chunk = Buffer.from(piece)
      parts.push(chunk)
      size += chunk.length
      if (size > most) break
    }
  } catch {
    // There is none; or what came of it is all there is.
  }
  return Buffer.concat(parts)
}
