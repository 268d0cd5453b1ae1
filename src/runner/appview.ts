import { type AtUri, type Did, parseDid } from '../atproto/ids.ts'
import { UpstreamError } from '../atproto/upstream-error.ts'
import type { AccountWriter } from '../atproto/writer.ts'
import { xrpcPath } from '../atproto/xrpc-read.ts'
import type { RepositoryFacts } from '../queue/facts.ts'
import type { Appview } from './context.ts'
import { factsOf, type Taken } from './reads/index-facts.ts'
import { reportCalls } from './reads/report-calls.ts'
import { askServer, readDocumentId, readGateway, readQueuePage, type ServerAnswer, type ServerCall } from './reads/server-answers.ts'
import type { Log } from './types.ts'

export interface AppviewOptions {
  /** `http://…` or `https://…`: where the runner reaches the server, whatever name it has for others (WHO-6). */
  url: string
  /** Signs the tokens by which the server knows the runner. */
  writer: Pick<AccountWriter, 'getServiceAuth'>
  /** For the operator's own address: not guarded. Bytes, times and redirects are bounded here. */
  fetch: typeof globalThis.fetch
  /** Milliseconds since 1970. */
  now: () => number
  log?: Pick<Log, 'warn'>
}

/** Bytes of one page, and records and pages of one answer. */
const PAGE_BYTES = 16 * 2 ** 20
const MOST_RECORDS = 50_000
const MOST_PAGES = 200
const SMALL_BYTES = 2 * 2 ** 20
/** How often an answer is begun anew because its version changed. */
const TRIES = 4
/** How long the server's DID, and whether it may write, are remembered; milliseconds. */
const DID_STANDS = 10 * 60_000
const DELEGATED_STANDS = 5_000
/** How long a push token is good for, in seconds: five minutes at most for the server, whose clock may be behind (GWY-10, REC-8). */
const TOKEN_SECONDS = 240

interface Known {
  version: string
  facts: RepositoryFacts
  taken: Taken
  issues: readonly string[]
}

/** The server at an address. */
export function createAppview(options: AppviewOptions): Appview {
  const { writer, now, log } = options
  const url = options.url.replace(/\/+$/, '')
  const { host } = new URL(url)
  const known = new Map<AtUri, Known>()
  const asking = new Map<AtUri, Promise<RepositoryFacts | undefined>>()
  const delegations = new Map<AtUri, { at: number; delegated: boolean | undefined }>()
  let named: { did: Did; at: number } | undefined

  const ask = (call: ServerCall): Promise<ServerAnswer> => askServer({ url, fetch: options.fetch }, call)

  async function did(): Promise<Did> {
    if (named !== undefined && Math.abs(now() - named.at) < DID_STANDS) return named.did
    const answer = await ask({ path: '/.well-known/did.json', maxBytes: SMALL_BYTES })
    const found = answer.ok ? parseDid(readDocumentId(answer.body)) : undefined
    if (found === undefined) throw new UpstreamError('bad-answer', host, 'its document names no DID')
    named = { did: found, at: now() }
    return found
  }

  /** Once for all who ask at the same time. */
  function facts(repo: AtUri): Promise<RepositoryFacts | undefined> {
    const answer = asking.get(repo) ?? readFacts(repo).finally(() => asking.delete(repo))
    asking.set(repo, answer)
    return answer
  }

  async function readFacts(repo: AtUri): Promise<RepositoryFacts | undefined> {
    for (let tried = 0; tried < TRIES; tried++) {
      const read = await readVersion(repo, known.get(repo))
      if (read === 'changed') continue
      if (read === undefined) known.delete(repo)
      else known.set(repo, read)
      return read?.facts
    }
    throw new UpstreamError('bad-answer', host, 'what it knows changes faster than it can be read')
  }

  /** All pages of one version. */
  async function readVersion(repo: AtUri, before: Known | undefined): Promise<Known | 'changed' | undefined> {
    const records: unknown[] = []
    const gone = new Set<string>()
    let issues: readonly string[] = []
    let version: string | undefined
    let cursor: string | undefined
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      const params = { repo, limit: 1_000, cursor, since: cursor === undefined ? before?.version : undefined }
      const answer = await ask({ path: xrpcPath('dev.knotless.getQueueRecords', params), maxBytes: PAGE_BYTES })
      if (!answer.ok) return refused(answer.refusal)
      const page = readQueuePage(answer.body)
      if (page === undefined) throw new UpstreamError('bad-answer', host, 'no page of records')
      if (page.unchanged === true && before?.version === page.version && cursor === undefined) return before
      version ??= page.version
      if (page.version !== version) return 'changed'
      records.push(...page.records)
      for (const account of page.gone ?? []) gone.add(account.did)
      issues = page.issues?.map(issue => issue.uri) ?? issues
      if (records.length > MOST_RECORDS) throw new UpstreamError('too-large', host, 'more records than are taken')
      if (page.cursor === undefined || page.cursor === cursor) {
        return made(repo, { version, records, gone: [...gone], issues }, before)
      }
      cursor = page.cursor
    }
    throw new UpstreamError('too-large', host, 'more pages than are taken')
  }

  function refused(refusal: { status: number; error: string }): 'changed' | undefined {
    if (refusal.error === 'RepoNotFound') return undefined
    if (refusal.error === 'VersionChanged') return 'changed'
    throw new UpstreamError('status', host, `answered ${refusal.status}`, { status: refusal.status })
  }

  function made(
    repo: AtUri,
    brought: { version: string; records: readonly unknown[]; gone: readonly string[]; issues: readonly string[] },
    before: Known | undefined,
  ): Known {
    const read = factsOf(repo, brought, before?.taken ?? new Map())
    if (read === undefined) throw new UpstreamError('bad-answer', host, 'its answer lacks the repository')
    if (read.refused.size > 0) log?.warn('records of the index left out', { repo, ...Object.fromEntries(read.refused) })
    return { version: brought.version, facts: read.facts, taken: read.taken, issues: brought.issues }
  }

  async function delegated(repo: AtUri): Promise<boolean | undefined> {
    const last = delegations.get(repo)
    if (last !== undefined && Math.abs(now() - last.at) < DELEGATED_STANDS) return last.delegated
    // A pass does not fail for it: where it does not answer, what it said last stands.
    const found = await askDelegated(repo).catch((error: unknown) => {
      if (error instanceof UpstreamError) return last?.delegated
      throw error
    })
    delegations.set(repo, { at: now(), delegated: found })
    return found
  }

  /** A merge status says it, of any pull: without one there is nothing to land. Of a repository that names another gateway it says nothing. */
  async function askDelegated(repo: AtUri): Promise<boolean | undefined> {
    const pull = (known.get(repo)?.facts ?? (await facts(repo)))?.pulls[0]?.uri
    if (pull === undefined) return undefined
    const answer = await ask({ path: xrpcPath('dev.knotless.getMergeStatus', { pull }), maxBytes: SMALL_BYTES })
    const gateway = answer.ok ? readGateway(answer.body) : undefined
    if (gateway === undefined || (gateway.did !== undefined && gateway.did !== (await did()))) return undefined
    return gateway.delegated
  }

  async function pushToken(): Promise<{ ok: true; token: string } | { ok: false; said: string }> {
    try {
      const token = await writer.getServiceAuth({ aud: await did(), lxm: 'dev.knotless.gitPush', seconds: TOKEN_SECONDS })
      return token.ok ? token : { ok: false, said: token.message }
    } catch (error) {
      if (error instanceof UpstreamError) return { ok: false, said: error.message }
      throw error
    }
  }

  async function report(pass: Parameters<Appview['report']>[0]): Promise<boolean> {
    try {
      for (const input of reportCalls(pass)) {
        const token = await writer.getServiceAuth({ aud: await did(), lxm: 'dev.knotless.reportPass', seconds: 60 })
        if (!token.ok) return false
        const answer = await ask({ path: '/xrpc/dev.knotless.reportPass', maxBytes: SMALL_BYTES, input, token: token.token })
        if (!answer.ok) return false
      }
      return true
    } catch (error) {
      if (error instanceof UpstreamError) return false
      throw error
    }
  }

  async function issues(repo: AtUri): Promise<readonly string[]> {
    await facts(repo)
    return known.get(repo)?.issues ?? []
  }

  return { url, did, facts, issues, delegated, pushToken, report }
}
