/** What figures are made of, out of records that stay and of what is kept of batches (REA-3, REA-4). */
import { createHonour } from '../../queue/honour.ts'
import { readRoles } from '../../queue/roles.ts'
import {
  DAY,
  type FigureBatch,
  type FigureFacts,
  type FigureRun,
  type SpanFigures,
  spanFigures,
  spanStart,
} from '../../queue/stats/figures.ts'
import { type QueueEvent, readStory, type StoryRow } from '../../queue/stats/story.ts'
import { tidAt } from '../../queue/tid.ts'
import { readStanding } from '../../queue/transfer.ts'
import type { IndexDatabase } from '../database.ts'
import { repositoryRecords } from '../read/facts.ts'
import { runnersOf } from './read.ts'
import { createRemembered } from './remembered.ts'
import { isDecided, textsOf } from './rows.ts'

/** Times in milliseconds since 1970. */
export interface FigureFactsQuery {
  repo: string
  /** Only of this branch; all of them together when absent. */
  branch?: string | undefined
  from: number
  to: number
  now: number
}

/** Pulls looked at for one answer, the last ones first, records about them, and batches and runs. */
const MOST_PULLS = 30_000
const MOST_RECORDS = 150_000
const MOST_BATCHES = 30_000

const remembered = createRemembered<SpanFigures>(300)

/** The figures of the last `days` UTC days with today's, of a branch or of all together. Remembered until something about the repository changes. */
export function figuresOf(
  index: IndexDatabase,
  { repo, branch, days, now }: Pick<FigureFactsQuery, 'repo' | 'branch' | 'now'> & { days: number },
): SpanFigures {
  const from = spanStart(now, days)
  return remembered(index, repo, [branch, from, days], () =>
    spanFigures(figureFactsOf(index, { repo, branch, from, to: from + days * DAY, now }), from, days),
  )
}

/** Everything that figures between two times are made of. Empty for a repository that is not known. */
export function figureFactsOf(index: IndexDatabase, query: FigureFactsQuery): FigureFacts {
  const records = repositoryRecords(index, query.repo)
  if (records === undefined) return { events: [], batches: [], runs: [] }
  const standing = readStanding(records, query.now)
  const home = standing.governing.uri
  const span = { ...query, home, addresses: JSON.stringify([...standing.addresses]) }
  const honour = createHonour(standing, readRoles(standing.governing))
  const within = ({ at }: QueueEvent) => at >= query.from && at < query.to
  const runners = JSON.stringify(runnersOf(index, home))
  return {
    events: readStory(storyRows(index, span), honour, query.now).filter(within),
    batches: batchRows(index, { ...span, runners }),
    runs: runRows(index, { ...span, runners }),
  }
}

interface Span extends FigureFactsQuery {
  /** The address that governs. */
  home: string
  /** JSON arrays. */
  addresses: string
}

type OnBranch<S extends Span> = Omit<S, 'branch'> & { branch?: string | null | undefined }
type Kept = OnBranch<Span> & { runners: string }

const members = 'select did from member where repo = $home'
const addresses = 'select value from json_each($addresses)'
const onBranch = '($branch is null or p.branch = $branch)'

/** Queue and state records, by accounts that can count, about the pulls that anything was queued, ejected or landed of in a span. */
const story = `
  with near as (
    select subject, max(rkey) as last from (
      select q.subject, q.rkey from queue_record q
      where q.repo in (${addresses}) and q.rkey >= $from and q.rkey < $to and q.did in (${members})
      union all
      select s.subject, s.rkey from state s
      where s.repo in (${addresses}) and s.state = 'merged' and s.rkey >= $from and s.rkey < $to and s.did in (${members})
    ) group by subject order by last desc limit $pulls
  ), about as (
    select p.uri, p.did, p.branch from near cross join pull p on p.uri = near.subject where p.repo in (${addresses}) and ${onBranch}
  )
  select a.uri as pull, a.did as author, a.branch, q.did, q.rkey, q.state, json_extract(r.json, '$.createdAt') as createdAt,
    json_extract(r.json, '$.kind') as kind, json_extract(r.json, '$.ends') as ends, null as there
  from about a cross join queue_record q on q.subject = a.uri join record r on r.id = q.record_id
  where q.did in (${members}) and q.repo in (${addresses})
  union all
  select a.uri, a.did, a.branch, s.did, s.rkey, s.state, json_extract(r.json, '$.createdAt'), null, null, c.there
  from about a cross join state s on s.subject = a.uri join record r on r.id = s.record_id
  left join tip_facts t on t.repo = $home and t.branch = a.branch
  left join commit_on_branch c on c.repo = $home and c.branch = a.branch and c.commit_id = s.commit_id and c.line = t.line
    and (c.there = 1 or c.tip = t.tip)
  where s.state in ('merged', 'closed') and (s.did = a.did or s.did in (${members})) and s.repo in (${addresses})
  limit $records`

type StoredRow = Omit<StoryRow, 'kind' | 'ends' | 'there'> & { kind: string | null; ends: string | null; there: number | null }

function storyRows(index: IndexDatabase, { home, addresses: at, branch = null, from, to }: OnBranch<Span>): StoryRow[] {
  const rows = index.sqlite.prepare<[object], StoredRow>(story).all({
    home,
    addresses: at,
    branch,
    from: tidAt(Math.max(0, from)),
    to: tidAt(Math.max(0, to)),
    pulls: MOST_PULLS,
    records: MOST_RECORDS,
  })
  return rows.map(({ kind, ends, there, ...row }) => ({
    ...row,
    kind: kind ?? undefined,
    ends: ends ?? undefined,
    there: there === null ? undefined : there === 1,
  }))
}

const batches = `
  select b.branch, b.outcome, b.ended_at as endedAt, b.longest_ms as longestMs from past_batch b
  where b.repo in (${addresses}) and ($branch is null or b.branch = $branch) and b.ended_at >= $from and b.ended_at < $to
    and b.outcome is not null and b.did in (select value from json_each($runners)) and ${isDecided}
  order by b.ended_at desc limit $limit`

function batchRows(index: IndexDatabase, { addresses: at, branch = null, from, to, runners }: Kept): FigureBatch[] {
  const rows = index.sqlite
    .prepare<[object], Omit<FigureBatch, 'longestMs'> & { longestMs: number | null }>(batches)
    .all({ addresses: at, branch, from, to, runners, limit: MOST_BATCHES })
  return rows.map(row => ({ ...row, longestMs: row.longestMs ?? undefined }))
}

/** Of batches that were being checked in a span: a batch's runs end with it, or before it. */
const runs = `
  select b.branch, r.workflow, r.state, r.verdict, r.cause, r.ended_at as endedAt, r.retried from past_batch b join past_run r on r.batch = b.id
  where b.repo in (${addresses}) and ($branch is null or b.branch = $branch) and b.ended_at >= $from and r.ended_at >= $from and r.ended_at < $to
    and b.did in (select value from json_each($runners)) and (r.state in ('cancelled', 'no-verdict') or r.retried is not null)
  order by r.ended_at desc limit $limit`

type RunRow = Omit<FigureRun, 'verdict' | 'cause' | 'retried'> & Record<'verdict' | 'cause' | 'retried', string | null>

function runRows(index: IndexDatabase, { addresses: at, branch = null, from, to, runners }: Kept): FigureRun[] {
  const rows = index.sqlite.prepare<[object], RunRow>(runs).all({ addresses: at, branch, from, to, runners, limit: MOST_BATCHES })
  return rows.map(row => ({
    ...row,
    verdict: row.verdict ?? undefined,
    cause: row.cause ?? undefined,
    retried: row.retried === null ? [] : textsOf(row.retried),
  }))
}

/** Titles and authors of pulls, by their address; those that are not held are not in it. At most 500. */
export function titlesOf(index: IndexDatabase, pulls: readonly string[]): ReadonlyMap<string, { title: string; author: string }> {
  const rows = index.sqlite
    .prepare<[string], { uri: string; did: string; title: string | null }>(
      `select p.uri, p.did, json_extract(r.json, '$.title') as title from pull p join record r on r.id = p.record_id
       where p.uri in (select value from json_each(?)) limit 500`,
    )
    .all(JSON.stringify(pulls.slice(0, 500)))
  return new Map(rows.map(({ uri, did, title }) => [uri, { title: title ?? '', author: did }]))
}
