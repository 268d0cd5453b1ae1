/** What a queue page says beside its lists: the reader's own pulls, what estimates go by, when the branch moved. */
import type { AnswerContext } from '../../queue/answers/context.ts'
import { standing } from '../../queue/standing.ts'
import type { BranchView, RepositoryView } from '../../queue/view.ts'
import { basisSentence, landsIn } from '../../queue/words/expected.ts'
import { liveWords, type YoursPart } from '../../queue/words/pages.ts'
import type { Phrase } from '../../queue/words/phrase.ts'

/** Own pulls that are named; the others are counted. */
const MOST_YOURS = 3
const MOST_ESTIMATES = 4

/** A row as far as its landing time goes: what that goes by, or why there is none. */
interface Estimated {
  standing: { expected?: { basis?: Phrase | undefined; none?: Phrase | undefined } | undefined }
}

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

/** What the landing times of these rows go by, each once; where none has one, why most have none. A row that has none for another reason says it itself. */
export function estimatesOf(entries: readonly Estimated[]): Phrase[] {
  const expected = entries.flatMap(entry => entry.standing.expected ?? [])
  const bases = countEach(expected.flatMap(({ basis }) => (basis === undefined ? [] : [basisSentence(basis)])))
  if (bases.length > 0) return bases.slice(0, MOST_ESTIMATES)
  return countEach(expected.flatMap(({ none }) => (none === undefined ? [] : [none]))).slice(0, 1)
}

/** Each once, the most frequent first. */
function countEach(phrases: readonly Phrase[]): Phrase[] {
  const counts = new Map<string, { phrase: Phrase; n: number }>()
  for (const phrase of phrases) {
    const key = JSON.stringify(phrase)
    const { n } = counts.get(key) ?? { n: 0 }
    counts.set(key, { phrase, n: n + 1 })
  }
  return [...counts.values()].sort((a, b) => b.n - a.n).map(({ phrase }) => phrase)
}

/** When the branch came to its tip: with its last landing, where that is where it is. */
export function tipTime(branch: BranchView | undefined): number | undefined {
  const last = branch?.landed[0]
  return last !== undefined && last.tip === branch?.tip ? last.at : undefined
}
