import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { type Did, parseDid } from '../atproto/ids.ts'
import { logIn, type PasswordContext, type PasswordSession, type PasswordTokens, resumeSession } from '../atproto/password-session.ts'
import { callPds } from '../atproto/pds-call.ts'

const kept = z.object({ did: z.string(), pds: z.string(), accessJwt: z.string(), refreshJwt: z.string() })

/**
 * The runner's session: that of an earlier start where it still holds, since a server may allow only so many log-ins a day; else a new one. Kept in
 * `dataDir`, in a file that only its owner can read. Gives what kept it from logging in, as a sentence.
 */
export async function openSession(options: {
  fetch: typeof globalThis.fetch
  dataDir: string
  did: Did
  pds: string
  password: string
}): Promise<{ ok: true; session: PasswordSession } | { ok: false; said: string }> {
  const { fetch, dataDir, did, pds, password } = options
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  const path = join(dataDir, 'session.json')
  const ctx: PasswordContext = { fetch, onChange: tokens => keep(path, tokens) }
  const old = await readKept(path)
  if (old?.did === did && old.pds === pds) {
    const session = resumeSession(ctx, old)
    if (await holds(session)) return { ok: true, session }
  }
  const begun = await logIn(ctx, { pds, identifier: did, password })
  return begun.ok ? begun : { ok: false, said: begun.message }
}

/** Only what the server refuses ends a session: one that does not answer may be back in a moment. */
async function holds(session: PasswordSession): Promise<boolean> {
  const answer = await callPds(session, { path: '/xrpc/com.atproto.server.getSession', method: 'GET', timeoutMs: 10_000 })
  return answer.kind === 'ok'
}

async function readKept(path: string): Promise<PasswordTokens | undefined> {
  try {
    const tokens = kept.parse(JSON.parse(await readFile(path, 'utf8')))
    const did = parseDid(tokens.did)
    return did && { ...tokens, did }
  } catch {
    return undefined
  }
}

/** One rename: a crash leaves the old tokens or the new. */
async function keep(path: string, tokens: PasswordTokens | undefined): Promise<void> {
  const next = `${path}.new`
  await writeFile(next, JSON.stringify(tokens ?? {}), { mode: 0o600 })
  await chmod(next, 0o600)
  await rename(next, path)
}
