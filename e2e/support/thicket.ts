/** A repository whose every text is hostile: description, branch, file names, commit messages. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { refsAccount } from '../../src/devnet/refs-account.ts'
import { pushRefs } from '../../src/git/push.ts'
import { runGit } from '../../src/git/run.ts'
import { hostile } from './hostile-texts.ts'
import type { World } from './world.ts'

export const topic = 'to<b>pic</b>&\u202ecipot'

/** Makes `alice.test/thicket` with a branch that changes hostile files, and gives the repository's address. */
export async function plantThicket({ people }: World): Promise<string> {
  const { alice, bob, runner } = people
  const dir = mkdtempSync(join(tmpdir(), 'knotless-thicket-'))
  try {
    const gitDir = join(dir, 'thicket.git')
    await git(['init', '--quiet', '--bare', '--template=', '--initial-branch=main', gitDir])
    await git(['fast-import', '--quiet'], { dir: gitDir, input: stream() })
    const branches = ['main', topic]
    const tips = await Promise.all(branches.map(branch => git(['rev-parse', `refs/heads/${branch}`], { dir: gitDir })))
    const refs = refsAccount(alice, 'thicket')
    await alice.put('dev.knotless.repo', 'thicket', {
      description: hostile.html,
      defaultBranch: 'main',
      collaborators: [{ did: bob.did }],
      runners: [{ did: runner.did }],
      protections: [],
      createdAt: new Date().toISOString(),
    })
    const updates = branches.map((branch, at) => ({ name: `refs/heads/${branch}`, commit: tips[at]?.trim() ?? null }))
    const done = await pushRefs({ gitDir, updates, account: refs, repo: refs.repo, now: () => new Date() })
    if (!done.ok) throw new Error(`${done.code}: ${done.message}`)
    return refs.repo
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

async function git(args: string[], options: { dir?: string; input?: string } = {}): Promise<string> {
  const run = await runGit(args, options)
  if (run.code !== 0) throw new Error(`git ${args[0]}: ${run.stderr}`)
  return run.stdout.toString('utf8')
}

function stream(): string {
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`
  const file = (path: string, text: string) => `M 100644 inline ${JSON.stringify(path)}\n${data(text)}`
  const commit = (branch: string, mark: number, message: string) =>
    `commit refs/heads/${branch}\nmark :${mark}\nauthor ${hostile.name} <x@y> 1764000000 +0000\ncommitter ${hostile.name} <x@y> 1764000000 +0000\n${data(message)}`
  return [
    commit('main', 1, 'begin'),
    file('readme', 'a\n'),
    commit(topic, 2, `${hostile.html}\n\nmore`),
    'from :1\n',
    file('readme', `${hostile.html}\n${hostile.long}\n${hostile.marks}\n`),
    file('a <img src=x onerror="document.title=1">.txt', `<script>document.title='broken'</script>\n`),
    file(`${'deep/'.repeat(40)}${'n'.repeat(180)}`, `${hostile.emoji}\n`),
    file('bell\u0007 and \u202egpj.txt', 'x\n'),
    commit(topic, 3, hostile.long),
    'from :2\n',
    file('last', 'b'),
  ].join('')
}
