import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ReceiveReport } from '../../git/pkt-line.ts'
import { type ReceiveRefusal, type ReceiveRequest, readReceiveRequest } from '../../git/pkt-line.ts'
import type { RepoParams } from '../pages/locate.ts'
import { pushAdvertisement } from './advertisement.ts'
import { clientGone, gitAnswer, sendWords } from './answers.ts'
import type { GitDoor } from './door.ts'
import { landPush, noteRefused } from './land-push.ts'
import { answerPush, usualCapabilities } from './push-answer.ts'
import { type PushCaller, type PushCallerRefusal, readPushCaller } from './push-caller.ts'
import { asksForCodes, refusedReport, withoutCodes } from './push-report.ts'
import { findGitRepository, type GitRepository } from './repository.ts'
import { unlessSilent } from './unless-silent.ts'
import { words } from './words.ts'

/** How long the commands of a push may take to come, in milliseconds. */
const commandsMs = 30_000
const retryMs = 10_000
const retry = { 'retry-after': String(retryMs / 1000) }
const close = { connection: 'close' }

type Asked = FastifyRequest<{ Params: RepoParams }>

/** Takes pushes: git's protocol is spoken here, the pack goes into a quarantine, and the gateway decides (GWY-5, GWY-10, STO-11). */
export function createPush(door: GitDoor) {
  const { ctx } = door

  return {
    /** `GET …/info/refs?service=git-receive-pack` */
    async advertise(request: Asked, reply: FastifyReply): Promise<FastifyReply> {
      const found = findGitRepository(ctx, request.params)
      if (!found.ok) return sendWords(reply, 404, found.says)
      const caller = await readPushCaller(door, request, { fresh: false })
      if (!caller.ok) return turnAway(reply, caller)
      const fresh = await door.fresh.bring(found.repository)
      if (fresh.kind === 'unread') return sendWords(reply, 503, words.unread(fresh.says), retry)
      const refs = fresh.kind === 'fresh' ? fresh.record.refs : []
      return gitAnswer(reply, 'receive-pack', 'advertisement').send(pushAdvertisement(refs, ctx.version))
    },

    /** `POST …/git-receive-pack` */
    async serve(request: Asked, reply: FastifyReply): Promise<FastifyReply> {
      const found = findGitRepository(ctx, request.params)
      if (!found.ok) return sendWords(reply, 404, found.says, close)
      if (request.headers['content-encoding'] !== undefined) return sendWords(reply, 415, words.wrongType(), close)
      // Judged now: the body may take longer to come than the token is good for (GWY-10).
      const caller = await readPushCaller(door, request, { fresh: true })
      if (!caller.ok && (caller.code === 'no-token' || caller.status === 429)) return turnAway(reply, caller, close)
      const asked = await readCommands(unlessSilent(request.raw, ctx.config.git.idleMs, () => reply.raw.destroy()))
      if (asked === undefined) return sendWords(reply, 408, words.requestSlow(), close)
      if (asked.ok && asked.commands.length === 0) {
        // What git sends ahead of a large push, to see whether it would be let in.
        return caller.ok ? gitAnswer(reply, 'receive-pack', 'result').send('') : turnAway(reply, caller, close)
      }
      const capabilities = asked.ok ? asked.capabilities : usualCapabilities
      const rest = asked.ok ? asked.pack : asked.rest
      const signal = clientGone(reply)
      const work = () =>
        counted(request, signal, asked, { repo: found.repository.uri, caller: caller.ok ? caller.did : undefined }, () =>
          take(request, found.repository, caller, asked, signal),
        )
      return answerPush(request, reply, { capabilities, rest, work })
    },
  }

  type Told = [outcome: string, report: ReceiveReport]

  /** Why a push goes no further, or how it went. */
  async function take(
    request: Asked,
    repository: GitRepository,
    caller: PushCaller | PushCallerRefusal,
    asked: ReceiveRequest | ReceiveRefusal,
    signal: AbortSignal,
  ): Promise<Told> {
    const commands = asked.ok ? asked.commands : []
    const unknown = caller.ok ? caller.spend() : caller
    if (!caller.ok || unknown !== undefined)
      return ['unauthenticated', refusedReport(commands, unknown?.says ?? '', { code: unknown?.code ?? '' })]
    if (!asked.ok) {
      noteRefused(door, { repository, caller: caller.did, commands: [{ name: words.wholePush(), old: null, new: null }] }, asked)
      return ['refused', { ...refusedReport([], asked.message, { unpack: true }), remote: [asked.message] }]
    }
    const release = await door.pushSlots.take(request.ip, signal)
    if (release === undefined) return ['busy', refusedReport(commands, words.busy(retryMs), { code: 'rate-limited' })]
    try {
      const length = Number(request.headers['content-length'] ?? Number.NaN)
      const { outcome, report } = await landPush(door, {
        repository,
        caller: caller.did,
        commands,
        capabilities: asked.capabilities,
        pack: asked.pack,
        length: Number.isSafeInteger(length) ? length : undefined,
        signal,
      })
      return [outcome, report]
    } finally {
      release()
    }
  }

  /** Counts how a push went. What should not have happened is logged under an id, and the id is all that the person sees of it. */
  async function counted(
    request: Asked,
    signal: AbortSignal,
    asked: ReceiveRequest | ReceiveRefusal,
    of: { repo: string; caller: string | undefined },
    push: () => Promise<Told>,
  ): Promise<ReceiveReport> {
    try {
      const [outcome, report] = await push()
      ctx.metrics.gitPushes.inc({ outcome: signal.aborted ? 'gone' : outcome })
      request.log.info({ ...of, outcome, refs: report.refs.length }, 'a push')
      return asksForCodes(request.headers['user-agent']) ? report : withoutCodes(report)
    } catch (error) {
      const id = ctx.ids.error()
      ctx.metrics.gitPushes.inc({ outcome: 'failed' })
      ctx.metrics.unexpected.inc()
      request.log.error({ err: error, errorId: id, ...of }, 'unexpected error')
      return refusedReport(asked.ok ? asked.commands : [], words.broken(id))
    }
  }
}

/** Before a body in git's protocol was promised, git shows these words. Only who brought no token is asked for one. */
function turnAway(reply: FastifyReply, refused: PushCallerRefusal, more: Record<string, string> = {}): FastifyReply {
  const ask = refused.code === 'no-token' ? { 'www-authenticate': 'Basic realm="knotless", charset="UTF-8"' } : {}
  return sendWords(reply, refused.status, refused.says, { ...ask, ...(refused.status === 401 ? {} : retry), ...more })
}

/** The commands of a push; undefined when they did not come in time, or the client went. */
async function readCommands(body: AsyncIterable<Uint8Array>): Promise<ReceiveRequest | ReceiveRefusal | undefined> {
  const late = Promise.withResolvers<undefined>()
  const timer = setTimeout(late.resolve, commandsMs, undefined)
  try {
    const reading = readReceiveRequest(body)
    reading.catch(() => undefined)
    return await Promise.race([reading, late.promise])
  } catch {
    return undefined
  } finally {
    clearTimeout(timer)
  }
}
