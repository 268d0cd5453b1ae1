import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DevAccount } from '../../src/devnet/account.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { refsAccount } from '../../src/devnet/refs-account.ts'
import { pushRefs } from '../../src/git/push.ts'
import { until } from '../support/until.ts'
import { type Served, serve } from './serve.ts'

/** How a run of the stock git client ended. */
export interface Ran {
  code: number
  out: string
  err: string
}

/** A local network, the real server on it, and stock git clients. */
export interface GitWorld {
  network: Network
  server: Served
  alice: DevAccount
  bob: DevAccount
  /** A folder for clones, gone at the end. */
  dir: string
  /** Makes a repository of alice's with bob as collaborator and pushes branches of a local git directory to her account; settles once it is served. */
  plant(name: string, gitDir: string, refs: readonly string[], record?: Record<string, unknown>): Promise<string>
  /** Pushes straight to alice's account, past this server. */
  pushStraight(name: string, gitDir: string, refs: readonly string[]): Promise<void>
  end(): Promise<void>
}

export async function startGitWorld(options: { env?: Record<string, string> } = {}): Promise<GitWorld> {
  const dir = mkdtempSync(join(tmpdir(), 'knotless-git-http-'))
  const network = await startNetwork()
  const alice = await network.createAccount('alice.test')
  const bob = await network.createAccount('bob.test')
  const server = await serve(network, options)

  async function pushStraight(name: string, gitDir: string, refs: readonly string[]): Promise<void> {
    const account = refsAccount(alice, name)
    const updates = []
    for (const ref of refs) updates.push({ name: ref, commit: await revision(gitDir, ref) })
    const pushed = await pushRefs({ gitDir, account, repo: account.repo, updates, now: () => new Date() })
    if (!pushed.ok) throw new Error(`${pushed.code}: ${pushed.message}`)
  }

  return {
    network,
    server,
    alice,
    bob,
    dir,
    pushStraight,
    async plant(name, gitDir, refs, record = {}) {
      const repo = { defaultBranch: 'main', collaborators: [{ did: bob.did }], runners: [], createdAt: new Date().toISOString(), ...record }
      await alice.put('dev.knotless.repo', name, repo)
      if (refs.length > 0) await pushStraight(name, gitDir, refs)
      const url = `${server.url}/alice.test/${name}.git`
      await until(async () => (await fetch(`${url}/info/refs?service=git-upload-pack`)).status === 200, { what: `${name} to be served` })
      return url
    },
    async end() {
      await server.end()
      await network.stop()
      rmSync(dir, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

async function revision(gitDir: string, ref: string): Promise<string | null> {
  const ran = await git(['--git-dir', gitDir, 'rev-parse', '--verify', '-q', ref])
  return ran.code === 0 ? ran.out.trim() : null
}

/** Runs the stock client, with no configuration of this machine's; never throws for what it does. */
export async function git(
  args: readonly string[],
  options: { cwd?: string; env?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<Ran> {
  const child = spawn('git', [...args], {
    cwd: options.cwd ?? tmpdir(),
    ...(options.signal === undefined ? {} : { signal: options.signal, killSignal: 'SIGKILL' }),
    env: {
      PATH: process.env.PATH ?? '',
      HOME: '/nonexistent',
      LC_ALL: 'C',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_TERMINAL_PROMPT: '0',
      GIT_AUTHOR_NAME: 'Ada',
      GIT_AUTHOR_EMAIL: 'ada@example.com',
      GIT_COMMITTER_NAME: 'Ada',
      GIT_COMMITTER_EMAIL: 'ada@example.com',
      ...options.env,
    },
  })
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', text => (out += text))
  child.stderr.setEncoding('utf8').on('data', text => (err += text))
  child.stdin.end()
  return new Promise(resolve => {
    child.on('error', () => undefined)
    child.on('close', code => resolve({ code: code ?? -1, out, err }))
  })
}

/** As `git`, and fails the test where git fails. */
export async function gitOk(args: readonly string[], options: Parameters<typeof git>[1] = {}): Promise<string> {
  const ran = await git(args, options)
  if (ran.code !== 0) throw new Error(`git ${args.join(' ')} ended with ${ran.code}: ${ran.err}`)
  return ran.out.trim()
}

/** Programs that run with this folder among their words: what a request has left behind. */
export async function programsIn(dir: string): Promise<string[]> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  execFile('ps', ['-A', '-ww', '-o', 'args='], { maxBuffer: 16 * 2 ** 20 }, (error, out) => (error === null ? resolve(out) : reject(error)))
  return (await promise).split('\n').filter(line => line.includes(dir))
}
