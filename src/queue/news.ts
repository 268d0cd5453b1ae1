/** The last change of a queue or a pull, for those who listen to a live page. */
import { queueActivity } from './activity.ts'
import { batchOf } from './places.ts'
import { tidMillis } from './tid.ts'
import { timeline } from './timeline.ts'
import type { PullView, RepositoryView } from './view.ts'
import { readReason } from './words/ejection.ts'
import { liveWords } from './words/pages.ts'
import { type Phrase, say, who } from './words/phrase.ts'

/** The newest honoured change of any pull onto the branch or of a batch, and how many wait; undefined where nothing happened yet. */
export function queueNews(view: RepositoryView, branch: string, now: number): Phrase | undefined {
  let last: { pull: PullView; record: PullView['history'][number] } | undefined
  for (const pull of view.pulls.values()) {
    const record = pull.branch === branch ? pull.history.at(-1) : undefined
    if (record !== undefined && (last === undefined || record.rkey > last.record.rkey)) last = { pull, record }
  }
  const at = last === undefined ? 0 : tidMillis(last.record.rkey)
  const here = view.branches.get(branch)
  // What became of a batch is the news, and not what was recorded of each pull in it.
  const batch = here && queueActivity(view, here).find(event => event.batch !== undefined)
  const said = batch !== undefined && batch.at >= at ? say`${batch.says}.` : last && sentence(last.pull, last.record)
  if (said === undefined) return undefined
  const waiting = (here?.queue ?? []).filter(pull => batchOf(view, pull) === undefined).length
  return liveWords({ key: 'news', at: Math.max(at, batch?.at ?? 0), now, sentence: said, waiting })
}

function sentence(pull: PullView, record: PullView['history'][number]): Phrase {
  const title = { title: pull.pull.value.title, pull: pull.pull.uri }
  const by = who(record.did)
  switch (record.value.state) {
    case 'queued':
      return say`${by} queued ${title}.`
    case 'left':
      return say`${by} took ${title} out of the queue.`
    case 'ejected': {
      const { reason } = readReason(
        'reason' in record.value ? record.value.reason : undefined,
        'kind' in record.value ? record.value.kind : undefined,
      )
      return say`${title} was turned away: ${reason}.`
    }
    case 'merged':
      return say`${by} recorded that ${title} landed.`
    case 'closed':
      return say`${by} closed ${title}.`
    default:
      return say`${by} opened ${title} again.`
  }
}

/** The newest event of one pull; undefined where nothing happened but its opening. */
export function pullNews(view: RepositoryView, pull: PullView, now: number): Phrase | undefined {
  const events = timeline(view, pull)
  const last = events.at(-1)
  if (last === undefined || events.length === 1) return undefined
  return liveWords({ key: 'pull-news', at: last.at, now, sentence: last.says })
}
