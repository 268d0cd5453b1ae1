import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { type Did, parseDid } from '../atproto/ids.ts'
import { type DevAccount, openAccount, registerAccount } from './account.ts'
import { readJson } from './keys.ts'

const did = z.custom<Did>(value => parseDid(value) !== undefined)
const kept = z.array(z.object({ handle: z.string(), did, password: z.string() }))

/** The accounts made through this network, kept with their passwords beside its data. */
export interface Accounts {
  create(handle: string, password?: string): Promise<DevAccount>
  find(handle: string): DevAccount | undefined
  all(): DevAccount[]
}

/** Opens the list kept in `dir`; the file is readable by its owner only. */
export function keepAccounts(dir: string, pdsUrl: string): Accounts {
  const path = join(dir, 'accounts.json')
  const accounts = new Map(kept.parse(readJson(path) ?? []).map(known => [known.handle, openAccount(pdsUrl, known)]))
  return {
    async create(handle, password = randomBytes(12).toString('base64url')) {
      const account = await registerAccount(pdsUrl, handle, password)
      accounts.set(handle, account)
      const list = [...accounts.values()].map(({ did, handle, password }) => ({ handle, did, password }))
      writeFileSync(path, `${JSON.stringify(list, null, 2)}\n`, { mode: 0o600 })
      return account
    },
    find: handle => accounts.get(handle),
    all: () => [...accounts.values()],
  }
}
