/**
 * The peer of mergePull, as a program of its own: a merge by the owner's own hand. git merges and commits, the push goes straight into the account,
 * and so does the merged state. Arguments: the account as JSON, git directory, name of the repository. Takes heads as messages, gives milliseconds.
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
const message = z.object({ pull: z.string(), head: z.string() })

async function merge({ pull, head }: z.infer<typeof message>): Promise<number> {
  const started = performance.now()
  const tip = tipShape.parse(await account.read()).record.refs.find(row => row.name === 'refs/heads/main')?.commit ?? ''
  const tree = await line(gitDir, ['merge-tree', '--write-tree', tip, head])
  const who = {
    GIT_AUTHOR_NAME: 'A Grower',
    GIT_AUTHOR_EMAIL: 'grower@example.com',
    GIT_COMMITTER_NAME: 'A Grower',
    GIT_COMMITTER_EMAIL: 'grower@example.com',
  }
  const commit = await line(gitDir, ['commit-tree', tree, '-p', tip, '-m', `A pull\n\n${pull}`], '', who)
  const updates = [{ name: 'refs/heads/main', commit }]
  const pushed = await pushRefs({ gitDir, updates, account, repo: account.repo, now: () => new Date() })
  if (!pushed.ok) throw new Error(pushed.message)
  const state = { repo: account.repo, subject: pull, state: 'merged', commit, createdAt: new Date().toISOString() }
  await owner.create('dev.knotless.state', state, tids.next())
  return performance.now() - started
}

process.on('message', asked => {
  void merge(message.parse(asked)).then(
    ms => process.send?.({ ms }),
    (error: unknown) => process.send?.({ error: String(error) }),
  )
})
process.once('disconnect', () => process.exit(0))
process.send?.({ ready: true })
