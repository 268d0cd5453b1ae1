import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { runGit } from '../../git/run.ts'

/** One commit of a sample: its parent's tree with the files of a folder laid over it. */
export interface SampleCommit {
  /** Folder of files below `samples/`; a leading `dot.` in a name stands for a dot. With `files` no more than its name. */
  folder: string
  /** Its files by path, instead of a folder's. */
  files?: Readonly<Record<string, string>>
  /** The branch that it is made on, without `refs/heads/`. */
  branch: string
  /** Folder of the parent commit; none for the first. */
  parent?: string
  author: { name: string; email: string }
  /** ISO date; fixed, so that commit ids are the same everywhere. */
  date: string
  message: string
}

/** A sample's git directory, made, and where its branches are: name to commit id. */
export interface SampleHistory {
  gitDir: string
  branches: Map<string, string>
}

/** Makes a bare repository of these commits in `gitDir`, which does not exist yet. */
export async function buildHistory(gitDir: string, commits: readonly SampleCommit[]): Promise<SampleHistory> {
  await git(['init', '--quiet', '--bare', '--template=', '--initial-branch=main', gitDir])
  await git(['fast-import', '--quiet', '--date-format=raw'], { dir: gitDir, input: importStream(commits) })
  const listed = await git(['for-each-ref', '--format=%(refname:lstrip=2) %(objectname)', 'refs/heads'], { dir: gitDir })
  const branches = new Map(
    listed
      .trim()
      .split('\n')
      .map(line => {
        const [name = '', commit = ''] = line.split(' ')
        return [name, commit]
      }),
  )
  return { gitDir, branches }
}

async function git(args: string[], options: { dir?: string; input?: Buffer } = {}): Promise<string> {
  const run = await runGit(args, options)
  if (run.code !== 0) throw new Error(`git ${args[0]} failed (${run.ended}): ${run.stderr.trim()}`)
  return run.stdout.toString('utf8')
}

/** The commits in the language of `git fast-import`; marks are their places in the list, counted from 1. */
function importStream(commits: readonly SampleCommit[]): Buffer {
  const marks = new Map(commits.map((commit, at) => [commit.folder, at + 1]))
  const parts: Array<string | Buffer> = []
  const data = (bytes: Buffer) => parts.push(`data ${bytes.length}\n`, bytes, '\n')
  for (const commit of commits) {
    const who = `${commit.author.name} <${commit.author.email}> ${Date.parse(commit.date) / 1000} +0000`
    parts.push(`commit refs/heads/${commit.branch}\nmark :${marks.get(commit.folder)}\nauthor ${who}\ncommitter ${who}\n`)
    data(Buffer.from(`${commit.message}\n`))
    if (commit.parent !== undefined) parts.push(`from :${marks.get(commit.parent)}\n`)
    for (const file of commit.files === undefined ? filesOf(commit.folder) : given(commit.files)) {
      parts.push(`M ${file.executable ? '100755' : '100644'} inline ${file.path}\n`)
      data(file.bytes)
    }
    parts.push('\n')
  }
  return Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(part) : part)))
}

function given(files: Readonly<Record<string, string>>): Array<{ path: string; bytes: Buffer; executable: boolean }> {
  return Object.entries(files).map(([path, text]) => ({ path, bytes: Buffer.from(text), executable: false }))
}

function filesOf(folder: string): Array<{ path: string; bytes: Buffer; executable: boolean }> {
  const root = join(import.meta.dirname, folder)
  return readdirSync(root, { withFileTypes: true, recursive: true })
    .filter(entry => entry.isFile())
    .map(entry => {
      const path = join(entry.parentPath, entry.name)
      const name = relative(root, path).replace(/(^|\/)dot\./g, '$1.')
      return { path: name, bytes: readFileSync(path), executable: (statSync(path).mode & 0o100) !== 0 }
    })
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}
