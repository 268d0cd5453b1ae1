import type { Did } from '../../atproto/ids.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import type { ReceiveCommand, ReceiveReport } from '../../git/pkt-line.ts'
import type { Quarantine } from '../../git/quarantine.ts'
import { receivePack } from '../../git/receive-pack.ts'
import { refName } from '../../git/ref-names.ts'
import { type GitRefusal, refuse } from '../../git/refusal.ts'
import { gitVersion } from '../../git/version.ts'
import { readRepoAt } from '../../indexer/sources/read-records.ts'
import type { GitDoor } from './door.ts'
import { pushReport, refusedReport } from './push-report.ts'
import type { GitRepository } from './repository.ts'
import { words } from './words.ts'

/** A push whose caller is known and whose commands were read. */
export interface Push {
  repository: GitRepository
  caller: Did
  commands: readonly ReceiveCommand[]
  capabilities: ReadonlySet<string>
  pack: AsyncIterable<Uint8Array>
  /** Bytes of the whole request, where it says so. */
  length: number | undefined
  signal: AbortSignal
}

/** The mirror that the advertisement was made of will do for what follows within this time. */
const sameRunMs = 60_000
/** Seconds of CPU for the smallest pack, and bytes for which there is one more. */
const cpu = { least: 60, bytes: 4 * 2 ** 20 } as const

/** How a push went, for the metric, and what git is told. */
export interface Landed {
  outcome: 'ok' | 'partly' | 'refused' | 'bad-pack'
  report: ReceiveReport
}

/**
 * Takes the pack into a quarantine (STO-11) and asks the gateway, which decides and writes. Nothing of it is left when this settles, whatever
 * happened: what was let through is in the mirror by then.
 */
export async function landPush(door: GitDoor, push: Push): Promise<Landed> {
  const { ctx } = door
  const { repository, caller, commands, capabilities, signal } = push
  const look = ctx.gateway.look(repository.uri)
  const taken = await takePack(door, push)
  if (!taken.ok) {
    noteRefused(door, push, taken)
    return { outcome: 'bad-pack', report: refusedReport(commands, taken.message, { code: taken.code, unpack: true }) }
  }
  try {
    const atomic = capabilities.has('atomic')
    const asked = {
      repo: repository.uri,
      caller,
      door: 'push',
      moves: commands,
      atomic,
      env: taken.quarantine?.env,
      commits: taken.commits,
      look,
      signal,
    } as const
    const outcome = await ctx.gateway.push(asked)
    const report = pushReport(commands, outcome, { names: repository.names, git: await gitAsked(outcome) })
    const good = report.refs.filter(ref => ref.ok).length
    return { outcome: good === 0 ? 'refused' : good < report.refs.length ? 'partly' : 'ok', report }
  } finally {
    await taken.quarantine?.close()
  }
}

/** The version of git here, where two versions of it may be what a refusal is about (GWY-14). */
async function gitAsked(outcome: Awaited<ReturnType<GitDoor['ctx']['gateway']['push']>>): Promise<string | undefined> {
  if (!outcome.ok || outcome.refs.every(ref => ref.ok || ref.refusal.code !== 'tree-differs')) return undefined
  const found = await gitVersion()
  return found.ok ? found.version : undefined
}

type Taken = { ok: true; quarantine?: Quarantine; commits?: ReadonlySet<string> }

/** Whoever may not write here at all is refused by the rules without their pack being read. */
async function takePack(door: GitDoor, push: Push): Promise<Taken | GitRefusal> {
  if (push.commands.every(command => command.new === null) || !(await maySend(door, push))) return { ok: true }
  const fresh = await door.fresh.bring(push.repository, { maxAge: sameRunMs })
  if (fresh.kind === 'unread') return refuse('upstream-failed', words.unread(fresh.says))
  const most = door.ctx.config.git.pushBytes
  if (push.length !== undefined && push.length > most) return refuse('too-large', words.pushTooLarge(most))
  const cpuSeconds = cpu.least + Math.ceil((push.length ?? most) / cpu.bytes)
  const refs = fresh.kind === 'fresh' ? fresh.record.refs : []
  return await receivePack(fresh.mirror, push.pack, {
    bytes: most,
    cpuSeconds,
    signal: push.signal,
    heads: headsOf(push, refs),
    known: new Set(refs.map(row => row.commit)),
  })
}

/** What the refs are to be at, each beside a commit that it is close to: where the ref is, or the default branch. */
function headsOf({ repository, commands }: Push, refs: readonly { name: string; commit: string }[]): { old: string | null; new: string }[] {
  const near = refs.find(row => row.name === refName(repository.view.record.value.defaultBranch))?.commit ?? null
  return commands.flatMap(({ old, new: to }) => (to === null ? [] : [{ old: old ?? near, new: to }]))
}

/** Whether the repository names the caller, as the index has it or, should they have been named a moment ago, as the record has it now. */
async function maySend(door: GitDoor, { repository, caller }: Push): Promise<boolean> {
  const { roles } = repository.view
  if (roles.mayMerge(caller) || roles.namedRunner(caller)) return true
  try {
    const record = await readRepoAt(door.ctx.reader, repository.uri, door.ctx.now())
    return [...(record?.value.collaborators ?? []), ...(record?.value.runners ?? [])].some(named => named.did === caller)
  } catch (error) {
    if (error instanceof UpstreamError) return false
    throw error
  }
}

/** A pack that is turned away here is an attempt like those that the rules refuse (GWY-6). */
export function noteRefused(
  door: GitDoor,
  push: Pick<Push, 'repository' | 'caller' | 'commands'>,
  refusal: { code: string; message: string },
): void {
  const { repository, caller, commands } = push
  const more = { owner: repository.owner, repo: repository.uri, caller, door: 'push', reason: refusal.message, code: refusal.code } as const
  door.ctx.audit.refused(commands.map(({ name, old, new: to }) => ({ ...more, ref: name, from: old, to })))
}
