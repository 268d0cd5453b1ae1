import type { FastifyInstance } from 'fastify'
import { delegationMetadataPath, jwksPath, metadataPath } from './auth/client-metadata.ts'
import type { Context } from './context.ts'

const HOUR = 'public, max-age=3600'

/**
 * Programs that read pages for search engines go to everything that people are shown, once: not to lists in other orders, to git, to logs that go
 * on for long, nor to what only an account sees.
 */
const robots = `User-agent: *
Allow: /?cursor=
Disallow: /*?
Disallow: /*.git/
Disallow: /*/events
Disallow: /*/checks/
Disallow: /*/settings
Disallow: /at/
Disallow: /login
Disallow: /oauth/
Disallow: /pulls
Disallow: /settings
Disallow: /xrpc/
`

/** The server's DID document: one service, at its public address, whatever host was asked for (WHO-6). */
export function didDocument(config: { did: string; publicUrl: string }) {
  return {
    '@context': ['https://www.w3.org/ns/did/v1'],
    id: config.did,
    service: [{ id: '#knotless_appview', type: 'KnotlessAppView', serviceEndpoint: config.publicUrl }],
  }
}

/** Documents at fixed addresses, for programs. */
export function serveWellKnown(app: FastifyInstance, ctx: Context): void {
  const document = didDocument(ctx.config)
  app.get('/.well-known/did.json', (_request, reply) =>
    reply
      .headers({ 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin', 'cache-control': HOUR })
      .send(document),
  )
  app.get('/robots.txt', (_request, reply) => reply.type('text/plain; charset=utf-8').header('cache-control', HOUR).send(robots))
  if (ctx.config.loopback) return
  app.get(metadataPath, (_request, reply) => reply.header('cache-control', HOUR).send(ctx.oauth.metadata))
  app.get(delegationMetadataPath, (_request, reply) => reply.header('cache-control', HOUR).send(ctx.delegations.oauth.metadata))
  app.get(jwksPath, (_request, reply) => reply.header('cache-control', HOUR).send(ctx.oauth.jwks))
}
