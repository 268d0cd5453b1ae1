import type { FastifyInstance } from 'fastify'
import { LRUCache } from 'lru-cache'
import { loadPastFacts } from '../../indexer/read.ts'
import { decisionOn } from '../../queue/decisions.ts'
import { foldRepository } from '../../queue/fold.ts'
import { branchPast, type PastEvent } from '../../queue/past.ts'
import { tidMillis } from '../../queue/tid.ts'
import type { RepositoryView } from '../../queue/view.ts'
import { feedTitle, feedWords } from '../../queue/words/feed.ts'
import { atomFeed, type FeedEntry } from '../../views/feed.ts'
import { accountName, batchPathIn, feedPathIn, pullPathIn, queuePath, repositoryName, repositoryPath } from '../../views/paths.ts'
import { sendTagged } from '../http/tagged.ts'
import { hasBranch } from '../xrpc/present-branch.ts'
import { type BranchParams, noBranch } from './branch-params.ts'
import type { PageContext } from './context.ts'
import { type Located, locate, repoParams } from './locate.ts'
import { lookedFor } from './lookup-words.ts'
import { sendMissing } from './send.ts'

/** Landings and ejections in a feed. */
const ENTRIES = 50
/** Merged states looked at for them: a batch has one for each of its pulls. */
const STATES = 300
const MOST_BYTES = 4 * 2 ** 20

/** What happened on a branch as an Atom feed: its landings and ejections, newest first. */
export function addFeed(app: FastifyInstance, ctx: PageContext): void {
  const kept = new LRUCache<string, { version: number; text: string }>({
    maxSize: MOST_BYTES,
    sizeCalculation: ({ text }, url) => text.length + url.length,
  })

  app.get<{ Params: BranchParams }>('/:owner/:name/atom/*', { schema: { params: repoParams } }, (request, reply) => {
    const { owner, name, '*': branch } = request.params
    const at = locate(ctx, request.params)
    if (at === undefined) return sendMissing(ctx, request, reply, lookedFor.repository(owner, name))
    const address = feedPathIn(repositoryPath(at.head.owner, at.head.name), branch)
    const known = kept.get(address)
    const text = known?.version === at.version ? known.text : feedText(ctx, at, branch)
    if (text === undefined) return sendMissing(ctx, request, reply, noBranch(ctx, at, branch))
    kept.set(address, { version: at.version, text })
    return sendTagged(request, reply, { text, type: 'application/atom+xml; charset=utf-8', seconds: 0 })
  })
}

/** The feed of a branch; undefined when there is no such branch. */
function feedText(ctx: PageContext, at: Located, branch: string): string | undefined {
  if (!hasBranch(ctx, at.view, branch)) return undefined
  const { head, names } = at
  const loaded = loadPastFacts(ctx.database, at.row.uri, { branch, most: STATES })
  if (loaded === undefined) return undefined
  const view = foldRepository(loaded.facts, ctx.now())
  const repository = repositoryPath(head.owner, head.name)
  const whole = (path: string) => `${ctx.config.publicUrl}${path}`
  const voice: Voice = { names, path: path => whole(`${repository}${path}`), branch }
  const entries = branchPast(view, branch, ENTRIES).map(event => entryOf(view, event, voice))
  return atomFeed({
    id: tag(`feed/${head.owner.did}/${head.name}/${branch}`),
    title: feedTitle(branch, repositoryName(head.owner, head.name)),
    self: whole(feedPathIn(repository, branch)),
    page: whole(queuePath(head.owner, head.name, branch)),
    author: accountName(head.owner),
    updated: entries.length === 0 ? Date.parse(view.record.value.createdAt) : Math.max(...entries.map(entry => entry.updated)),
    entries,
  })
}

interface Voice {
  names: Located['names']
  /** The whole address of a path below the repository's. */
  path(below: string): string
  branch: string
}

function entryOf(view: RepositoryView, event: PastEvent, { names, path, branch }: Voice): FeedEntry {
  const account = (did: string) => ({ did, handle: names(did) })
  if (event.kind === 'ejected') {
    const { pull, record, at } = event
    const { uri, did, value } = pull.pull
    const { reason, kind } = record.value
    const decision = decisionOn(pull, record.uri)
    return {
      id: tag(`ejection/${record.did}/${record.rkey}`),
      ...feedWords(
        { kind: 'ejected', title: value.title, pull: uri, author: did, reason, ejection: kind, decision: decision?.value },
        names,
      ),
      at,
      updated: decision === undefined ? at : Math.max(at, tidMillis(decision.rkey)),
      href: path(pullPathIn('', account(did), uri)),
      by: accountName(account(record.did)),
    }
  }
  const { batch, at } = event
  const members = batch.members.map(member => {
    const pull = view.pulls.get(member.pull)?.pull
    return { title: pull?.value.title ?? '', pull: member.pull, author: pull?.did }
  })
  return {
    id: tag(`landing/${batch.by}/${batch.tip}`),
    ...feedWords({ kind: 'landed', branch, tip: batch.tip, members }, names),
    at,
    updated: at,
    href: path(batchPathIn('', batch.tip)),
    by: accountName(account(batch.by)),
  }
}

/** A name that stays, wherever the feed is served from (RFC 4151). */
function tag(specific: string): string {
  return `tag:knotless.dev,2026:${specific.split('/').map(encodeURIComponent).join('/').replaceAll('%3A', ':')}`
}
