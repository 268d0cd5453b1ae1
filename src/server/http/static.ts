import type { FastifyInstance } from 'fastify'
import type { Asset } from '../../views/assets.ts'
import { compressAnswers, createPacked, wholly } from './compression.ts'

const FOR_GOOD = 'public, max-age=31536000, immutable'

/**
 * Serves the files that pages refer to, from memory and by a closed list of names, so that no path leads anywhere else. With the hash of
 * its content in the query a file may be kept for good; without it, it is asked for again.
 */
export async function serveStatic(app: FastifyInstance, assets: ReadonlyMap<string, Asset>): Promise<void> {
  compressAnswers(app, createPacked(wholly))
  const tags = new Map(
    [...assets.values()].map(asset => [asset.name, `"${new URL(asset.url, 'http://here').searchParams.get('v') ?? ''}"`]),
  )
  const schema = { querystring: { type: 'object', properties: { v: { type: 'string', maxLength: 64 } } } } as const

  app.get<{ Params: { '*': string }; Querystring: { v?: string } }>('/static/*', { schema }, (request, reply) => {
    const asset = assets.get(request.params['*'])
    if (asset === undefined) return reply.callNotFound()
    const tag = tags.get(asset.name) ?? ''
    reply.header('cache-control', `"${request.query.v}"` === tag ? FOR_GOOD : 'public, no-cache').header('etag', tag)
    if (request.headers['if-none-match']?.replace(/^W\//, '') === tag) return reply.code(304).send()
    return reply.type(asset.type).send(asset.bytes)
  })

  app.get('/favicon.ico', (_request, reply) => {
    const icon = assets.get('favicon.ico')
    if (icon === undefined) return reply.callNotFound()
    return reply.header('cache-control', 'public, max-age=86400').type(icon.type).send(icon.bytes)
  })
}
