/** What building a batch is measured on: a large repository, mirrors over it that have nothing else yet, and a ground as a pass would have read it. */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createGuardedFetch } from '../../src/atproto/guarded-fetch.ts'
import { createIdentity } from '../../src/atproto/identity.ts'
import { makeAtUri, parseAtUri, parseDid } from '../../src/atproto/ids.ts'
import { createReader } from '../../src/atproto/reader.ts'
import { maintainMirror } from '../../src/git/maintain.ts'
import { createMirrors, openMirror } from '../../src/git/mirror.ts'
import { checkRefsRecord } from '../../src/git/refs-record.ts'
import { dev } from '../../src/lexicons/index.ts'
import type { Stored } from '../../src/queue/facts.ts'
import { foldRepository } from '../../src/queue/fold.ts'
import { tidAt } from '../../src/queue/tid.ts'
import { createBuilder } from '../../src/runner/build/builder.ts'
import { createLog } from '../../src/runner/log.ts'
import type { Builder, Ground } from '../../src/runner/types.ts'
import { line } from '../gateway/git-client.ts'
import { type MadeRepository, makeRepository, type Size } from '../gateway/repository.ts'

const { knotless } = dev

export interface Candidate {
  pull: string
  entry: string
  key: string
}

export interface BuildWorld {
  repository: MadeRepository
  /** A pull that conflicts with the first one. */
  conflicting: Candidate
  /** A pull that changes nothing on the branch; no commit there names it, so that all are looked at. */
  landed: Candidate
  /** A git directory that reads the repository's objects and has none of its own. */
  freshMirror(): Promise<string>
  /** A builder that knows nothing yet, over a fresh mirror, and what it is to build. */
  fresh(): Promise<{
    builder: Builder & { close(): Promise<void> }
    ground: Ground
    order: { base: string; candidates: readonly Candidate[]; most: number }
  }>
}

const owner = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa'
const runner = 'did:plc:rrrrrrrrrrrrrrrrrrrrrrrr'
const started = Date.parse('2026-11-30T10:00:00Z')
const createdAt = new Date(started).toISOString()
const repo = `at://${owner}/dev.knotless.repo/orchard`

export async function makeBuildWorld(dir: string, size: Size): Promise<BuildWorld> {
  const repository = await makeRepository(join(dir, 'whole.git'), size)
  const done = await maintainMirror(await openMirror(repository.gitDir), Date.now())
  if (!done.ok) throw new Error(done.message)
  const opposed = await opposing(repository)
  const heads = [...repository.heads, opposed, repository.main]
  const refs = [
    { name: 'refs/heads/main', commit: repository.main, generation: 1 },
    ...heads.map((commit, n) => ({ name: `refs/heads/pull-${n}`, commit, generation: 1 })),
  ]
  const candidates = heads.map((_, n): Candidate => {
    const key = tidAt(started + n)
    return { pull: `at://${owner}/dev.knotless.pull/${key}`, entry: `at://${owner}/dev.knotless.queue/${key}`, key }
  })
  const ground = groundOf(refs, candidates)
  const none = { pull: '', entry: '', key: '' }
  let count = 0

  async function freshRoot(): Promise<{ root: string; path: string }> {
    const root = join(dir, `mirrors-${count++}`)
    const path = join(root, `${createHash('sha256').update(repo).digest('hex').slice(0, 32)}.git`)
    await openMirror(path)
    writeFileSync(join(path, 'objects', 'info', 'alternates'), `${join(repository.gitDir, 'objects')}\n`)
    writeFileSync(
      join(path, 'packed-refs'),
      refs
        .map(({ name, commit }) => `${commit} ${name}\n`)
        .sort()
        .join(''),
    )
    return { root, path }
  }

  return {
    repository,
    conflicting: candidates.at(-2) ?? none,
    landed: candidates.at(-1) ?? none,
    freshMirror: async () => (await freshRoot()).path,
    async fresh() {
      const { root } = await freshRoot()
      const fetch = createGuardedFetch({ allowLoopback: true })
      const identity = createIdentity({ plcUrl: 'http://127.0.0.1:1', fetch, now: Date.now })
      const reader = createReader({ identity, fetch, now: Date.now })
      const did = parseDid(runner)
      if (did === undefined) throw new Error('no DID')
      const log = createLog({ form: 'text', now: Date.now, write: line => console.error(line) })
      const builder = createBuilder({ mirrors: createMirrors(root), reader, identity, did, now: Date.now, log })
      const brought = await builder.bring(ground)
      if (!brought.ok) throw new Error(brought.message)
      return { builder, ground, order: { base: repository.main, candidates: candidates.slice(0, -2), most: 8 } }
    },
  }
}

/** A head off the branch's tip that changes the first pull's file in its last line, as that one does. */
async function opposing({ gitDir, heads: [head = ''], main }: MadeRepository): Promise<string> {
  const listed = await line(gitDir, ['diff-tree', '-r', '--no-commit-id', '--name-only', '--diff-filter=M', `${head}~1`])
  const [path = ''] = listed.split('\n')
  const env = { GIT_INDEX_FILE: join(gitDir, 'index-opposing') }
  const blob = await line(gitDir, ['hash-object', '-w', '--stdin'], 'all of it is another\n')
  await line(gitDir, ['read-tree', main], '', env)
  await line(gitDir, ['update-index', '--cacheinfo', `100644,${blob},${path}`], '', env)
  const tree = await line(gitDir, ['write-tree'], '', env)
  const who = 'A Grower <grower@example.com> 1790000000 +0000'
  const content = `tree ${tree}\nparent ${main}\nauthor ${who}\ncommitter ${who}\n\nOpposing\n`
  return await line(gitDir, ['hash-object', '-t', 'commit', '-w', '--stdin'], content)
}

function groundOf(refs: readonly { name: string; commit: string; generation: number }[], candidates: readonly Candidate[]): Ground {
  const stored = <T>(collection: string, rkey: string, value: T): Stored<T> => ({
    uri: `at://${owner}/${collection}/${rkey}`,
    did: owner,
    rkey,
    cid: `bafy-${collection}-${rkey}`,
    value,
    seenAt: started,
    backfilled: true,
  })
  const fields = { defaultBranch: 'main', collaborators: [], runners: [{ did: runner }], protections: [], createdAt }
  const record = stored('dev.knotless.repo', 'orchard', knotless.repo.main.parse({ $type: 'dev.knotless.repo', ...fields }))
  const raw = { $type: 'dev.knotless.refs', repo, refs, packs: [], updatedAt: createdAt }
  const refsRecord = stored('dev.knotless.refs', 'orchard', knotless.refs.main.parse(raw))
  const checked = checkRefsRecord(raw, repo)
  if (!checked.ok) throw new Error(checked.message)
  const pulls = candidates.map(({ key }, n) => {
    const head = { repo, branch: `pull-${n}` }
    const value = { $type: 'dev.knotless.pull', repo, branch: 'main', head, title: `Change ${n}`, createdAt }
    return stored('dev.knotless.pull', key, knotless.pull.main.parse(value))
  })
  const facts = { repo: record, refs: new Map([[repo, refsRecord]]), pulls, states: [], queue: [], checks: [], landers: [] }
  const view = foldRepository({ ...facts, gone: new Set(), merges: new Map(), tips: new Map() }, started + 60_000)
  const did = parseDid(owner)
  const at = parseAtUri(repo)
  if (did === undefined || at === undefined) throw new Error('no address')
  const uri = makeAtUri(at.did, at.collection, at.rkey)
  return {
    repo: uri,
    owner: did,
    name: at.rkey,
    view,
    refs: checked.record,
    stored: refsRecord,
    sources: new Map(),
    unread: [],
    readAt: started,
  }
}
