/** What a queue page says beside its lists: the reader's own pulls, what estimates go by, when the branch moved. */
import type { AnswerContext } from '../../queue/answers/context.ts'
import type { entryParts } from '../../queue/answers/rows.ts'
import { standing } from '../../queue/standing.ts'
import type { BranchView, RepositoryView } from '../../queue/view.ts'
import { basisSentence, landsIn } from '../../queue/words/expected.ts'
import { liveWords, type YoursPart } from '../../queue/words/pages.ts'
import type { Phrase } from '../../queue/words/phrase.ts'
import type { QueuePage } from '../../views/models.ts'

/** Own pulls that are named; the others are counted. */
const MOST_YOURS = 3
const MOST_ESTIMATES = 4

/** Where the queued pulls of whoever reads are, in one sentence; undefined for nobody, and where there are none. */
export function yoursOf(view: RepositoryView, branch: BranchView | undefined, asking: AnswerContext): Phrase | undefined {
  const own = (branch?.queue ?? []).filter(({ pull }) => asking.caller !== undefined && pull.did === asking.caller)
  if (own.length === 0) return undefined
  const pulls = own.slice(0, MOST_YOURS).map((pull): YoursPart => {
    const { kind, position = 1, length = 1, expected } = standing(view, pull, asking)
    const lands = expected === undefined || 'none' in expected ? undefined : landsIn(expected.from, expected.to)
    const title = { title: pull.pull.value.title, pull: pull.pull.uri }
    const state = kind === 'landing' ? 'landing' : kind === 'in-ahead' ? 'ahead' : kind === 'in-batch' ? 'checked' : undefined
    return { title, position, length, in: state, lands }
  })
  return liveWords({ key: 'yours', pulls, more: own.length - pulls.length })
}

/** What the landing times of these rows go by, and why others have none; each once. */
export function estimatesOf(entries: ReturnType<typeof entryParts>): QueuePage['estimates'] {
  const said = entries.flatMap(({ standing: { expected } }) => {
    const { basis, none } = expected ?? {}
    if (basis !== undefined) return [basisSentence(basis)]
    return none === undefined ? [] : [none]
  })
  return [...new Map(said.map(phrase => [JSON.stringify(phrase), phrase])).values()].slice(0, MOST_ESTIMATES)
}

/** When the branch came to its tip: with its last landing, where that is where it is. */
export function tipTime(branch: BranchView | undefined): number | undefined {
  const last = branch?.landed[0]
  return last !== undefined && last.tip === branch?.tip ? last.at : undefined
}
