import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { until } from '../support/until.ts'

const program = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const uri = z.string().startsWith('at://did:plc:')
const account = z.object({ handle: z.string(), did: z.string(), password: z.string() })
const fileShape = z.object({
  plc: z.url(),
  pds: z.url(),
  jetstream: z.string().regex(/^ws:.*\/subscribe$/),
  relay: z.url(),
  faults: z.url(),
  server: z.url(),
  serverDid: z.string().startsWith('did:web:'),
  accounts: z.object({ alice: account, bob: account, carol: account, mallory: account, runner: account }),
  repos: z.array(z.object({ uri, name: z.string(), owner: z.literal('alice'), pulls: z.record(z.string(), z.looseObject({ uri })) })),
})

/** What `network.json` says. */
export type DemoFile = z.infer<typeof fileShape>

/** Reads a file that the demo wrote. */
export function readDemoFile(path: string): DemoFile {
  return fileShape.parse(JSON.parse(readFileSync(path, 'utf8')))
}

/** A demo that runs as a program. */
export interface Demo {
  readonly child: ChildProcess
  readonly out: () => string
  readonly err: () => string
  /** Settles with its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>
}

/** Starts `knotless demo` with these flags in this folder. */
export function startDemo(cwd: string, flags: readonly string[]): Demo {
  let out = ''
  let err = ''
  const child = spawn(process.execPath, [program, 'demo', ...flags], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.on('data', chunk => {
    out += chunk
  })
  child.stderr.on('data', chunk => {
    err += chunk
  })
  const ended = new Promise<number | string>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve(code ?? signal ?? -1))
  })
  return { child, out: () => out, err: () => err, ended }
}

/** Waits for the ready file, and gives what it says. Throws with what the demo printed when it ends before. */
export async function readyDemo(demo: Demo, readyFile: string): Promise<DemoFile> {
  let ended = false
  demo.ended.then(
    () => {
      ended = true
    },
    () => {},
  )
  await until(() => ended || existsSync(readyFile), { timeout: 90_000, what: `the demo (${demo.out()}${demo.err()})` })
  if (ended) throw new Error(`the demo ended: ${demo.out()}${demo.err()}`)
  return readDemoFile(readyFile)
}

/** Process ids of a process's children and their children. */
export function descendants(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
  return children.flatMap(child => [child, ...descendants(child)])
}

/** Whether anything answers there. */
export async function answers(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(2000) }).then(
    () => true,
    () => false,
  )
}
