import type { ObjectsPlace } from './objects.ts'
import { isCommitId } from './ref-names.ts'
import { type GitRefusal, refuse } from './refusal.ts'
import { runGit } from './run.ts'
import { words } from './words.ts'

/** A commit as its object has it, byte for byte. */
export interface CommitObject {
  id: string
  tree: string
  parents: readonly string[]
  /** The whole line, `author …`, without its newline. */
  author: Buffer
  /** The whole line, `committer …`, without its newline. */
  committer: Buffer
  /**
   * Names of all other headers, each as often as it is there: `encoding`, `gpgsig`, `mergetag` and whatever else somebody made up. An empty name
   * stands for lines that go on where nothing does.
   */
  otherHeaders: readonly string[]
  /** What the `encoding` header says that author and message are in; none: UTF-8. */
  encoding?: string
  message: Buffer
  /** The object has more bytes than are read of one: the message ends early, or headers do. */
  cut: boolean
}

/** Bytes that are read of one commit, and of each one after so many of one call. */
export const commitBounds = { bytes: 256 * 1024, allBytes: 32 * 2 ** 20, bytesAfter: 8 * 1024 } as const

/**
 * The commits with these ids, in the order asked, read by one run of git; undefined for what is not there or is no commit (a tag is none). Of a
 * commit over 256 KiB the first bytes are read and `cut` is set; after 32 MiB in all, of one over 8 KiB.
 */
export async function readCommits(place: ObjectsPlace, ids: readonly string[]): Promise<(CommitObject | undefined)[]> {
  if (ids.length === 0) return []
  const { dir, env = {}, signal } = place
  // Peeled on the way, so that nothing but a commit is ever read: of a tag comes the commit, which has another id.
  const names = ids.map(id => (isCommitId(id) ? `${id}^{commit}` : 'none'))
  const objects: { id: string; content: Buffer; cut: boolean }[] = []
  let bytes = 0
  const most = () => (bytes < commitBounds.allBytes ? commitBounds.bytes : commitBounds.bytesAfter)
  const onOutput = batchObjects(most, (id, content, cut) => {
    objects.push({ id, content, cut })
    bytes += content.length
  })
  const run = await runGit(['cat-file', '--batch'], { dir, env, signal, input: `${names.join('\n')}\n`, onOutput })
  if (run.code !== 0 || objects.length !== ids.length) throw new Error(`git cat-file failed (${run.ended}): ${run.stderr}`)
  return objects.map(({ id, content, cut }, at) => (id === ids[at] ? parseCommit(id, content, cut) : undefined))
}

/**
 * Takes what `cat-file --batch` prints as it comes and hands on each object, cut at `most()` bytes, in order; what is not there as an object
 * without id.
 */
function batchObjects(most: () => number, take: (id: string, content: Buffer, cut: boolean) => void): (chunk: Buffer) => boolean {
  let line = Buffer.alloc(0)
  let object: { id: string; size: number; left: number; most: number; kept: Buffer[]; keptSize: number } | undefined
  /** Takes what belongs to a header line; answers how much that was. */
  function header(chunk: Buffer): number {
    const end = chunk.indexOf(0x0a)
    line = Buffer.concat([line, end < 0 ? chunk : chunk.subarray(0, end)])
    if (end < 0) return chunk.length
    const found = /^([0-9a-f]{40}) \w+ (\d+)$/.exec(line.toString('latin1'))
    line = Buffer.alloc(0)
    if (found?.[1] === undefined) take('', Buffer.alloc(0), false)
    // A newline follows the content.
    else object = { id: found[1], size: Number(found[2]), left: Number(found[2]) + 1, most: most(), kept: [], keptSize: 0 }
    return end + 1
  }
  return chunk => {
    for (let rest = chunk; rest.length > 0; ) {
      if (object === undefined) {
        rest = rest.subarray(header(rest))
        continue
      }
      const piece = rest.subarray(0, object.left)
      rest = rest.subarray(piece.length)
      const kept = piece.subarray(0, Math.max(0, Math.min(object.size, object.most) - object.keptSize))
      object.kept.push(kept)
      object.keptSize += kept.length
      object.left -= piece.length
      if (object.left > 0) continue
      take(object.id, Buffer.concat(object.kept), object.size > object.most)
      object = undefined
    }
    return true
  }
}

/** The parts of a commit object; undefined when it is not one that git itself would make or take. */
function parseCommit(id: string, content: Buffer, cut: boolean): CommitObject | undefined {
  const end = content.indexOf('\n\n')
  const head = end < 0 ? content : content.subarray(0, end)
  const message = end < 0 ? Buffer.alloc(0) : Buffer.from(content.subarray(end + 2))
  const parents: string[] = []
  const otherHeaders: string[] = []
  let [tree, author, committer, encoding]: [string?, Buffer?, Buffer?, string?] = []
  for (let start = 0; start < head.length; ) {
    const stop = head.indexOf(0x0a, start)
    const line = head.subarray(start, stop < 0 ? head.length : stop)
    start += line.length + 1
    // A header goes on in the lines after it that begin with a space. No tree, parent or person does: whatever stands there is a header more.
    if (line[0] === 0x20) {
      if (otherHeaders.length === 0) otherHeaders.push('')
      continue
    }
    const name = line.toString('latin1', 0, Math.min(line.length, 64)).split(' ', 1)[0] ?? ''
    const value = () => line.toString('latin1', name.length + 1)
    if (name === 'tree' && tree === undefined) tree = value()
    else if (name === 'parent' && author === undefined) parents.push(value())
    else if (name === 'author' && author === undefined) author = Buffer.from(line)
    else if (name === 'committer' && committer === undefined) committer = Buffer.from(line)
    else {
      otherHeaders.push(name)
      if (name === 'encoding') encoding ??= value().slice(0, 64)
    }
  }
  if (tree === undefined || !isCommitId(tree) || !parents.every(isCommitId) || author === undefined || committer === undefined) {
    return undefined
  }
  return { id, tree, parents, author, committer, otherHeaders, ...(encoding === undefined ? {} : { encoding }), message, cut }
}

/** Writes a commit object with exactly these bytes into `place`, a quarantine; refused when they are no commit to git. */
export async function writeCommit(place: ObjectsPlace, content: Buffer): Promise<{ ok: true; id: string } | GitRefusal> {
  const run = await runGit(['hash-object', '-t', 'commit', '-w', '--stdin'], { ...place, input: content })
  const id = run.stdout.toString('latin1').trim()
  return run.code === 0 && isCommitId(id) ? { ok: true, id } : refuse('failed', words.gitFailed('write the commit'))
}
