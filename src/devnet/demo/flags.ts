import { parseArgs } from 'node:util'
import { parseDuration } from '../../workflows/duration.ts'

const MINUTE = 60_000

/** What the demo was asked for. */
export interface Flags {
  help: boolean
  /** No sample repositories. */
  empty: boolean
  runner: boolean
  dataDir: string
  /** The server's port; the others follow below it. 0: free ones. */
  port: number
  reset: boolean
  readyFile?: string
  delegation: boolean
  /** For the runner, as they are given on. */
  settings: RunnerFlags
}

/** What the runner is told, where the demo is told so. */
export interface RunnerFlags {
  batch?: string | undefined
  depth?: string | undefined
  wait?: string | undefined
  notice?: string | undefined
  executor?: 'docker' | 'host' | undefined
}

/** The demo's ports by the server's: PLC directory, PDS and Jetstream lie 8, 7 and 6 below it. */
export const portsBelow = { plc: 8, pds: 7, jetstream: 6 } as const

const options = {
  help: { type: 'boolean', short: 'h', default: false },
  empty: { type: 'boolean', default: false },
  'no-runner': { type: 'boolean', default: false },
  data: { type: 'string', default: '.knotless/demo' },
  port: { type: 'string', default: '2590' },
  reset: { type: 'boolean', default: false },
  'ready-file': { type: 'string' },
  'no-delegation': { type: 'boolean', default: false },
  batch: { type: 'string' },
  depth: { type: 'string' },
  wait: { type: 'string', default: '10s' },
  notice: { type: 'string' },
  executor: { type: 'string' },
} as const

/** What `knotless demo --help` prints. */
export const usage = `Usage: knotless demo [FLAGS]

A local atproto network (PLC directory, PDS, Jetstream), the server, a runner, accounts and a sample repository, all on this machine alone.
It runs until Ctrl-C; a second start finds everything as it was.

  --empty             network, server and accounts, but no sample repositories
  --no-runner         no runner
  --data DIR          where everything is kept (.knotless/demo)
  --port N            the server's port (2590); PLC, PDS and Jetstream take N-8, N-7 and N-6; 0 picks free ones
  --reset             start afresh: throw away what is kept in the data folder
  --ready-file PATH   write this file when everything answers
  --no-delegation     leave it to you to let the server write for alice.test, on her settings page
  --batch N           pulls in a batch, 1 to 50
  --depth N           batches at a time, 1 or 2
  --wait TIME         how long a batch that is not full waits to fill (10s: as long as it takes to add a second pull)
  --notice TIME       how often the runner looks by itself, such as 30s
  --executor KIND     where checks run: docker, in containers, or host, on this machine itself; by default the container engine that answers`

/** Parses the demo's arguments. `fault` is one line that names the flag and what it wants. */
export function parseFlags(args: readonly string[]): Flags | { fault: string } {
  let values: ReturnType<typeof parse>
  try {
    values = parse(args)
  } catch (error) {
    return { fault: `knotless demo: ${error instanceof Error ? (error.message.split('\n')[0] ?? '') : 'wrong flags'}` }
  }
  const port = wholeNumber(values.port)
  if (port === undefined || port > 65_535 || (port > 0 && port <= portsBelow.plc)) {
    return { fault: `knotless demo: --port wants 0 or a number from ${portsBelow.plc + 1} to 65535, not "${values.port}"` }
  }
  if (values.data === '') return { fault: 'knotless demo: --data wants a folder' }
  if (values['ready-file'] === '') return { fault: 'knotless demo: --ready-file wants a path' }
  const wrong = runnerFault(values)
  if (wrong !== undefined) return { fault: `knotless demo: ${wrong}` }
  return {
    help: values.help,
    empty: values.empty,
    runner: !values['no-runner'],
    dataDir: values.data,
    port,
    reset: values.reset,
    ...(values['ready-file'] === undefined ? {} : { readyFile: values['ready-file'] }),
    delegation: !values['no-delegation'],
    settings: settingsOf(values),
  }
}

function parse(args: readonly string[]) {
  return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values
}

function runnerFault(values: ReturnType<typeof parse>): string | undefined {
  const { batch, depth, wait, notice, executor } = values
  const size = batch === undefined ? 1 : wholeNumber(batch)
  if (size === undefined || size < 1 || size > 50) return `--batch wants a number from 1 to 50, not "${batch}"`
  if (depth !== undefined && depth !== '1' && depth !== '2') return `--depth wants 1 or 2, not "${depth}"`
  const filling = parseDuration(asDuration(wait))
  if (filling === undefined || filling > 60 * MINUTE) return `--wait wants a time up to 1h, such as 10s, not "${wait}"`
  const every = notice === undefined ? MINUTE : parseDuration(asDuration(notice))
  if (every === undefined || every < 1_000 || every > 60 * MINUTE)
    return `--notice wants a time from 1s to 1h, such as 30s, not "${notice}"`
  if (executor !== undefined && executor !== 'docker' && executor !== 'host') return `--executor wants docker or host, not "${executor}"`
  return undefined
}

function settingsOf({ batch, depth, wait, notice, executor }: ReturnType<typeof parse>): RunnerFlags {
  return {
    ...(batch === undefined ? {} : { batch }),
    ...(depth === undefined ? {} : { depth }),
    wait: asDuration(wait),
    ...(notice === undefined ? {} : { notice: asDuration(notice) }),
    ...(executor === 'docker' || executor === 'host' ? { executor } : {}),
  }
}

/** A number alone is one of seconds. */
function asDuration(text: string): string {
  return /^[0-9]+$/.test(text) ? `${text}s` : text
}

function wholeNumber(text: string): number | undefined {
  return /^(0|[1-9][0-9]{0,8})$/.test(text) ? Number(text) : undefined
}
