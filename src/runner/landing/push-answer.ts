/** What `git push --porcelain` printed, as an outcome of a landing (GWY-8). Pure. */
import { branchName } from '../../git/ref-names.ts'
import { type RefusedRef, readRefusedLine } from '../../queue/words/gateway.ts'
import type { NotLanded } from '../planner/types.ts'

/** `unknown`: what became of it is to be read off the branch (LND-11). `stale`: the gateway showed other commits, and nothing was sent. */
export type PushOutcome =
  | { outcome: 'done' }
  | { outcome: 'refused'; refused: RefusedRef; said: string }
  | { outcome: 'stale'; refs: readonly string[] }
  | { outcome: 'unknown'; said?: string | undefined }

const MOST_SAID = 2_000

/** Reads how a push of several refs, all or none, went. `code` is git's exit code, -1 where it did not end by itself. */
export function readPush(run: { code: number; out: string; err: string }): PushOutcome {
  if (run.code === 0) return { outcome: 'done' }
  const remote = run.err.split('\n').flatMap(line => /^remote: (.*)$/.exec(line)?.[1]?.trim() ?? [])
  const rows = run.out.split('\n').flatMap(rowOf)
  const [refused] = remote.flatMap(line => readRefusedLine(line) ?? [])
  if (refused !== undefined) return { outcome: 'refused', refused, said: saidOf(refused.ref, rows, remote) }
  const stale = rows.filter(row => row.status === 'rejected' && row.reason !== 'atomic push failed')
  if (stale.length > 0) return { outcome: 'stale', refs: stale.map(row => row.ref) }
  const [rejected] = rows.filter(row => row.status === 'remote rejected')
  return { outcome: 'unknown', said: rejected === undefined ? undefined : saidOf(rejected.ref, rows, remote) }
}

/** What a refusal means for the batch. `mine` is the version of git here; `keyOf` gives the key of the queueing of a pull of the batch. */
export function notLanded(
  { refused, said }: { refused: RefusedRef; said: string },
  batch: { mine: string; keyOf: (pull: string) => string | undefined; pullOf: (branch: string) => string | undefined },
): NotLanded {
  const pull = refused.pull ?? batch.pullOf(branchName(refused.ref) ?? '')
  const key = pull === undefined ? undefined : batch.keyOf(pull)
  const keys = key === undefined ? [] : [key]
  switch (refused.code) {
    case 'branch-moved':
      // Of a spent branch: its pull's head moved.
      return key === undefined ? { why: 'branch-moved' } : { why: 'head-moved', keys }
    case 'head-moved':
      return { why: 'head-moved', keys }
    case 'pull-not-open':
    case 'draft':
    case 'not-queued':
      return { why: 'out', keys }
    case 'not-delegated':
      return { why: 'not-delegated', said }
    case 'tree-differs':
      return { why: 'tree-differs', mine: batch.mine, theirs: refused.git ?? 'unknown' }
    case 'not-lander':
    case 'not-allowed':
    case 'queue-only':
      return { why: 'not-lander' }
    case 'not-a-batch':
    case 'conflict':
    case 'nothing-to-land':
    case 'force-refused':
    case 'checks-failed':
    case 'no-runners':
    case 'too-large':
    case 'bad-pack':
    case 'bad-ref':
    case 'bad-path':
      return { why: 'not-a-batch', pull: key === undefined ? undefined : pull, said }
    default:
      return { why: 'trouble', said }
  }
}

interface Row {
  ref: string
  status: string
  reason: string
}

/** `!<tab>from:to<tab>[remote rejected] (reason)` */
function rowOf(line: string): Row[] {
  const [, ref, status, reason] = /^!\t[^\t]*:(refs\/[^\t]+)\t\[([^\]]+)\](?: \((.*)\))?$/.exec(line) ?? []
  return ref === undefined || status === undefined ? [] : [{ ref, status, reason: reason ?? '' }]
}

/** The sentence behind a ref, and the advice above it. */
function saidOf(ref: string, rows: readonly Row[], remote: readonly string[]): string {
  const reason = rows.find(row => row.ref === ref)?.reason ?? ''
  const name = ref.replace(/^refs\/(heads|tags)\//, '')
  const advice = remote.flatMap(line => {
    const at = line.indexOf(': ')
    const names = line.slice(0, Math.max(0, at)).split(/, | and /)
    return readRefusedLine(line) === undefined && names.includes(name) ? [line.slice(at + 2)] : []
  })
  const sentence = reason === '' || /[.!?]$/.test(reason) ? reason : `${reason}.`
  // A long sentence is cut behind its ref and said whole above.
  const whole = advice.some(line => line.startsWith(sentence.slice(0, 100))) ? '' : sentence
  return [whole, ...advice]
    .filter(part => part !== '')
    .join(' ')
    .slice(0, MOST_SAID)
}
