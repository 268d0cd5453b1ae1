import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Mirror } from '../../git/mirror.ts'
import type { RepoParams } from '../pages/locate.ts'
import { clientGone, gitAnswer, sendFetchError, sendWords } from './answers.ts'
import { pointHead } from './default-branch.ts'
import type { GitDoor } from './door.ts'
import { servable } from './fresh-mirrors.ts'
import { findGitRepository, type GitRepository } from './repository.ts'
import { startUploadPack, type UploadPack } from './upload-pack.ts'
import { words } from './words.ts'

/** The longest that one answer may take, in milliseconds: a large clone over a slow line. */
const answerMs = 60 * 60_000
/** Every git begins with the advertisement, which reads the source; what follows within this time goes on from there. */
const sameRunMs = 30_000
const retryMs = 10_000
const retry = { 'retry-after': String(retryMs / 1000) }

type Asked = FastifyRequest<{ Params: RepoParams }>

/** Serves clones and fetches by `git upload-pack` over mirrors that are as their accounts have them now. */
export function createFetch(door: GitDoor) {
  const { ctx } = door
  let capabilities: Promise<Buffer> | undefined

  /** What version 2 advertises: the same for every repository. */
  async function version2(dir: string): Promise<Buffer> {
    const signal = new AbortController().signal
    capabilities ??= whole(startUploadPack({ dir, input: undefined, protocol: 'version=2', signal, timeoutMs: 10_000 }))
    try {
      return await capabilities
    } catch (error) {
      capabilities = undefined
      throw error
    }
  }

  async function send(
    request: FastifyRequest,
    reply: FastifyReply,
    run: { mirror: Mirror; input: Buffer | undefined; before?: string; outcome: string },
  ): Promise<FastifyReply> {
    const signal = clientGone(reply)
    const release = await door.slots.take(request.ip, signal)
    if (release === undefined) {
      ctx.metrics.gitFetches.inc({ outcome: signal.aborted ? 'gone' : 'busy' })
      return run.input === undefined ? sendWords(reply, 503, words.busy(retryMs), retry) : sendFetchError(reply, words.busy(retryMs))
    }
    reply.raw.setTimeout(ctx.config.git.idleMs, () => reply.raw.destroy())
    const started = startUploadPack({ dir: run.mirror.dir, input: run.input, protocol: protocolOf(request), signal, timeoutMs: answerMs })
    void started.end.then(({ ended, code, stderr }) => {
      release()
      const well = ended === 'exit' && code === 0
      if (run.input !== undefined) ctx.metrics.gitFetches.inc({ outcome: ended === 'aborted' ? 'gone' : well ? run.outcome : 'failed' })
      if (well && run.input !== undefined) door.upkeep.served(run.mirror)
      if (well || ended === 'aborted') return
      request.log.warn({ ended, code, stderr }, 'a fetch failed')
      // The answer must not look whole.
      reply.raw.destroy()
    })
    if (run.before !== undefined) started.stdout.unshift(run.before)
    return reply.send(started.stdout)
  }

  return {
    /** `GET …/info/refs?service=git-upload-pack` */
    async advertise(request: Asked, reply: FastifyReply): Promise<FastifyReply> {
      const found = findGitRepository(ctx, request.params)
      if (!found.ok) return sendWords(reply, 404, found.says)
      if (door.slots.full(request.ip)) return sendWords(reply, 503, words.busy(retryMs), retry)
      const fresh = await door.fresh.bring(found.repository)
      const may = await servable(fresh)
      if (!may.ok) return sendWords(reply, may.status, may.says, may.status === 503 ? retry : {})
      await pointHead(fresh.mirror, found.repository.defaultBranch)
      gitAnswer(reply, 'upload-pack', 'advertisement')
      if (isVersion2(request)) return reply.send(await version2(fresh.mirror.dir))
      return send(request, reply, { mirror: fresh.mirror, input: undefined, before: '001e# service=git-upload-pack\n0000', outcome: 'ok' })
    },

    /** `POST …/git-upload-pack` */
    async serve(request: Asked, reply: FastifyReply): Promise<FastifyReply> {
      const found = findGitRepository(ctx, request.params)
      if (!found.ok) return sendWords(reply, 404, found.says, { connection: 'close' })
      const body = await door.readBody(request)
      if (!body.ok) {
        ctx.metrics.gitFetches.inc({ outcome: 'refused' })
        return sendWords(reply, body.status, body.says, { connection: 'close' })
      }
      const ready = await mirrorFor(found.repository)
      if (!ready.ok) {
        ctx.metrics.gitFetches.inc({ outcome: 'refused' })
        return sendFetchError(reply, ready.says)
      }
      gitAnswer(reply, 'upload-pack', 'result')
      return send(request, reply, { mirror: ready.mirror, input: body.bytes, outcome: ready.stale ? 'stale' : 'ok' })
    },
  }

  async function mirrorFor(repository: GitRepository) {
    const fresh = await door.fresh.bring(repository, { maxAge: sameRunMs })
    const may = await servable(fresh)
    if (!may.ok) return may
    await pointHead(fresh.mirror, repository.defaultBranch)
    return { ...may, mirror: fresh.mirror }
  }
}

/** The client's `git-protocol` header, as git is told it; undefined when it is none. */
function protocolOf(request: FastifyRequest): string | undefined {
  const header = request.headers['git-protocol']
  return typeof header === 'string' && /^[\w=:.-]{1,200}$/.test(header) ? header : undefined
}

function isVersion2(request: FastifyRequest): boolean {
  return protocolOf(request)?.split(':').includes('version=2') ?? false
}

async function whole(run: UploadPack): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of run.stdout) chunks.push(chunk)
  const { ended, code } = await run.end
  if (ended !== 'exit' || code !== 0) throw new Error(`git upload-pack could not say what it can (${ended} ${code})`)
  return Buffer.concat(chunks)
}
