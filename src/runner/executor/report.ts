import type { Dirent } from 'node:fs'
import { constants } from 'node:fs'
import { lstat, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Glob, parseGlob, textOf } from '../../workflows/glob.ts'

export interface ReportFile {
  /** In the work tree. */
  path: string
  bytes: Buffer
}

const mostFiles = 500
const mostEntries = 200_000

/** The pattern of a workflow's report; undefined where it can match nothing. */
export function reportGlob(pattern: string): { glob: Glob; folder: string } | undefined {
  const clean = pattern.replace(/^\.\//, '')
  const read = parseGlob(clean)
  if (!read.ok) return undefined
  const parts = clean.split('/')
  const fixed = parts.findIndex(part => /[*?[\]{}\\]/.test(part))
  return { glob: read.glob, folder: parts.slice(0, fixed < 0 ? -1 : fixed).join('/') }
}

/** Files under `tree` that match, whole ones only, `most` bytes together, in order of their paths. No symbolic link is followed. Never rejects. */
export async function readReports(tree: string, pattern: string, most: number): Promise<ReportFile[]> {
  const wanted = reportGlob(pattern)
  if (wanted === undefined || !(await isPlainFolder(tree, wanted.folder))) return []
  const found: string[] = []
  let seen = 0
  const folders = [wanted.folder]
  for (let folder = folders.pop(); folder !== undefined && seen < mostEntries; folder = folders.pop()) {
    for (const entry of await entriesOf(join(tree, folder))) {
      seen++
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (entry.isDirectory()) folders.push(path)
      else if (entry.isFile() && wanted.glob.matches(textOf(path))) found.push(path)
    }
  }
  const files: ReportFile[] = []
  let left = most
  for (const path of found.sort().slice(0, mostFiles)) {
    const bytes = await readWhole(join(tree, path), left)
    if (bytes === undefined) continue
    left -= bytes.length
    files.push({ path, bytes })
  }
  return files
}

async function isPlainFolder(tree: string, folder: string): Promise<boolean> {
  let path = tree
  for (const part of folder.split('/')) {
    path = join(path, part)
    const stat = await lstat(path).catch(() => undefined)
    if (stat === undefined || !stat.isDirectory()) return false
  }
  return true
}

function entriesOf(path: string): Promise<Dirent[]> {
  return readdir(path, { withFileTypes: true }).catch(() => [])
}

async function readWhole(path: string, most: number): Promise<Buffer | undefined> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const stat = await file.stat()
    if (!stat.isFile() || stat.size > most) return undefined
    const bytes = Buffer.alloc(stat.size)
    const { bytesRead } = await file.read(bytes, 0, stat.size, 0)
    return bytes.subarray(0, bytesRead)
  } catch {
    return undefined
  }
}

/**
 * One document out of the files: the only one as it is, several as one `<testsuites>`. What does not look like JUnit XML is left out; undefined
 * when nothing is left.
 */
export function mergeReports(files: readonly ReportFile[]): Uint8Array | undefined {
  const texts = files.flatMap(({ bytes }) => {
    const text = bytes.toString('utf8').replace(/^\ufeff/, '')
    const root = rootOf(text)
    return root === undefined ? [] : [{ text, body: text.slice(root) }]
  })
  const [first] = texts
  if (first === undefined) return undefined
  if (texts.length === 1) return Buffer.from(first.text)
  return Buffer.from(
    `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${texts.map(({ body }) => body.trimEnd()).join('\n')}\n</testsuites>\n`,
  )
}

/** Where the root element begins, behind the declaration and comments; undefined where it is not JUnit's. */
function rootOf(text: string): number | undefined {
  let at = 0
  for (;;) {
    at = text.slice(at).search(/\S/) + at
    const end = text.startsWith('<?', at) ? '?>' : text.startsWith('<!--', at) ? '-->' : undefined
    if (end === undefined) return /^<testsuites?[\s/>]/.test(text.slice(at, at + 20)) ? at : undefined
    const close = text.indexOf(end, at)
    if (close < 0) return undefined
    at = close + end.length
  }
}
