import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGuardedFetch } from '../atproto/guarded-fetch.ts'
import { createIdentity } from '../atproto/identity.ts'
import { createReader } from '../atproto/reader.ts'
import { accountsIn, type Comparison, compareSettled, rebuildIndex } from '../indexer/compare.ts'
import { openDatabase } from '../indexer/database.ts'
import { foldRepository } from '../queue/fold.ts'
import { count } from '../queue/words/phrase.ts'
import { type Config, readConfig } from '../server/config.ts'

const usage = `Usage: knotless index compare

Builds an index from what people's servers hold now, in a temporary file, and holds the server's own against it: records, rows, and what each
repository's records come to. It is configured by the same KNOTLESS_… variables as knotless serve, which may be running. Exit code: 0 when
they are the same, 1 when they differ, 2 when that could not be told.`

/** `knotless index compare`. */
export async function compareIndex(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const [first, second] = args
  if (first === '--help' || first === '-h' || second === '--help') {
    console.log(usage)
    return 0
  }
  if (first !== 'compare' || second !== undefined) {
    console.error('knotless index knows one command: compare (knotless index --help says more)')
    return 2
  }
  const read = readConfig(env)
  if (!read.ok) {
    console.error(read.fault)
    return 2
  }
  if (!existsSync(read.config.db)) {
    console.error('KNOTLESS_DB: there is no index yet')
    return 2
  }
  const dir = mkdtempSync(join(tmpdir(), 'knotless-compare-'))
  try {
    return await compare(read.config, join(dir, 'index.sqlite'))
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

async function compare(config: Config, path: string): Promise<number> {
  const { plcUrl, handleResolver, relayUrl: relay } = config
  const now = Date.now
  const fetch = createGuardedFetch({ allowLoopback: config.allowLoopback })
  const identity = createIdentity({ plcUrl, fetch, now, ...(handleResolver === undefined ? {} : { handleResolver }) })
  const reader = createReader({ identity, fetch, now })
  const here = openDatabase(config.db)
  const failures: unknown[] = []
  try {
    const failed = (error: unknown): void => void failures.push(error)
    const built = await rebuildIndex({ path, accounts: accountsIn(here), identity, reader, relay, now, failed })
    try {
      const result = await compareSettled(here, built, foldRepository, now)
      const unread = built.unread()
      report(result, unread)
      if (failures.length > 0) console.error(`${failures.length} failed inside: ${String(failures[0])}`)
      if (result.differences.length > 0) return 1
      return unread.length > 0 || failures.length > 0 ? 2 : 0
    } finally {
      await built.close()
    }
  } finally {
    fetch.close()
    await here.close()
  }
}

function report({ records, repositories, differences, more }: Comparison, unread: readonly { subject: string; error: string }[]): void {
  for (const { subject, error } of unread) console.error(`not read: ${subject} (${error})`)
  for (const { what, at, here, there } of differences) {
    console.log(`differs: ${what} ${at}\n  in the index:       ${here.slice(0, 500)}\n  from people's servers: ${there.slice(0, 500)}`)
  }
  if (more > 0) console.log(`and ${more} more`)
  const verdict = differences.length + more === 0 ? 'the same' : `${differences.length + more} differ`
  const held = `${count(records, 'record')} and ${count(repositories, 'repository', 'repositories')}`
  console.log(`${held} held against what people's servers hold: ${verdict}`)
}
