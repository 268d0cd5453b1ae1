/** A branch's landings and ejections as lines of its feed. Plain text: readers of feeds show it as they like. */
import { readReason } from './ejection.ts'
import { commit, join, type Names, type Phrase, plain, say, who } from './phrase.ts'
import { type DecisionParts, decisionWords } from './steward.ts'

/** How many of a batch's pulls are named. */
const NAMED = 20

interface Member {
  title: string
  /** Their AT-URI and their author's DID; absent for one that is not known any more. */
  pull: string
  author?: string | undefined
}

export type FeedParts =
  | { kind: 'landed'; branch: string; tip: string; members: readonly Member[] }
  | {
      kind: 'ejected'
      title: string
      pull: string
      author: string
      reason?: string | undefined
      ejection?: string | undefined
      decision?: DecisionParts | undefined
    }

/** Title and summary of one entry. `ejection` is the kind that its record says. */
export function feedWords(parts: FeedParts, names: Names): { title: string; summary: string } {
  const text = (phrase: Phrase) => plain(phrase, 0, names)
  if (parts.kind === 'ejected') {
    const { reason, says } = readReason(parts.reason, parts.ejection)
    return {
      title: text(say`Ejected: ${{ title: parts.title, pull: parts.pull }}`),
      summary: text(
        join(say`By ${who(parts.author)}. It was turned away: ${reason}.`, say`${says}`, parts.decision && decided(parts.decision)),
      ),
    }
  }
  const { members } = parts
  const [first] = members
  const size = members.length
  const what = size === 1 && first !== undefined ? say`${{ title: first.title, pull: first.pull }}` : say`a batch of ${size}`
  const named = members.slice(0, NAMED).map(member => text(memberWords(member)))
  const more = size > NAMED ? [`${size - NAMED} more`] : []
  return {
    title: text(say`Landed: ${what}, ${parts.branch} is at ${commit(parts.tip)}`),
    summary: `${[...named, ...more].join('. ')}.`,
  }
}

function memberWords({ title, pull, author }: Member): Phrase {
  const quoted = { title, pull }
  return author === undefined ? say`${quoted}` : say`${quoted} (${who(author)})`
}

function decided(parts: DecisionParts): Phrase {
  const { says } = decisionWords(parts)
  if (parts.verdict === 'requeue') return say`The steward put it back: ${says}`
  return parts.verdict === 'reject' ? say`The steward rejected it: ${says}` : says
}

/** The name of the feed. `repo` is the repository as people write it. */
export function feedTitle(branch: string, repo: string): string {
  return `${branch} of ${repo}: landings and ejections`
}
