import { LRUCache } from 'lru-cache'
import type { Mirrors } from '../../git/mirror.ts'
import { commitsOf, diffOf, parentOf } from '../../git/pull.ts'
import { changesWords } from '../../queue/words/pages.ts'
import type { ChangesModel } from '../../views/models.ts'

/** What lies between a branch and a head. */
export interface ChangesQuestion {
  target: string
  tip: string | undefined
  source: string
  head: string | undefined
  /** The commit that it landed as: what that changed is shown, since the head and its branch may be gone. */
  landed?: string | undefined
  /** Only these files, with more of each; of a renamed one both names. */
  only?: readonly string[] | undefined
}

/** Commits and diffs of pulls, by what they lie between. */
export interface Changes {
  of(question: ChangesQuestion): Promise<ChangesModel>
}

/** What was read; with `again`, it may be otherwise when it is read again. */
interface Read {
  model: ChangesModel
  again: boolean
}

/** A question that can be answered. */
type Between = { [name in 'target' | 'tip' | 'source' | 'head']: string } & Pick<ChangesQuestion, 'landed' | 'only'>

export interface ChangesOptions {
  /** Reads what lies between two commits. */
  read?: (between: Between) => Promise<Read>
  /** How long a page waits for what is being read, in milliseconds. */
  patienceMs?: number
}

const MOST_COMMITS = 100
const KEPT_BYTES = 32 * 2 ** 20
const KEPT = 500
/** Heads that are being read at a time: anybody may open a pull whose head takes git seconds. */
const AT_ONCE = 2
/** How many may wait to be read. */
const MOST_WAITING = 50
const PATIENCE_MS = 5_000

/**
 * Reads from the mirrors and keeps what was read last: commits never change, nor does what is wrong with them. Each is read once however many ask, a
 * few at a time; a page that would have to wait long is told so, and has it the next time.
 */
export function createChanges(mirrors: Mirrors, options: ChangesOptions = {}): Changes {
  const { read = between => readBetween(mirrors, between), patienceMs = PATIENCE_MS } = options
  const kept = new LRUCache<string, ChangesModel>({ max: KEPT, maxSize: KEPT_BYTES, sizeCalculation: sizeOf })
  const reading = new Map<string, Promise<ChangesModel>>()
  const waiting: (() => void)[] = []
  let running = 0

  async function turn(): Promise<void> {
    if (running >= AT_ONCE) await new Promise<void>(resolve => waiting.push(resolve))
    else running += 1
  }

  function next(): void {
    const resume = waiting.shift()
    if (resume === undefined) running -= 1
    else resume()
  }

  async function start(key: string, between: Between): Promise<ChangesModel> {
    await turn()
    try {
      const { model, again } = await read(between)
      if (!again) kept.set(key, model)
      return model
    } finally {
      next()
      reading.delete(key)
    }
  }

  return {
    async of({ landed, only, ...between }) {
      const { target, source } = between
      const { tip, head } = landed === undefined ? between : { tip: landed, head: landed }
      if (tip === undefined || head === undefined) return { ok: false, says: changesWords.unread }
      const key = JSON.stringify([target, tip, source, head, landed, only])
      const known = kept.get(key)
      if (known !== undefined) return known
      let asked = reading.get(key)
      if (asked === undefined) {
        if (waiting.length >= MOST_WAITING) return { ok: false, says: changesWords.slow }
        asked = start(key, { target, tip, source, head, landed, only })
        reading.set(key, asked)
      }
      return await within(asked, patienceMs)
    },
  }
}

async function within(asked: Promise<ChangesModel>, ms: number): Promise<ChangesModel> {
  const late = Promise.withResolvers<ChangesModel>()
  const timer = setTimeout(() => late.resolve({ ok: false, says: changesWords.slow }), ms)
  // Whoever waits no longer must not leave a failure that nobody hears of.
  asked.catch(() => undefined)
  try {
    return await Promise.race([asked, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

async function readBetween(mirrors: Mirrors, { target, tip: present, source, head, landed, only }: Between): Promise<Read> {
  const mirror = await mirrors.of(target)
  const parent = landed === undefined ? undefined : await parentOf(mirror, landed)
  if (parent !== undefined && !parent.ok) return { model: { ok: false, says: changesWords.unread }, again: true }
  const tip = parent?.commit ?? present
  const between = { target: mirror, tip, source: landed === undefined ? await mirrors.of(source) : mirror, head }
  const diff = await diffOf(only === undefined ? between : { ...between, only })
  if (!diff.ok) {
    const isLasting = diff.code === 'too-large' || diff.code === 'unrelated'
    return { model: { ok: false, says: isLasting ? diff.message : changesWords.unread }, again: !isLasting }
  }
  const commits = await commitsOf({ ...between, limit: MOST_COMMITS })
  if (!commits.ok) return { model: { ok: false, says: changesWords.unread }, again: true }
  const { files, others, totals } = diff
  return { model: { ok: true, commits: commits.commits, moreCommits: commits.more, files, others, totals }, again: false }
}

/** About how many bytes what was read takes. */
function sizeOf(model: ChangesModel): number {
  if (!model.ok) return 200
  let bytes = 200 + model.commits.length * 300 + (model.others?.length ?? 0) * 200
  for (const file of model.files) {
    bytes += 500
    for (const { lines } of file.hunks ?? []) for (const { text } of lines) bytes += 100 + text.length
  }
  return bytes
}
