/** The security headers of every answer. */
import type { FastifyInstance } from 'fastify'

/** What pages may load: our own files and nothing else; forms only come back here; nobody frames us. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** The headers, by name. HSTS is sent off loopback only: there the address is https. */
export function securityHeaders(options: { loopback: boolean }): Readonly<Record<string, string>> {
  return {
    'content-security-policy': contentSecurityPolicy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
    ...(options.loopback ? {} : { 'strict-transport-security': 'max-age=31536000' }),
  }
}

/** Sets the headers before anything else can answer. */
export function addSecurityHeaders(app: FastifyInstance, options: { loopback: boolean }): void {
  const headers = securityHeaders(options)
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers({ ...headers })
    done()
  })
}
