/** A landing by `git push` through the gateway (WHO-4, GWY-10). The token goes to git by its environment alone: never a command line, never a log. */
import type { Did } from '../../atproto/ids.ts'
import { refName } from '../../git/ref-names.ts'
import { runGit } from '../../git/run.ts'
import type { SpentBranch } from '../../queue/spent.ts'
import type { RunnerContext } from '../context.ts'
import type { Ground } from '../types.ts'
import { type PushOutcome, readPush } from './push-answer.ts'
import { words } from './words.ts'

export type GatewayContext = Pick<RunnerContext, 'appview' | 'identity' | 'writer' | 'version'>

/** Where to push to, and a token that is good there for one push. */
export interface GatewayDoor {
  url: string
  host: string
  token: string
}

/** The longest that a push may take, in milliseconds: the gateway reads many accounts, and may wait for the owner's. */
const PUSH_MS = 120_000
const TOKEN_SECONDS = 240
const service = '#knotless_appview'

/** Git asks this for a password, and it says the one of the environment. */
const helper = '!f() { test "$1" = get && printf "username=runner\\npassword=%s\\n" "$KNOTLESS_PUSH_TOKEN"; }; f'

/** Where git knows how to (2.46), the token goes along at once rather than when it is asked for. */
const settings = ['http.proactiveAuth=basic', 'http.followRedirects=false', 'push.negotiate=false'] as const

/** The gateway of a repository: the server that its record names, else the one beside which this runner works. May reject with an UpstreamError. */
export async function openGateway(
  ctx: GatewayContext,
  ground: Pick<Ground, 'view' | 'owner' | 'name'>,
): Promise<{ ok: true; door: GatewayDoor } | { ok: false; said: string }> {
  const { appview, writer } = ctx
  const own = await appview.did()
  const { gateway = own } = ground.view.record.value
  const path = `/${ground.owner.replaceAll('%', '%25')}/${ground.name}.git`
  if (gateway === own) {
    const token = await appview.pushToken()
    return token.ok ? { ok: true, door: doorAt(appview.url, path, token.token) } : { ok: false, said: words.noToken(token.said) }
  }
  const found = await serverOf(ctx, gateway)
  if (!found.ok) return found
  const token = await writer.getServiceAuth({ aud: gateway, lxm: 'dev.knotless.gitPush', seconds: TOKEN_SECONDS })
  return token.ok ? { ok: true, door: doorAt(found.url, path, token.token) } : { ok: false, said: words.noToken(token.message) }
}

/** Where another gateway is, by its own document; off this machine over https alone, since a token goes there. */
async function serverOf({ identity, appview }: GatewayContext, did: Did): Promise<{ ok: true; url: string } | { ok: false; said: string }> {
  const document = await identity.resolveDocument(did)
  const url = document?.services.find(one => one.id === `${did}${service}`)?.url
  if (url === undefined) return { ok: false, said: words.noGateway(did) }
  const isLocal = isLoopback(url) && isLoopback(appview.url)
  return new URL(url).protocol === 'https:' || isLocal ? { ok: true, url } : { ok: false, said: words.notHttps(did) }
}

function isLoopback(url: string): boolean {
  return ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname)
}

function doorAt(url: string, path: string, token: string): GatewayDoor {
  return { url: `${url.replace(/\/+$/, '')}${path}`, host: new URL(url).host, token }
}

/**
 * Pushes the tip and deletes the spent branches, all or none, each only where it is known to be: the branch at `base`, the others at what was
 * squashed. Nothing is forced: the tip was built on the base.
 */
export async function pushThrough(
  ctx: Pick<GatewayContext, 'version'>,
  door: GatewayDoor,
  push: { gitDir: string; branch: string; base: string; tip: string; spent: readonly SpentBranch[]; signal?: AbortSignal | undefined },
): Promise<PushOutcome> {
  const branch = refName(push.branch)
  const deletions = push.spent.map(one => ({ ref: refName(one.branch), at: one.at }))
  const run = await runGit(
    [
      'push',
      '--atomic',
      '--porcelain',
      '--no-verify',
      '--no-progress',
      `--force-with-lease=${branch}:${push.base}`,
      ...deletions.map(({ ref, at }) => `--force-with-lease=${ref}:${at}`),
      door.url,
      `${push.tip}:${branch}`,
      ...deletions.map(({ ref }) => `:${ref}`),
    ],
    {
      dir: push.gitDir,
      timeoutMs: PUSH_MS,
      signal: push.signal,
      config: ['credential.helper=', `credential.helper=${helper}`, ...settings],
      env: {
        GIT_ALLOW_PROTOCOL: 'http:https',
        GIT_HTTP_USER_AGENT: `knotless/${ctx.version}`,
        KNOTLESS_PUSH_TOKEN: door.token,
      },
    },
  )
  return readPush({ code: run.code, out: run.stdout.toString('utf8'), err: run.stderr })
}
