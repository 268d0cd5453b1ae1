/** Pushes by the stock client over the world of the gateway's tests. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DevAccount } from '../../src/devnet/account.ts'
import { until } from '../support/until.ts'
import { type GatewayWorld, tokenOf } from './gateway-world.ts'
import { git, gitOk, type Ran } from './git-world.ts'

export const pushMethod = 'dev.knotless.gitPush'

/** A clone of a repository, and pushes from it. */
export interface Clone {
  dir: string
  /** Commits files onto the branch that is checked out; gives the commit. */
  commit(files: Record<string, string>, message?: string): Promise<string>
  /** `git push` with a token of an account, or with the token given. */
  push(by: DevAccount | { token: string }, ...args: string[]): Promise<Ran>
  git(...args: string[]): Promise<string>
}

let count = 0

export function addressOf(world: GatewayWorld, name: string, user?: { name: string; password: string }): string {
  const url = new URL(`${world.server.url}/alice.test/${name}.git`)
  if (user !== undefined) {
    url.username = user.name
    url.password = user.password
  }
  return url.href
}

export async function tokenFor(world: GatewayWorld, by: DevAccount, params: Record<string, unknown> = {}): Promise<string> {
  return tokenOf(world.server, by, { lxm: pushMethod, exp: Math.floor(Date.now() / 1000) + 60, ...params })
}

/** Clones into a folder of `dir`. */
export async function cloneOf(world: GatewayWorld, name: string, dir: string, ...flags: string[]): Promise<Clone> {
  const url = addressOf(world, name)
  // Whose handle it is, is asked for beside the record.
  await until(async () => (await fetch(`${url}/info/refs?service=git-upload-pack`)).status === 200, { what: `${url} to be served` })
  const to = join(dir, `clone-${name}-${++count}`)
  await gitOk(['clone', '-q', ...flags, url, to])
  const inside = (...args: string[]) => gitOk(args, { cwd: to })
  return {
    dir: to,
    git: inside,
    async commit(files, message = 'A change') {
      for (const [path, content] of Object.entries(files)) {
        await mkdir(join(to, path, '..'), { recursive: true })
        await writeFile(join(to, path), content)
      }
      await inside('add', '-A')
      await inside('commit', '-q', '-m', message)
      return inside('rev-parse', 'HEAD')
    },
    async push(by, ...args) {
      const token = 'token' in by ? by.token : await tokenFor(world, by)
      return git(['push', addressOf(world, name, { name: 'anyone', password: token }), ...args], { cwd: to })
    },
  }
}
