import cookie from '@fastify/cookie'
import formbody from '@fastify/formbody'
import { type FastifyInstance, fastify, LogController } from 'fastify'
import { addCallback } from './auth/callback.ts'
import { addLogIn } from './auth/log-in.ts'
import type { Context } from './context.ts'
import { addGitHttp } from './git-http/routes.ts'
import { serveHealth } from './health.ts'
import { boundBodyTime, LONG_BODY_MS } from './http/body-time.ts'
import { endIdleOnClose } from './http/closing.ts'
import { compressAnswers, createPacked } from './http/compression.ts'
import { answerBadAddress, handleErrors, handleNotFound } from './http/errors.ts'
import { guardPages } from './http/guard.ts'
import { addSecurityHeaders } from './http/headers.ts'
import { addLimits } from './http/limits.ts'
import { serveStatic } from './http/static.ts'
import { addVisits } from './http/visit.ts'
import { measure } from './metrics.ts'
import { createPageContext } from './pages/create.ts'
import { answerKept } from './pages/kept-answers.ts'
import { addPages } from './pages/pages.ts'
import { serveWellKnown } from './well-known.ts'
import { mountXrpc } from './xrpc/mount.ts'

/** The longest form, in bytes. */
const FORM_BYTES = 64 * 1024

/** The whole app, without a port. `close()` of the app ends its requests, not the context. */
export async function createApp(ctx: Context): Promise<FastifyInstance> {
  const app = fastify({
    loggerInstance: ctx.logger,
    logController: new LogController({ disableRequestLogging: true }),
    requestIdHeader: false,
    genReqId: () => ctx.ids.request(),
    trustProxy: ctx.config.trustProxy.length === 0 ? false : [...ctx.config.trustProxy],
    bodyLimit: FORM_BYTES,
    // Pushes take long; the bodies of all others are bounded by a hook.
    requestTimeout: LONG_BODY_MS + 60_000,
    keepAliveTimeout: 70_000,
    http: { headersTimeout: 20_000, maxHeaderSize: 16_384 },
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: 1_024 },
    frameworkErrors: (error, request, reply) => answerBadAddress(ctx, error, request, reply),
  })
  const pages = createPageContext(ctx)
  const packed = createPacked()
  handleErrors(app, ctx)
  endIdleOnClose(app)
  answerKept(app, pages, packed)
  addSecurityHeaders(app, ctx.config)
  boundBodyTime(app)
  measure(app, ctx.metrics)
  await addLimits(app, ctx)
  serveHealth(app, ctx)
  serveWellKnown(app, ctx)
  await app.register(async scope => serveStatic(scope, ctx.renderer.assets))
  await app.register(async scope => mountXrpc(scope, ctx))
  await app.register(async scope => addGitHttp(scope, ctx))
  await app.register(async scope => {
    await scope.register(cookie)
    await scope.register(formbody, { bodyLimit: FORM_BYTES })
    addVisits(scope, ctx)
    guardPages(scope, ctx)
    compressAnswers(scope, packed)
    handleNotFound(scope, ctx)
    addLogIn(scope, ctx)
    addCallback(scope, ctx)
    addPages(scope, ctx, pages)
  })
  return app
}
