import { parseArgs } from 'node:util'
import { z } from 'zod'
import { count, faultLine, flag, hostAndPort, httpUrl, webSocketUrl } from '../config/values.ts'
import { parseDuration } from '../workflows/duration.ts'
import { wants, words } from './words.ts'

/** What a runner was asked for, before anything was looked up. Times in milliseconds. */
export type RunnerConfig = z.output<typeof shape>

const flags = {
  help: { type: 'boolean', short: 'h' },
  repo: { type: 'string', multiple: true },
  queue: { type: 'boolean' },
  pulls: { type: 'string' },
  batch: { type: 'string' },
  depth: { type: 'string' },
  wait: { type: 'string' },
  notice: { type: 'string' },
  sweep: { type: 'string' },
  jobs: { type: 'string' },
  timeout: { type: 'string' },
  secrets: { type: 'string' },
  executor: { type: 'string' },
  socket: { type: 'string' },
  image: { type: 'string' },
  'allow-network': { type: 'boolean' },
  'i-trust-every-author': { type: 'boolean' },
  once: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  log: { type: 'string' },
  listen: { type: 'string' },
  'ready-file': { type: 'string' },
} as const

const variables = [
  'KNOTLESS_HANDLE',
  'KNOTLESS_PASSWORD',
  'KNOTLESS_APPVIEW',
  'KNOTLESS_JETSTREAM',
  'KNOTLESS_DATA',
  'KNOTLESS_PLC',
  'KNOTLESS_HANDLE_RESOLVER',
  'KNOTLESS_ALLOW_LOOPBACK',
] as const

const second = 1000
const hour = 3600 * second

function time(least: number, most: number) {
  return z
    .string()
    .transform(text => parseDuration(text) ?? -1)
    .refine(ms => ms >= least && ms <= most)
}

const path = z.string().min(1).max(4096)
const repo = z.string().regex(/^[A-Za-z0-9.:%_-]{3,253}\/[A-Za-z0-9._~:-]{1,512}$/)

const shape = z.object({
  '--repo': z.array(repo).min(1).max(1000),
  '--queue': z.boolean().default(false),
  '--pulls': z.enum(['owner', 'collaborators', 'all']).optional(),
  '--batch': count(1, 50).default(8),
  '--depth': z
    .enum(['1', '2'])
    .transform((text): 1 | 2 => (text === '1' ? 1 : 2))
    .default(2),
  '--wait': time(0, hour).default(0),
  '--notice': time(second, hour).default(30 * second),
  '--sweep': time(10 * second, 24 * hour).default(300 * second),
  '--jobs': count(1, 64).default(2),
  '--timeout': time(second, 24 * hour).default(45 * 60 * second),
  '--secrets': path.optional(),
  '--executor': z.enum(['docker', 'host']).default('docker'),
  '--socket': path.optional(),
  '--image': z
    .string()
    .regex(/^\S{1,500}$/)
    .optional(),
  '--allow-network': z.boolean().default(false),
  '--i-trust-every-author': z.boolean().default(false),
  '--once': z.boolean().default(false),
  '--dry-run': z.boolean().default(false),
  '--log': z.enum(['text', 'json']).optional(),
  '--listen': hostAndPort.optional(),
  '--ready-file': path.optional(),
  KNOTLESS_HANDLE: z.string().min(3).max(2048),
  KNOTLESS_PASSWORD: z.string().min(1).max(1024),
  KNOTLESS_APPVIEW: z.union([httpUrl(), z.string().regex(/^did:(web|plc):\S{1,2000}$/)]),
  KNOTLESS_JETSTREAM: webSocketUrl,
  KNOTLESS_DATA: path.default('.knotless/runner'),
  KNOTLESS_PLC: httpUrl().default('https://plc.directory'),
  KNOTLESS_HANDLE_RESOLVER: httpUrl().optional(),
  KNOTLESS_ALLOW_LOOPBACK: flag.default(false),
})

/** Reads flags and environment. The fault is one line that names the flag or variable and what it wants, and never repeats a value. */
export function readRunnerConfig(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): { ok: true; config: RunnerConfig } | { ok: false; fault: string } | { help: true } {
  let asked: Record<string, unknown>
  try {
    asked = parseArgs({ args: [...args], options: flags }).values
  } catch (error) {
    return { ok: false, fault: words.unknownFlag(error instanceof Error ? (error.message.split('\n')[0] ?? '').slice(0, 200) : '') }
  }
  if (asked.help === true) return { help: true }
  const given = Object.fromEntries([
    ...Object.entries(asked).map(([name, value]) => [`--${name}`, value] as const),
    ...variables.flatMap(name => (env[name] ? [[name, env[name]] as const] : [])),
  ])
  const parsed = shape.safeParse(given)
  if (!parsed.success) return { ok: false, fault: faultLine(parsed.error, given, wants) }
  const config = parsed.data
  const anyones = config['--queue'] || config['--pulls'] !== undefined
  if (anyones && config['--executor'] === 'host' && !config['--i-trust-every-author']) return { ok: false, fault: words.hostRefused }
  return { ok: true, config }
}
