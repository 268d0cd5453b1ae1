import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { z } from 'zod'
import { createGuardedFetch } from '../atproto/guarded-fetch.ts'
import { createIdentity } from '../atproto/identity.ts'
import { type Did, parseDid, parseHandle } from '../atproto/ids.ts'
import { logIn } from '../atproto/password-session.ts'
import { asWebFetch } from '../atproto/web-fetch.ts'
import { createWriter } from '../atproto/writer.ts'
import { isLoopbackHost } from '../config/values.ts'

const root = resolve(import.meta.dirname, '../..')

const usage = `Usage: git config credential.helper '!sh "${root}/scripts/with-node.sh" "${root}/src/cli/main.ts" git-credential'

Gives git the password that it pushes with: a token that the account's own server signs, good for one push and a minute. The account is
KNOTLESS_HANDLE with KNOTLESS_PASSWORD, an app password. KNOTLESS_PLC, KNOTLESS_HANDLE_RESOLVER and KNOTLESS_ALLOW_LOOPBACK are as for
knotless serve. For a demo's accounts: --network PATH (of its network.json) and --as HANDLE.`

/** What is asked of the account's server at most, in bytes and milliseconds. */
const bounds = { maxBytes: 1_000_000, totalMs: 15_000 }
/** How long the token is good for, in seconds: it is looked at when a push starts. */
const SECONDS = 60
const INPUT_BYTES = 64 * 1024

type Answer = { ok: true; username: string; password: string } | { ok: false; fault: string }

/** An account, and the server that keeps it. */
interface Login {
  pds: string
  identifier: string
  password: string
  /** Servers may be at loopback addresses. */
  allowLoopback: boolean
}

/** `knotless git-credential`: a git credential helper. Whatever it cannot do it says in one line on stderr, and git asks somebody else. */
export async function gitCredential(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const read = readFlags(args)
  if (read === undefined) {
    console.error('knotless git-credential takes --network PATH --as HANDLE, and what git asks: get, store or erase (--help says more)')
    return 2
  }
  if (read.help === true) {
    console.log(usage)
    return 0
  }
  // Nothing is kept: a token is good once.
  if (read.action !== 'get') return 0
  const server = serverOf(await text(process.stdin))
  if (server === undefined) return 0
  const login = await findLogin(read, env)
  const answer = 'fault' in login ? login : await tokenFor(server, login)
  if ('fault' in answer) {
    console.error(`knotless git-credential: ${answer.fault}`)
    return 1
  }
  console.log(`username=${answer.username}\npassword=${answer.password}`)
  return 0
}

interface Flags {
  help?: boolean | undefined
  network?: string | undefined
  as?: string | undefined
  action: string
}

function readFlags(args: readonly string[]): Flags | undefined {
  try {
    const options = { network: { type: 'string' }, as: { type: 'string' }, help: { type: 'boolean', short: 'h' } } as const
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
    const [action = 'get', more] = positionals
    const paired = (values.network === undefined) === (values.as === undefined)
    return more === undefined && paired && ['get', 'store', 'erase'].includes(action) ? { ...values, action } : undefined
  } catch {
    return undefined
  }
}

/** Origin of the server that git asks about; undefined where a token would travel in the open, or for something that is no web address. */
function serverOf(input: string): string | undefined {
  const fields = new Map(
    input
      .slice(0, INPUT_BYTES)
      .split('\n')
      .map(line => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const),
  )
  const url = URL.parse(`${fields.get('protocol')}://${fields.get('host')}`)
  if (url === null) return undefined
  const safe = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname))
  return safe ? url.origin : undefined
}

const networkShape = z.object({
  pds: z.string(),
  accounts: z.record(z.string(), z.object({ handle: z.string(), password: z.string() })),
})

async function findLogin({ network, as }: Flags, env: NodeJS.ProcessEnv): Promise<Login | { ok: false; fault: string }> {
  if (network !== undefined && as !== undefined) {
    const file = networkShape.safeParse(await readJson(network))
    const account = Object.values(file.data?.accounts ?? {}).find(({ handle }) => handle === as)
    if (!file.success || account === undefined) return { ok: false, fault: 'the network file has no such account, or is none' }
    return { pds: file.data.pds, identifier: account.handle, password: account.password, allowLoopback: true }
  }
  const { KNOTLESS_HANDLE: name, KNOTLESS_PASSWORD: password } = env
  if (!name || !password) return { ok: false, fault: 'KNOTLESS_HANDLE and KNOTLESS_PASSWORD (an app password) are not set' }
  const allowLoopback = env.KNOTLESS_ALLOW_LOOPBACK === '1'
  const pds = await serverOfAccount(name, env, allowLoopback)
  if (pds === undefined) return { ok: false, fault: 'KNOTLESS_HANDLE: there is no such account, or it cannot be looked up now' }
  return { pds, identifier: name, password, allowLoopback }
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch {
    return undefined
  }
}

async function serverOfAccount(name: string, env: NodeJS.ProcessEnv, allowLoopback: boolean): Promise<string | undefined> {
  const fetch = createGuardedFetch({ allowLoopback })
  try {
    const handleResolver = env.KNOTLESS_HANDLE_RESOLVER
    const plcUrl = env.KNOTLESS_PLC || 'https://plc.directory'
    const identity = createIdentity({ plcUrl, fetch, now: Date.now, ...(handleResolver ? { handleResolver } : {}) })
    const handle = parseHandle(name)
    const did = parseDid(name) ?? (handle && (await identity.resolveHandle(handle)))
    return did && (await identity.resolveDocument(did))?.pds
  } catch {
    return undefined
  } finally {
    fetch.close()
  }
}

async function tokenFor(server: string, login: Login): Promise<Answer> {
  const fetch = createGuardedFetch({ allowLoopback: login.allowLoopback })
  try {
    const web = asWebFetch(fetch, bounds)
    const aud = await didOf(server, web)
    if (aud === undefined) return { ok: false, fault: `${new URL(server).host} is no knotless server, or does not answer` }
    const begun = await logIn({ fetch: web }, login)
    if (!begun.ok) return { ok: false, fault: begun.message }
    const { session } = begun
    const signed = await createWriter({ session, now: Date.now }).getServiceAuth({ aud, lxm: 'dev.knotless.gitPush', seconds: SECONDS })
    await session.logOut()
    return signed.ok ? { ok: true, username: session.did, password: signed.token } : { ok: false, fault: signed.message }
  } finally {
    fetch.close()
  }
}

/** A server's own name, from the document that it serves whatever it is called (WHO-6). */
async function didOf(server: string, fetch: typeof globalThis.fetch): Promise<Did | undefined> {
  try {
    const document = z.object({ id: z.string() }).safeParse(await (await fetch(`${server}/.well-known/did.json`)).json())
    return parseDid(document.data?.id)
  } catch {
    return undefined
  }
}
