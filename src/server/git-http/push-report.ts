import type { ReceiveCommand, ReceiveReport } from '../../git/pkt-line.ts'
import { plainRefusal, type RefusedRef, readRefusedLine, refusedLine, shortRef } from '../../queue/words/gateway.ts'
import type { Names } from '../../queue/words/phrase.ts'
import type { Refusal } from '../../queue/words/refusals.ts'
import type { Gateway, RefOutcome } from '../gateway/types.ts'

/** Longer reasons than this are cut behind their ref, and said whole in a line of their own. */
const REASON = 200
/** More names than this in front of a line are counted. */
const NAMES = 5

type Outcome = Awaited<ReturnType<Gateway['push']>>

/**
 * What git is told of what became of a push: a reason behind each ref that was refused, and above them what to do about it, and for programs the
 * refusals' codes (GWY-8). `git`: the version here.
 */
export function pushReport(
  commands: readonly ReceiveCommand[],
  outcome: Outcome,
  say: { names: Names; git?: string | undefined },
): ReceiveReport {
  if (!outcome.ok) {
    const { code } = outcome.refusal
    const { reason, remote } = saidOf(outcome.refusal, say)
    const codes = commands.map(({ name }) => refusedLine({ code, ref: name }))
    return { refs: commands.map(({ name }) => ({ name, ok: false, reason })), remote: [...remote, ...codes] }
  }
  const advice = new Map<string, string[]>()
  const refs = outcome.refs.map(ref => {
    if (ref.ok) return { name: ref.name, ok: true } as const
    const said = saidOf(ref.refusal, say)
    for (const line of said.remote) advice.set(line, [...(advice.get(line) ?? []), shortRef(ref.name)])
    return { name: ref.name, ok: false, reason: said.reason } as const
  })
  const remote = [...advice].map(([line, names]) => `${some(names)}: ${line}`)
  const codes = outcome.refs.flatMap(ref => (ref.ok || ref.beside === true ? [] : refusedLine(refusedRef(ref, say.git))))
  return { refs, remote: [...remote, ...codes] }
}

function refusedRef({ name, refusal, pull }: Extract<RefOutcome, { ok: false }>, git: string | undefined): RefusedRef {
  return { code: refusal.code, ref: name, pull, git: refusal.code === 'tree-differs' ? git : undefined }
}

/** The same reason for every ref, and above them, with its code where it has one. `unpack`: the pack is to blame. */
export function refusedReport(
  commands: readonly ReceiveCommand[],
  reason: string,
  { code, unpack = false }: { code?: string; unpack?: boolean } = {},
): ReceiveReport {
  const refs = commands.map(({ name }) => ({ name, ok: false, reason: withoutStop(reason) }) as const)
  const codes = code === undefined ? [] : commands.map(({ name }) => refusedLine({ code, ref: name }))
  return unpack ? { refs, unpack: withoutStop(reason), remote: codes } : { refs, remote: [reason, ...codes] }
}

/** Programs of this project get the lines for programs. */
export function asksForCodes(userAgent: string | undefined): boolean {
  return userAgent?.startsWith('knotless/') === true
}

/** A report for people alone. */
export function withoutCodes(report: ReceiveReport): ReceiveReport {
  return report.remote === undefined ? report : { ...report, remote: report.remote.filter(line => readRefusedLine(line) === undefined) }
}

function saidOf(refusal: Refusal, { names }: { names: Names }): { reason: string; remote: string[] } {
  const sentence = plainRefusal({ ...refusal, advice: undefined }, names)
  const advice = refusal.advice === undefined ? [] : [plainRefusal({ ...refusal, message: refusal.advice, advice: undefined }, names)]
  const remote = sentence.length > REASON ? [sentence, ...advice] : advice
  return { reason: withoutStop(sentence), remote }
}

/** Names in a row; of many the first few. */
function some(names: readonly string[]): string {
  const more = names.length - NAMES
  return more > 0 ? `${names.slice(0, NAMES).join(', ')} and ${more} more` : names.join(', ')
}

function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '')
}
