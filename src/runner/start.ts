/** Looks up what a runner was asked for: accounts, repositories, server, session. */
import { resolve } from 'node:path'
import { createGuardedFetch, type GuardedFetch } from '../atproto/guarded-fetch.ts'
import { createIdentity, type Identity } from '../atproto/identity.ts'
import { type AtUri, type Did, parseDid, parseHandle, parseRecordKey, repoUri } from '../atproto/ids.ts'
import type { PasswordSession } from '../atproto/password-session.ts'
import { asWebFetch } from '../atproto/web-fetch.ts'
import { isLoopbackHost } from '../config/values.ts'
import type { RunnerConfig } from './config.ts'
import { type Folder, openFolder } from './folder.ts'
import { readSecrets, type Secrets } from './secrets.ts'
import { openSession } from './session.ts'
import { words } from './words.ts'

export interface Found {
  did: Did
  session: PasswordSession
  fetch: GuardedFetch
  identity: Identity
  /** In the order of the flags, each once. */
  repos: readonly AtUri[]
  appviewUrl: string
  /** By repository. */
  secrets: Secrets
  /** Held until it is released. */
  folder: Folder
}

/**
 * What is asked of the account's server at most, in bytes and milliseconds. An upload is answered when it is through, which takes long where a line is
 * slow; every call has a shorter wait of its own.
 */
const bounds = { maxBytes: 16 * 2 ** 20, firstByteMs: 300_000, totalMs: 300_000 }

/** The fault is one line for whoever started the runner. Everything that was opened is closed again then. */
export async function findAll(config: RunnerConfig, now: () => number): Promise<{ ok: true; found: Found } | { ok: false; fault: string }> {
  const fetch = createGuardedFetch({ allowLoopback: config.KNOTLESS_ALLOW_LOOPBACK })
  const handleResolver = config.KNOTLESS_HANDLE_RESOLVER
  const identity = createIdentity({ plcUrl: config.KNOTLESS_PLC, fetch, now, ...(handleResolver === undefined ? {} : { handleResolver }) })
  const found = await find(config, fetch, identity).catch((error: unknown) => ({
    ok: false as const,
    fault: `${words.broke}: ${error instanceof Error ? error.message : 'unknown trouble'}`,
  }))
  if (!found.ok) fetch.close()
  return found
}

async function find(
  config: RunnerConfig,
  fetch: GuardedFetch,
  identity: Identity,
): Promise<{ ok: true; found: Found } | { ok: false; fault: string }> {
  const read = await readSecrets(config['--secrets'])
  if (!read.ok) return read
  const did = await accountOf(identity, config.KNOTLESS_HANDLE)
  const pds = did && (await identity.resolveDocument(did))?.pds
  if (did === undefined || pds === undefined) return { ok: false, fault: words.noAccount }
  const repos: AtUri[] = []
  const secrets = new Map<string, Readonly<Record<string, string>>>()
  const servers = new Set([pds])
  for (const named of new Set(config['--repo'])) {
    const [handle = '', name = ''] = named.split('/')
    const owner = await accountOf(identity, handle)
    const home = owner && (await identity.resolveDocument(owner))?.pds
    const rkey = parseRecordKey(name)
    const repo = owner === undefined || rkey === undefined ? undefined : repoUri(owner, rkey)
    if (owner === undefined || home === undefined || repo === undefined) return { ok: false, fault: words.noOwner(named) }
    servers.add(home)
    if (!repos.includes(repo)) repos.push(repo)
    const own = read.secrets.get(named)
    if (own !== undefined) secrets.set(repo, own)
  }
  const appviewUrl = await serverAt(identity, config.KNOTLESS_APPVIEW)
  if (appviewUrl === undefined) return { ok: false, fault: words.noAppview }
  servers.add(appviewUrl)
  if (config['--executor'] === 'host' && config['--i-trust-every-author'] && ![...servers].every(isLoopback))
    return { ok: false, fault: words.hostOffLoopback }
  const folder = openFolder(resolve(config.KNOTLESS_DATA))
  if (folder === undefined) return { ok: false, fault: words.folderHeld }
  const web = asWebFetch(fetch, bounds)
  const opened = await openSession({ fetch: web, dataDir: folder.path, did, pds, password: config.KNOTLESS_PASSWORD })
  if (!opened.ok) {
    folder.release()
    return { ok: false, fault: words.logInFailed(opened.said) }
  }
  return { ok: true, found: { did, session: opened.session, fetch, identity, repos, appviewUrl, secrets, folder } }
}

async function accountOf(identity: Identity, name: string): Promise<Did | undefined> {
  const handle = parseHandle(name)
  return parseDid(name) ?? (handle && (await identity.resolveHandle(handle)))
}

/** A server's address; of a DID, that of its service (WHO-6). */
async function serverAt(identity: Identity, named: string): Promise<string | undefined> {
  const did = parseDid(named)
  if (did === undefined) return named
  const document = await identity.resolveDocument(did)
  return document?.services.find(service => service.id.endsWith('#knotless_appview'))?.url.replace(/\/$/, '')
}

function isLoopback(address: string): boolean {
  const url = URL.parse(address)
  return url !== null && isLoopbackHost(url.hostname)
}
