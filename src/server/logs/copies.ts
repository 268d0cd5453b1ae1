/** Logs on this server's disk: each as blocks of lines, packed one by one, with an index of where each begins. What was used longest ago goes first. */
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { z } from 'zod'
import { type BlockBounds, createBlocks } from './blocks.ts'

const pack = promisify(gzip)
const unpack = promisify(gunzip)

const shape = z.object({
  lines: z.number().int().min(0),
  /** Bytes of the text. */
  bytes: z.number().int().min(0),
  /** Why there is no more of it. */
  cut: z.enum(['long', 'damaged']).optional(),
  /** Of each block: where it begins in the file, and the number of its first line, from 1. */
  blocks: z.array(z.tuple([z.number().int().min(0), z.number().int().min(1)])).max(100_000),
  size: z.number().int().min(0),
})

export type CopyIndex = z.infer<typeof shape>

/** `all`: bytes of all copies together. `each`: bytes of one. `text`: bytes of one log's text. */
export interface CopyBounds extends BlockBounds {
  all: number
  each: number
  text: number
}

export const copyBounds: CopyBounds = { block: 2 ** 18, line: 2 ** 16, all: 2 * 2 ** 30, each: 2 ** 29, text: 2 ** 30 }

/** Files of copies, two for each; and how long they are not looked at. */
const MOST_FILES = 20_000
const TIDY_MS = 60_000

export interface Heard {
  told: (lines: number) => void
  cutBy: (error: unknown) => CopyIndex['cut']
}

export interface Copies {
  /** The index of a copy that is here. */
  find(key: string): Promise<CopyIndex | undefined>
  /**
   * Makes a copy of a text, and tells of its lines as they come. A text over the bounds is cut and the cut is kept, as it is where `cutBy` says of an
   * error that what came before it is good. Rejects with any other error, and with those of the disk.
   */
  make(key: string, text: AsyncIterable<Uint8Array>, heard: Heard): Promise<CopyIndex>
  /** Whether the copy of this index is still here; it counts as used now. */
  touch(key: string, index: CopyIndex): Promise<boolean>
  /** The bytes of one block, counted from 0. */
  block(key: string, index: CopyIndex, at: number): Promise<Buffer>
}

/** Copies in a folder, which several processes may share. */
export function createCopies(folder: string, bounds: CopyBounds = copyBounds): Copies {
  const pathOf = (key: string) => join(folder, createHash('sha256').update(key).digest('hex').slice(0, 40))
  let tidying: Promise<void> | undefined
  let tidiedAt = 0
  let added = Number.POSITIVE_INFINITY

  /** Looks after the folder where much came into it, or some time went by: looking at all of it each time would cost more than the copies. */
  async function looked(size: number): Promise<void> {
    added += size
    if (added < bounds.all / 32 && Date.now() - tidiedAt < TIDY_MS) return
    added = 0
    tidiedAt = Date.now()
    tidying ??= tidy().finally(() => {
      tidying = undefined
    })
    await tidying
  }

  /** Files by use, the oldest first; those over the bounds and those that nobody ended are removed. */
  async function tidy(): Promise<void> {
    const found: { path: string; size: number; at: number }[] = []
    for (const name of await readdir(folder)) {
      const path = join(folder, name)
      const file = await stat(path).catch(() => undefined)
      if (file !== undefined) found.push({ path, size: file.size, at: file.mtimeMs })
    }
    let sum = found.reduce((all, { size }) => all + size, 0)
    let count = found.length
    for (const { path, size, at } of found.sort((a, b) => a.at - b.at)) {
      const isLeft = path.endsWith('.part') && Date.now() - at > 3_600_000
      if (sum <= bounds.all && count <= MOST_FILES && !isLeft) continue
      await rm(path, { force: true })
      sum -= size
      count--
    }
  }

  async function write(path: string, text: AsyncIterable<Uint8Array>, { told, cutBy }: Heard): Promise<CopyIndex> {
    const index: CopyIndex = { lines: 0, bytes: 0, blocks: [], size: 0 }
    await using file = await open(path, 'wx', 0o600)
    const blocks = createBlocks(bounds)
    const keep = async (block: ReturnType<typeof blocks.end>) => {
      if (block === undefined) return
      const packed = await pack(block.bytes, { level: 1 })
      await file.writeFile(packed)
      index.blocks.push([index.size, index.lines + 1])
      index.size += packed.length
      index.lines += block.lines
      index.bytes += block.bytes.length
      told(index.lines)
    }
    let read = 0
    // One block is packed and written while the next is read.
    let keeping: Promise<void> = Promise.resolve()
    try {
      for await (const chunk of text) {
        for (const block of blocks.add(chunk)) {
          await keeping
          keeping = keep(block)
          keeping.catch(() => undefined)
        }
        read += chunk.length
        if (read >= bounds.text || index.size >= bounds.each) {
          index.cut = 'long'
          break
        }
      }
    } catch (error) {
      const cut = cutBy(error)
      if (cut === undefined) throw error
      index.cut = cut
    }
    await keeping
    await keep(blocks.end())
    return index
  }

  async function touch(key: string, { size }: CopyIndex): Promise<boolean> {
    const path = pathOf(key)
    const file = await stat(`${path}.gz`).catch(() => undefined)
    if (file?.size !== size) return false
    const now = new Date()
    if (now.getTime() - file.mtimeMs < 60_000) return true
    for (const end of ['gz', 'json']) await utimes(`${path}.${end}`, now, now).catch(() => undefined)
    return true
  }

  return {
    async find(key) {
      const path = pathOf(key)
      const json = await readFile(`${path}.json`, 'utf8').catch(() => undefined)
      if (json === undefined) return undefined
      const index = shape.safeParse(parsed(json))
      return index.success && (await touch(key, index.data)) ? index.data : undefined
    },
    touch,
    async make(key, text, heard) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const path = pathOf(key)
      const part = `${path}.${randomUUID()}.part`
      try {
        const index = await write(part, text, heard)
        await rename(part, `${path}.gz`)
        await writeFile(`${part}`, JSON.stringify(index), { mode: 0o600 })
        await rename(part, `${path}.json`)
        await looked(index.size)
        return index
      } catch (error) {
        await rm(part, { force: true })
        throw error
      }
    },
    async block(key, index, at) {
      const from = index.blocks[at]?.[0]
      const to = index.blocks[at + 1]?.[0] ?? index.size
      if (from === undefined || to < from) throw new RangeError('no such block')
      await using file = await open(`${pathOf(key)}.gz`, 'r')
      const packed = Buffer.alloc(to - from)
      await file.read(packed, 0, packed.length, from)
      return await unpack(packed, { maxOutputLength: bounds.block + bounds.line + 64 })
    },
  }
}

/** A file that was not written to its end is no JSON. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
