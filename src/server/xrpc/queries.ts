/** What the queries have in common: whose answer it is, from when, and how refusals and answers leave. */
import { type HandlerContext, InvalidRequestError } from '@atproto/xrpc-server'
import { type Did, parseHandle } from '../../atproto/ids.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import { didOfHandle, type VersionedView, versionOf } from '../../indexer/read.ts'
import type { Answer, AnswerContext } from '../../queue/answers/index.ts'
import { join, type Names, plain } from '../../queue/words/phrase.ts'
import { pullNotFound, type Refusal, repoNotFound } from '../../queue/words/refusals.ts'
import type { Context } from '../context.ts'
import { xrpcName } from '../refusals.ts'
import { type AnswerCache, createAnswerCache, type Made } from './answer-cache.ts'
import type { Caller } from './caller.ts'
import { answerHeaders, type Front } from './front.ts'

/** What came in, as xrpc-server gives it to a handler. */
interface Question {
  req: Pick<HandlerContext['req'], 'url' | 'headers'>
  params: object
  auth: Caller
}

/**
 * Answers one method's questions: from what was made a moment ago, else by `make`. Whose question it was is part of what is kept. Who has the
 * answer already, by its ETag, gets 304 from Express, which holds the ETag against the request; and would not if the request said `no-cache`,
 * as Node's fetch does whenever it sends an ETag.
 */
export function createQuery<B extends object>(ctx: Context, front: Front) {
  const answers: AnswerCache<B> = createAnswerCache<B>({
    versionOf: repo => versionOf(ctx.database, repo),
    count: result => ctx.metrics.xrpcCache.inc({ result }),
  })
  return async ({ req, params, auth }: Question, make: (caller: Did | undefined) => Made<B> | Promise<Made<B>>) => {
    const { caller } = auth.credentials
    const key = JSON.stringify([caller ?? '', params])
    const ask = () => answers.get(key, () => make(caller))
    const { body, bytes, etag } = await ask()
    if (caller === undefined) front.remember(req.url, ask)
    const headers = { ...answerHeaders, etag }
    const encoding = 'application/json' as const
    if (req.headers['if-none-match'] !== etag) return { encoding, buffer: bytes, headers }
    delete req.headers['cache-control']
    return { encoding, body, headers }
  }
}

/** The body of an answer, with what it is of. Throws the refusal by its name where there is none. */
export function made<B>(answer: Answer<B>, ctx: AnswerContext, of: { repo: string; version: number }): Made<B> {
  if (!answer.ok) throw refused(answer.refusal, ctx.now, ctx.names)
  return { body: answer.body, of }
}

/** A refusal as it leaves: by its name, with its sentences as text. */
export function refused(refusal: Refusal, now: number, names: Names): InvalidRequestError {
  return new InvalidRequestError(plain(join(refusal.message, refusal.advice), now, names), xrpcName(refusal.code))
}

/** The repository at an address, by its owner's DID or handle. Throws RepoNotFound. */
export async function findRepo(ctx: Context, uri: string): Promise<VersionedView> {
  const address = await withDid(ctx, uri)
  const found = address === undefined ? undefined : ctx.repositories.viewOf(address)
  if (found === undefined) throw refused(repoNotFound(uri.split('/').at(-1) ?? uri), ctx.now(), () => undefined)
  return found
}

/** The repository of a pull, with that pull in it, and the pull's address by DID. Throws PullNotFound. */
export async function findPull(ctx: Context, uri: string): Promise<VersionedView & { uri: string }> {
  const address = await withDid(ctx, uri)
  const found = address === undefined ? undefined : ctx.repositories.viewOfPull(address)
  if (found === undefined || address === undefined) throw refused(pullNotFound(), ctx.now(), () => undefined)
  const pull = found.view.pulls.get(address)
  // Whether what landed long ago is on its branch is looked at when somebody asks (STA-5).
  if (found.alone && pull?.state === 'merged' && pull.mergedThere === undefined) ctx.indexer.lookAt(address, found.view.uri)
  return { ...found, uri: address }
}

/** An AT-URI with its authority as a DID; undefined when its handle is nobody's, or cannot be looked up now. */
export async function withDid(ctx: Context, uri: string): Promise<string | undefined> {
  const authority = /^at:\/\/([^/]+)/.exec(uri)?.[1] ?? ''
  if (authority.startsWith('did:')) return uri
  const handle = parseHandle(authority)
  if (handle === undefined) return undefined
  const did = didOfHandle(ctx.database, handle) ?? (await ctx.identity.resolveHandle(handle).catch(unlessUpstream))
  return did === undefined ? undefined : `at://${did}${uri.slice('at://'.length + authority.length)}`
}

function unlessUpstream(error: unknown): undefined {
  if (!(error instanceof UpstreamError)) throw error
}
