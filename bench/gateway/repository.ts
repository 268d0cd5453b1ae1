/** A repository of any size by git fast-import: a long history of changes, additions, deletions and renames, and pulls off it at several depths. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { gitEnv } from '../../src/git/env.ts'
import { runGit } from '../../src/git/run.ts'

export interface Size {
  files: number
  commits: number
  pulls: number
}

export interface MadeRepository {
  gitDir: string
  main: string
  /** The pulls' heads; they merge one after the other in any order. Their branches are `pull-0`, `pull-1` … */
  heads: readonly string[]
}

const filesPerFolder = 50
const changesPerCommit = 3
/** Pulls leave the branch up to this far down, or half of it where there is less. */
const deepest = 3_000

/** Makes a bare repository at `gitDir` with `main` and the pulls. The same size gives the same commits. */
export async function makeRepository(gitDir: string, size: Size): Promise<MadeRepository> {
  const made = await runGit(['init', '--quiet', '--bare', '--initial-branch=main', gitDir])
  if (made.code !== 0) throw new Error(made.stderr)
  const child = spawn('git', ['--git-dir', gitDir, 'fast-import', '--quiet', '--done'], {
    env: gitEnv(),
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  const ended = once(child, 'exit')
  for (const piece of history(size)) if (!child.stdin.write(piece)) await once(child.stdin, 'drain')
  child.stdin.end('done\n')
  const [code] = await ended
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`)
  const names = ['main', ...Array.from({ length: size.pulls }, (_, n) => `pull-${n}`)]
  const read = await runGit(['rev-parse', ...names.map(name => `refs/heads/${name}`)], { dir: gitDir })
  const [main = '', ...heads] = read.stdout.toString('latin1').trim().split('\n')
  return { gitDir, main, heads }
}

function* history({ files, commits, pulls }: Size): Generator<string> {
  const depth = Math.min(deepest, Math.floor(commits / 2))
  const random = numbers(20_261_130)
  const paths = Array.from({ length: files }, (_, n) => pathOf(n))
  const shared = (pull: number) => Math.floor((files / (pulls + 1)) * (pull + 1))
  const keptOut = new Set(Array.from({ length: pulls }, (_, pull) => [0, 1, 2].map(n => shared(pull) + n)).flat())
  let seconds = 1_600_000_000

  const start = (branch: string, mark: number, from?: number) => {
    seconds += 60
    const who = `A Grower <grower@example.com> ${seconds} +0000`
    const message = `Change ${mark}`
    const parent = from === undefined ? '' : `from :${from}\n`
    return `commit refs/heads/${branch}\nmark :${mark}\nauthor ${who}\ncommitter ${who}\ndata ${message.length}\n${message}\n${parent}`
  }
  yield `${start('main', 1)}${paths.map((path, n) => put(path, text(n, 0, 0))).join('')}\n`

  let fresh = 0
  let mark = 1
  while (mark < commits) {
    const last = mark++
    let changes = ''
    for (let n = 0; n < changesPerCommit; n++) {
      const at = random(files)
      if (keptOut.has(at)) continue
      const path = paths[at] ?? ''
      const what = random(40)
      if (what === 0) {
        changes += `D ${path}\n`
        paths[at] = pathOf(files + fresh++)
        changes += put(paths[at] ?? '', text(at, mark, 0))
      } else if (what === 1) {
        paths[at] = `${path.slice(0, path.lastIndexOf('/'))}/r${fresh++}.txt`
        changes += `R ${path} ${paths[at]}\n`
      } else changes += put(path, text(at, mark, 0))
    }
    // The first lines of what a pull changes at its end: a merge of contents for each, a little after it left.
    const pull = commits - depth <= mark && mark < commits - depth + pulls ? mark - (commits - depth) : undefined
    if (pull !== undefined) changes += put(paths[shared(pull)] ?? '', text(shared(pull), mark, 0))
    yield `${start('main', mark, last)}${changes}\n`
  }
  for (let pull = 0; pull < pulls; pull++) {
    const from = Math.max(1, commits - 1 - Math.floor((depth / Math.max(1, pulls)) * pull))
    const [a, b, c] = [shared(pull), shared(pull) + 1, shared(pull) + 2]
    // What main changed at its start by then, the pull keeps; where it left before that, both sides changed the file.
    const kept = commits - depth + pull
    const top = from >= kept ? kept : 0
    yield `${start(`pull-${pull}`, ++mark, from)}${put(paths[a] ?? '', text(a, top, mark))}${put(`new/pull-${pull}.txt`, text(pull, mark, mark))}\n`
    yield `${start(`pull-${pull}`, ++mark, mark - 1)}${put(paths[b] ?? '', text(b, 0, mark))}R ${paths[c]} new/renamed-${pull}.txt\n\n`
  }
}

function pathOf(n: number): string {
  const folder = Math.floor(n / filesPerFolder)
  return `part-${folder % 97}/sub-${folder}/file-${n}.txt`
}

function put(path: string, content: string): string {
  return `M 100644 inline ${path}\ndata ${content.length}\n${content}\n`
}

/** A file of about a kilobyte; its first line changes with `top`, its last with `bottom`. */
function text(file: number, top: number, bottom: number): string {
  const lines = Array.from(
    { length: 24 },
    (_, n) => `line ${n} of ${file}: pears ${(file * 31 + n * 7) % 1009}, plums ${(file * 17 + n) % 997}`,
  )
  return [`top ${top}`, ...lines, `bottom ${bottom}`, ''].join('\n')
}

/** Numbers below a bound, the same in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
