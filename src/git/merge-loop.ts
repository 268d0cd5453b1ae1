import { gitEnv } from './env.ts'
import { mergeLimits, shownConflicts } from './merge.ts'
import type { ObjectsPlace } from './objects.ts'
import { type Started, startProcess } from './processes.ts'
import { isCommitId } from './ref-names.ts'
import { type GitRefusal, refuse } from './refusal.ts'
import { gitWords } from './run.ts'
import { nulFields } from './split-stream.ts'
import { words } from './words.ts'

/** What one merge gives. `unsaid`: git would not, for a reason that only looking at the two commits tells. */
export type LoopOutcome =
  | { applies: true; tree: string }
  | { applies: false; conflicts: string[]; moreConflicts: number }
  | { applies: null; unread: GitRefusal }
  | 'unsaid'

/** Merges one after the other, each when the one before it is known. */
export interface MergeLoop {
  merge(onto: string, head: string): Promise<LoopOutcome>
  close(): void
}

const mergeTree = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages']
/**
 * A small shell starts git for each pair that it reads, within limits: from a program that has grown each start costs more than the merge. After what
 * git said come an empty field and the exit code. Words come in as arguments only, ids by the pipe.
 */
const script = [
  'ulimit -v "$1" || [ "$(uname)" = Darwin ] || exit 125',
  'ulimit -t "$2" || exit 125',
  'shift 2',
  'while read -r onto head; do git "$@" "$onto" "$head" </dev/null 2>/dev/null; printf \'\\000%s\\000\' "$?"; done',
].join('; ')

interface Answer {
  fields: string[]
  count: number
  ended: boolean
  resolve(outcome: LoopOutcome): void
  timer: NodeJS.Timeout
}

/**
 * Opens a loop of merges with the configuration and the limits of `mergeIn`, so that both give the same trees (GWY-14). `place` may be written to: a
 * quarantine. Ids that are none are `unsaid`. A merge that has to be killed takes the shell with it; the next one starts another.
 */
export function openMergeLoop(place: ObjectsPlace): MergeLoop {
  const { memoryKiB, cpuSeconds } = mergeLimits.run.ulimit
  const limits = [String(memoryKiB), String(cpuSeconds)]
  const args = ['-c', script, 'sh', ...limits, ...gitWords(mergeTree, { dir: place.dir })]
  let shell: Started | undefined
  let asked: Answer | undefined
  let last: Promise<unknown> = Promise.resolve()
  let closed = false

  function settle(outcome: LoopOutcome): void {
    const answer = asked
    asked = undefined
    clearTimeout(answer?.timer)
    answer?.resolve(outcome)
  }

  function start(): Started {
    const child = startProcess('/bin/sh', args, { env: gitEnv(place.env), cwd: '/', group: true })
    const take = nulFields(mergeLimits.path, field => {
      if (asked === undefined) return false
      if (asked.ended) settle(outcomeOf(asked, field.toString('latin1')))
      else if (field.length === 0) asked.ended = true
      else {
        asked.count += 1
        if (asked.count <= shownConflicts + 1) asked.fields.push(field.toString('utf8'))
      }
      return true
    })
    child.stdout.on('data', (chunk: Buffer) => {
      if (shell === child && !take(chunk)) child.kill()
    })
    child.stderr.resume()
    child.stdin.on('error', () => undefined)
    void child.closed.then(() => {
      if (shell !== child) return
      shell = undefined
      settle(closed ? { applies: null, unread: refuse('failed', words.gitFailed('merge the branch')) } : 'unsaid')
    })
    return child
  }

  function ask(onto: string, head: string): Promise<LoopOutcome> {
    if (closed || place.signal?.aborted)
      return Promise.resolve({ applies: null, unread: refuse('failed', words.gitFailed('merge the branch')) })
    if (!isCommitId(onto) || !isCommitId(head)) return Promise.resolve('unsaid')
    shell ??= start()
    const child = shell
    const { promise, resolve } = Promise.withResolvers<LoopOutcome>()
    const giveUp = () => {
      shell = undefined
      child.kill()
      settle({ applies: null, unread: refuse('too-large', words.mergeTooBig()) })
    }
    asked = { fields: [], count: 0, ended: false, resolve, timer: setTimeout(giveUp, mergeLimits.run.timeoutMs) }
    child.stdin.write(`${onto} ${head}\n`)
    return promise
  }

  function close(): void {
    closed = true
    place.signal?.removeEventListener('abort', close)
    // One that waits ends by the end of its input.
    if (asked === undefined) shell?.stdin.end()
    else shell?.kill()
  }
  place.signal?.addEventListener('abort', close, { once: true })
  return {
    merge(onto, head) {
      const mine = last.then(() => ask(onto, head))
      last = mine
      return mine
    },
    close,
  }
}

function outcomeOf({ fields, count }: Answer, code: string): LoopOutcome {
  const [tree, ...conflicts] = fields
  if (code === '0' || code === '1') {
    // A commit that is not there has the exit code of a conflict.
    if (tree === undefined || !isCommitId(tree)) return 'unsaid'
    return code === '0' ? { applies: true, tree } : { applies: false, conflicts, moreConflicts: count - 1 - conflicts.length }
  }
  // Ended by a signal: a crash, or a limit of the process.
  return Number(code) > 129 ? { applies: null, unread: refuse('too-large', words.mergeTooBig()) } : 'unsaid'
}
