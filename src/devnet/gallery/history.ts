/** The git history that every repository of the gallery has: a default branch, a release behind it, and the heads of pulls. */
import { runGit } from '../../git/run.ts'
import { buildHistory, type SampleCommit, type SampleHistory } from '../samples/history.ts'
import { alice, bob } from '../samples/people.ts'

/** How many plain heads there are; each adds a file of its own, so that they go together in any order. */
const HEADS = 16

const workflow = (name: string, more = '') => `name: ${name}\non:\n  pull: {}\n${more}steps:\n  - run: test -f README.md\n`
const rows = (text: string) => `# Rows\n\n${text}\n`

/** The default branch, from its first commit on. */
const trunk: readonly (Pick<SampleCommit, 'folder' | 'message'> & { files: Record<string, string> })[] = [
  { folder: 'first', message: 'Rows of trees', files: { 'README.md': '# Orchard\n', 'docs/rows.md': rows('Ten steps apart.') } },
  {
    folder: 'workflows',
    message: 'Check what comes in',
    files: {
      '.knotless/workflows/check.yml': workflow('check', 'queue: first\n'),
      '.knotless/workflows/docs.yml': workflow('docs'),
      '.knotless/workflows/e2e.yml': workflow('e2e'),
      '.knotless/workflows/test.yml': workflow('test'),
    },
  },
  { folder: 'steps', message: 'Rows: nine steps apart', files: { 'docs/rows.md': rows('Nine steps apart.') } },
  { folder: 'landed-1', message: 'Label the rows', files: { 'docs/labels.md': 'Rows have letters.\n' } },
  { folder: 'landed-2', message: 'Say when the frost comes', files: { 'docs/frost.md': 'Two degrees.\n' } },
  { folder: 'landed-3', message: 'Picking by rows', files: { 'docs/picking.md': 'From the top.\n' } },
]

/** Plain heads are `topic-1` and on; the others say by their names what they are for. */
function commits(): SampleCommit[] {
  const made: SampleCommit[] = trunk.map((commit, at) => {
    const before = trunk[at - 1]
    return { ...commit, branch: 'main', ...(before === undefined ? {} : { parent: before.folder }), author: alice, date: day(at) }
  })
  const head = (branch: string, parent: string, message: string, files: Record<string, string>): void => {
    made.push({ folder: branch, branch, parent, author: bob, date: day(made.length), message, files })
  }
  for (let n = 1; n <= HEADS; n++) head(`topic-${n}`, 'landed-3', `Note ${n}`, { [`notes/${n}.md`]: `Note ${n}.\n` })
  head('row-labels', 'workflows', 'Rows: five steps apart', { 'docs/rows.md': rows('Five steps apart.') })
  head('csv-stream', 'landed-3', 'Rows in a list', { 'docs/rows.md': rows('Nine steps apart, in a list.') })
  head('csv-import', 'landed-3', 'Rows from a list', { 'docs/rows.md': rows('Nine steps apart, from a list.') })
  head('stricter', 'landed-3', 'Check more', { '.knotless/workflows/lint.yml': workflow('lint') })
  head('release/1.0', 'landed-1', 'Release 1.0', { 'docs/release.md': '1.0\n' })
  head('backport', 'release/1.0', 'Frost, for the release', { 'docs/frost.md': 'Two degrees.\n' })
  head('later', 'landed-3', 'Pushed while it landed', { 'notes/later.md': 'Later.\n' })
  made.push({
    folder: 'unrelated',
    branch: 'unrelated',
    author: bob,
    date: day(1),
    message: 'Another beginning',
    files: { 'a.md': 'A.\n' },
  })
  return made
}

function day(n: number): string {
  return new Date(Date.UTC(2026, 10, 1 + (n % 25), 8, n)).toISOString()
}

/** Commits of the default branch by what they are called above, and where every branch is. */
export interface GalleryHistory extends SampleHistory {
  trunk(name: string): string
}

/** Makes the history in `gitDir`, which does not exist yet; its commit ids are the same everywhere. */
export async function galleryHistory(gitDir: string): Promise<GalleryHistory> {
  const built = await buildHistory(gitDir, commits())
  const listed = await runGit(['rev-list', '--reverse', 'main'], { dir: gitDir })
  if (listed.code !== 0) throw new Error(`git rev-list failed: ${listed.stderr.trim()}`)
  const oldestFirst = listed.stdout.toString('utf8').trim().split('\n')
  return {
    ...built,
    trunk(name) {
      const found = oldestFirst[trunk.findIndex(({ folder }) => folder === name)]
      if (found === undefined) throw new Error(`no commit ${name}`)
      return found
    },
  }
}
