/** Jobs for executors, over real git trees. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gitEnv } from '../../../src/git/env.ts'
import { openMirror } from '../../../src/git/mirror.ts'
import type { Executor, Job, JobEnd, Log } from '../../../src/runner/types.ts'
import type { Workflow } from '../../../src/workflows/workflow.ts'

export type TreeFile = { name: string | Buffer; content?: string; mode?: '100644' | '100755' | '120000' | '160000' }

/** A mirror in a folder of its own, into which trees are planted. */
export async function createTrees() {
  const dir = mkdtempSync(join(tmpdir(), 'knotless-trees-'))
  const { dir: gitDir } = await openMirror(join(dir, 'mirror.git'))
  let made = 0
  return {
    dir,
    /** Makes a commit of these files and gives its id. */
    async plant(files: readonly TreeFile[]): Promise<Job['source']> {
      const ref = `refs/heads/planted-${++made}`
      const parts: Buffer[] = [Buffer.from(`commit ${ref}\ncommitter A <a@example.org> 1796000000 +0000\ndata 1\nx\n`)]
      for (const { name, content = '', mode = '100644' } of files) {
        const bytes = Buffer.from(content)
        parts.push(Buffer.from(`M ${mode} ${mode === '160000' ? content : 'inline'} "`), quoted(Buffer.from(name)), Buffer.from('"\n'))
        if (mode !== '160000') parts.push(Buffer.from(`data ${bytes.length}\n`), bytes, Buffer.from('\n'))
      }
      await git(gitDir, ['fast-import', '--quiet'], Buffer.concat(parts))
      return { gitDir, commit: (await git(gitDir, ['rev-parse', ref])).toString().trim() }
    },
    close: () => rmSync(dir, { recursive: true, force: true }),
  }
}

function quoted(name: Buffer): Buffer {
  return Buffer.from([...name].map(byte => `\\${byte.toString(8).padStart(3, '0')}`).join(''))
}

async function git(gitDir: string, args: readonly string[], input?: Buffer): Promise<Buffer> {
  const child = spawn('git', ['--git-dir', gitDir, ...args], { env: gitEnv(), stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(input)
  const out: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error(`git ${args[0]} ended with ${code}`)
  return Buffer.concat(out)
}

export type JobParts = Partial<Omit<Job, 'workflow'>> & {
  source: Job['source']
  steps: readonly string[]
  workflow?: Partial<Workflow>
}

let ids = 0

export interface Made {
  end: JobEnd
  text: string
  bytes: Buffer
  /** What is out so far. */
}

/** A job whose output is kept. */
export function jobOf({ steps, workflow, ...parts }: JobParts): { job: Job; output: () => Buffer; cancel: () => void } {
  const out: Buffer[] = []
  const cancelling = new AbortController()
  const job: Job = {
    id: `t-${process.pid}-${++ids}`,
    workflow: {
      file: 'test.yml',
      name: 'test',
      on: { pull: {} },
      first: false,
      retries: 0,
      secrets: [],
      supersede: 'cancel',
      cache: [],
      network: false,
      steps: steps.map(run => ({ run })),
      ...workflow,
    },
    env: {},
    secrets: {},
    timeoutMs: 60_000,
    weight: 'high',
    cache: { key: 'test', use: 'empty' },
    onOutput: bytes => void out.push(Buffer.from(bytes)),
    signal: cancelling.signal,
    ...parts,
  }
  return { job, output: () => Buffer.concat(out), cancel: () => cancelling.abort() }
}

/** Makes a run and gives how it ended with its whole output. */
export async function make(executor: Executor, parts: JobParts): Promise<{ end: JobEnd; text: string }> {
  const { job, output } = jobOf(parts)
  const end = await executor.run(job)
  return { end, text: output().toString('utf8') }
}

/** A summary that says a time says it as a number of seconds: tests do not look at how many. */
export function untimed(text: string): string {
  return text.replace(/\b\d+ s\b/g, 'N s')
}

export const quietLog: Log = { info() {}, warn() {}, error() {} }
