/** Repositories with their records as a stream would bring them: made up, but of the shape and size of real ones. */
import { createHash } from 'node:crypto'
import { cidForLex } from '@atproto/lex-cbor'
import type { LexMap } from '@atproto/lex-data'
import type { RecordEvent } from '../src/indexer/ingest/events.ts'
import { tidAt } from '../src/queue/tid.ts'

const letters = 'abcdefghijklmnopqrstuvwxyz234567'

/** A DID that is the same for the same words. */
export function didOf(words: string): string {
  const digest = createHash('sha256').update(words).digest()
  return `did:plc:${[...digest.subarray(0, 24)].map(byte => letters[byte % 32]).join('')}`
}

export function commitOf(words: string): string {
  return createHash('sha1').update(words).digest('hex')
}

/** Counts up: keys and revisions of what is made here, a millisecond apart. */
export interface Ticker {
  next(): { ms: number; tid: string }
}

export function createTicker(fromMs: number): Ticker {
  let ms = fromMs
  return {
    next() {
      ms += 1
      return { ms, tid: tidAt(ms) }
    },
  }
}

/** Makes events of records. CIDs cost more than everything else here, so that they are only real where `realCids` asks for it. */
export function createMaker(ticker: Ticker, { realCids = false } = {}) {
  const filler = 'bafyreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku'
  return async function make(did: string, collection: string, record: LexMap, rkey?: string): Promise<RecordEvent> {
    const { ms, tid } = ticker.next()
    const value = { $type: collection, ...record, ...(collection === 'dev.knotless.refs' ? {} : { createdAt: new Date(ms).toISOString() }) }
    const cid = realCids ? (await cidForLex(value)).toString() : filler
    const place = { did, collection, rkey: rkey ?? tid, rev: tid }
    return { kind: 'record', source: 'live', ...place, operation: 'create', cid, record: value, timeUs: ms * 1_000 }
  }
}

export type Maker = ReturnType<typeof createMaker>

export interface MadeRepository {
  uri: string
  owner: string
  collaborator: string
  runner: string
  events: RecordEvent[]
  /** Addresses of its open pulls. */
  pulls: string[]
}

/** A repository with this many pulls, the first `queued` of them queued and the others landed; about 4 records a landed pull, 2 a queued one. */
export async function makeRepository(
  make: Maker,
  words: string,
  size: { pulls: number; queued: number; refs?: boolean },
): Promise<MadeRepository> {
  const [owner, collaborator, author, runner] = ['owner', 'collaborator', 'author', 'runner'].map(role => didOf(`${words} ${role}`))
  if (owner === undefined || collaborator === undefined || author === undefined || runner === undefined) throw new Error('no accounts')
  const name = `repo-${words}`
  const uri = `at://${owner}/dev.knotless.repo/${name}`
  const events: RecordEvent[] = []
  const pulls: string[] = []
  events.push(
    await make(
      owner,
      'dev.knotless.repo',
      {
        description: `Number ${words}`,
        defaultBranch: 'main',
        collaborators: [{ did: collaborator }],
        runners: [{ did: runner }],
        protections: [],
      },
      name,
    ),
  )
  const heads = Array.from({ length: size.queued }, (_, n) => ({
    name: `refs/heads/topic-${n}`,
    commit: commitOf(`${words} ${n}`),
    generation: 1,
  }))
  const refs = [{ name: 'refs/heads/main', commit: commitOf(words), generation: 1 }, ...heads]
  if (size.refs !== false)
    events.push(await make(owner, 'dev.knotless.refs', { repo: uri, refs, packs: [], updatedAt: '2026-11-01T00:00:00.000Z' }, name))
  for (let n = 0; n < size.pulls; n++) {
    const isQueued = n < size.queued
    const head = { repo: uri, branch: `topic-${n}` }
    const pull = await make(author, 'dev.knotless.pull', {
      repo: uri,
      branch: 'main',
      head,
      title: `Graft row ${n} of ${words}, and say why in a line of some length`,
      body: 'It bears more that way.',
    })
    const subject = `at://${pull.did}/${pull.collection}/${pull.rkey}`
    events.push(pull)
    events.push(
      await make(collaborator, 'dev.knotless.queue', {
        repo: uri,
        subject,
        state: 'queued',
        head: commitOf(`${words} ${n}`),
        branch: 'main',
      }),
    )
    if (isQueued) pulls.push(subject)
    else {
      const commit = commitOf(`${words} landed ${n}`)
      const check = {
        repo: uri,
        workflow: 'test',
        status: 'success',
        ref: 'refs/heads/main',
        generation: 1,
        commit,
        baseCommit: commitOf(words),
        batch: [{ pull: subject, head: commitOf(`${words} ${n}`), commit }],
        of: 1,
      }
      events.push(await make(runner, 'dev.knotless.check', check, `queue:${commit.slice(0, 26)}:${ticker36(n)}`))
      events.push(await make(runner, 'dev.knotless.state', { repo: uri, subject, state: 'merged', commit, batch: commit }))
    }
  }
  return { uri, owner, collaborator, runner, events, pulls }
}

function ticker36(n: number): string {
  return n.toString(36).padStart(6, '0')
}
