/**
 * The peer of mergePull and of a push, as a program of its own: the same by the owner's own hand. git merges and commits, the push goes straight into
 * the account, and so does the merged state. Arguments: the account as JSON, git directory, name of the repository. Gives milliseconds.
 */
import { z } from 'zod'
import { parseDid } from '../../src/atproto/ids.ts'
import { createTidClock } from '../../src/atproto/tid.ts'
import { openAccount } from '../../src/devnet/account.ts'
import { refsAccount } from '../../src/devnet/refs-account.ts'
import { pushRefs } from '../../src/git/push.ts'
import { line } from './git-client.ts'

const [given = '{}', gitDir = '', name = ''] = process.argv.slice(2)
const did = z.string().transform((text, ctx) => {
  const parsed = parseDid(text)
  if (parsed !== undefined) return parsed
  ctx.addIssue('no DID')
  return z.NEVER
})
const known = z.object({ pds: z.string(), did, handle: z.string(), password: z.string() }).parse(JSON.parse(given))
const owner = openAccount(known.pds, known)
const account = refsAccount(owner, name)
const tids = createTidClock({ now: Date.now, clockId: 2 })
const tipShape = z.object({ record: z.object({ refs: z.array(z.object({ name: z.string(), commit: z.string() })) }) })
const message = z.union([z.object({ pull: z.string(), head: z.string() }), z.object({ ref: z.string(), commit: z.string() })])

async function merge(pull: string, head: string): Promise<void> {
  const tip = tipShape.parse(await account.read()).record.refs.find(row => row.name === 'refs/heads/main')?.commit ?? ''
  const tree = await line(gitDir, ['merge-tree', '--write-tree', tip, head])
  const who = {
    GIT_AUTHOR_NAME: 'A Grower',
    GIT_AUTHOR_EMAIL: 'grower@example.com',
    GIT_COMMITTER_NAME: 'A Grower',
    GIT_COMMITTER_EMAIL: 'grower@example.com',
  }
  const commit = await line(gitDir, ['commit-tree', tree, '-p', tip, '-m', `A pull\n\n${pull}`], '', who)
  await push('refs/heads/main', commit)
  const state = { repo: account.repo, subject: pull, state: 'merged', commit, createdAt: new Date().toISOString() }
  await owner.create('dev.knotless.state', state, tids.next())
}

async function push(ref: string, commit: string): Promise<void> {
  const pushed = await pushRefs({ gitDir, updates: [{ name: ref, commit }], account, repo: account.repo, now: () => new Date() })
  if (!pushed.ok) throw new Error(pushed.message)
}

async function timed(asked: z.infer<typeof message>): Promise<number> {
  const started = performance.now()
  await ('pull' in asked ? merge(asked.pull, asked.head) : push(asked.ref, asked.commit))
  return performance.now() - started
}

process.on('message', asked => {
  void timed(message.parse(asked)).then(
    ms => process.send?.({ ms }),
    (error: unknown) => process.send?.({ error: String(error) }),
  )
})
process.once('disconnect', () => process.exit(0))
process.send?.({ ready: true })
