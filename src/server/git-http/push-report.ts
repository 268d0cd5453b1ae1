import type { ReceiveCommand, ReceiveReport } from '../../git/pkt-line.ts'
import { plainRefusal, shortRef } from '../../queue/words/gateway.ts'
import type { Names } from '../../queue/words/phrase.ts'
import type { Refusal } from '../../queue/words/refusals.ts'
import type { Gateway } from '../gateway/types.ts'

/** Longer reasons than this are cut behind their ref, and said whole in a line of their own. */
const REASON = 200
/** More names than this in front of a line are counted. */
const NAMES = 5

type Outcome = Awaited<ReturnType<Gateway['push']>>

/** What git is told of what became of a push: a reason behind each ref that was refused, and what to do about it in lines above. */
export function pushReport(commands: readonly ReceiveCommand[], outcome: Outcome, say: { now: number; names: Names }): ReceiveReport {
  if (!outcome.ok) {
    const { reason, remote } = saidOf(outcome.refusal, say)
    return { refs: commands.map(({ name }) => ({ name, ok: false, reason })), remote }
  }
  const advice = new Map<string, string[]>()
  const refs = outcome.refs.map(ref => {
    if (ref.ok) return { name: ref.name, ok: true } as const
    const said = saidOf(ref.refusal, say)
    for (const line of said.remote) advice.set(line, [...(advice.get(line) ?? []), shortRef(ref.name)])
    return { name: ref.name, ok: false, reason: said.reason } as const
  })
  const remote = [...advice].map(([line, names]) => `${some(names)}: ${line}`)
  return { refs, remote }
}

/** The same reason for every ref, and above them. `unpack`: the pack is to blame. */
export function refusedReport(commands: readonly ReceiveCommand[], reason: string, unpack = false): ReceiveReport {
  const refs = commands.map(({ name }) => ({ name, ok: false, reason: withoutStop(reason) }) as const)
  return { refs, ...(unpack ? { unpack: withoutStop(reason) } : { remote: [reason] }) }
}

function saidOf(refusal: Refusal, { now, names }: { now: number; names: Names }): { reason: string; remote: string[] } {
  const sentence = plainRefusal({ ...refusal, advice: undefined }, now, names)
  const advice = refusal.advice === undefined ? [] : [plainRefusal({ ...refusal, message: refusal.advice, advice: undefined }, now, names)]
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
