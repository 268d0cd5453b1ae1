import { z } from 'zod'
import { type Did, parseDid } from '../atproto/ids.ts'
import { count, faultLine, flag, hostAndPort, httpUrl, isLoopbackHost, minutes, perMinute, port, webSocketUrl } from '../config/values.ts'

/** What `serve` runs with. Made once, by `readConfig`; everything else takes its part of it. */
export interface Config {
  /** Origin that people open, without a slash at its end. */
  publicUrl: string
  /** True when the public address is this machine's own. */
  loopback: boolean
  /** The server's DID: audience of service tokens and name of the gateway. On loopback it says localhost, the one host that atproto lets have a port. */
  did: Did
  host: string
  port: number
  /** Path of the SQLite file. */
  db: string
  /** Folder of the mirrors and of the key of the OAuth client. */
  dataDir: string
  jetstreamUrl: string
  relayUrl?: string
  plcUrl: string
  handleResolver?: string
  /** Account servers at loopback addresses may be read: a local network. */
  allowLoopback: boolean
  /** Encrypts what is secret at rest, signs form tokens. */
  secret: string
  metrics?: { host: string; port: number }
  /** A queue that is not empty and has not moved for this long is called stalled (STA-4), in milliseconds. */
  stallAfterMs: number
  /** Addresses of proxies whose `X-Forwarded-For` is believed. */
  trustProxy: readonly string[]
  /** Requests per minute and address. */
  limits: { requests: number; writes: number; logIns: number }
  /** Event streams open at once, in all and to one address. */
  streams: { all: number; perAddress: number }
  /** Git over HTTP: programs that run at once, in all and for one address; bytes of one push's pack; milliseconds without a byte. */
  git: { processes: number; perAddress: number; pushBytes: number; idleMs: number }
  logLevel: string
}

export type ConfigResult = { ok: true; config: Config } | { ok: false; fault: string }

/** What each variable wants: the second half of the line that stops the program. */
const wants = {
  KNOTLESS_PUBLIC_URL:
    'the address that people open, such as https://queue.example.org (http only on this machine, as http://127.0.0.1:2590)',
  KNOTLESS_DID: "the server's DID, such as did:web:queue.example.org",
  HOST: 'the address to listen at, such as 127.0.0.1',
  PORT: 'a port from 1 to 65535',
  KNOTLESS_DB: 'the path of the SQLite file',
  KNOTLESS_DATA: 'the folder for mirrors and keys',
  KNOTLESS_JETSTREAM: 'the address of a Jetstream, such as wss://jetstream.example.org/subscribe',
  KNOTLESS_RELAY: 'the address of a relay, such as https://relay.example.org',
  KNOTLESS_PLC: 'the address of a PLC directory, such as https://plc.directory',
  KNOTLESS_HANDLE_RESOLVER: 'the address of a service that resolves handles, such as https://pds.example.org',
  KNOTLESS_ALLOW_LOOPBACK: '1 or 0; 1 only while KNOTLESS_PUBLIC_URL is a loopback address',
  KNOTLESS_SECRET: 'at least 32 random characters, kept over restarts',
  KNOTLESS_METRICS: 'host:port, or a port of this machine, where /metrics is served',
  KNOTLESS_STALL_AFTER: 'minutes, 1 or more',
  KNOTLESS_TRUST_PROXY: 'addresses of the proxies in front of the server, separated by commas',
  KNOTLESS_RATE_LIMIT: 'requests per minute and address, 10 or more',
  KNOTLESS_STREAMS: 'event streams of pages open at once, from 20 to 1000000',
  KNOTLESS_GIT_PROCESSES: 'clones, fetches and pushes served at once, from 2 to 1000',
  KNOTLESS_GIT_IDLE: 'seconds without a byte after which a git client is cut off, from 1 to 3600',
  KNOTLESS_PUSH_MIB: 'mebibytes that one push may bring, from 1 to 2048',
  KNOTLESS_LOG: 'one of fatal, error, warn, info, debug, trace, silent',
} as const

const shape = z.object({
  KNOTLESS_PUBLIC_URL: httpUrl({ originOnly: true }),
  KNOTLESS_DID: z.custom<Did>(value => parseDid(value) !== undefined).optional(),
  HOST: z.string().min(1).max(255).default('127.0.0.1'),
  PORT: port.default(2590),
  KNOTLESS_DB: z.string().min(1),
  KNOTLESS_DATA: z.string().min(1),
  KNOTLESS_JETSTREAM: webSocketUrl,
  KNOTLESS_RELAY: httpUrl().optional(),
  KNOTLESS_PLC: httpUrl().default('https://plc.directory'),
  KNOTLESS_HANDLE_RESOLVER: httpUrl().optional(),
  KNOTLESS_ALLOW_LOOPBACK: flag.default(false),
  KNOTLESS_SECRET: z.string().min(32).max(1024),
  KNOTLESS_METRICS: hostAndPort.optional(),
  KNOTLESS_STALL_AFTER: minutes.default(60 * 60_000),
  KNOTLESS_TRUST_PROXY: z
    .string()
    .transform(text => text.split(',').map(part => part.trim()))
    .pipe(z.array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6(), z.literal('loopback')])))
    .optional(),
  KNOTLESS_RATE_LIMIT: perMinute.default(3_000),
  KNOTLESS_STREAMS: count(20, 1_000_000).default(4_000),
  KNOTLESS_GIT_PROCESSES: count(2, 1_000).default(16),
  KNOTLESS_GIT_IDLE: count(1, 3_600).default(60),
  KNOTLESS_PUSH_MIB: count(1, 2_048).default(2_048),
  KNOTLESS_LOG: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
})

/**
 * Reads the configuration from the environment. An empty variable counts as absent. The fault is one line that names the variable and
 * what it wants, and never repeats a value.
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>): ConfigResult {
  const given = Object.fromEntries(Object.keys(wants).flatMap(name => (env[name] ? [[name, env[name]]] : [])))
  if (/^postgres(ql)?:/.test(env.KNOTLESS_DB ?? '')) {
    return { ok: false, fault: 'KNOTLESS_DB: PostgreSQL is not there yet; it wants the path of the SQLite file' }
  }
  const parsed = shape.safeParse(given)
  if (!parsed.success) return { ok: false, fault: faultLine(parsed.error, given, wants) }
  const values = parsed.data
  const url = new URL(values.KNOTLESS_PUBLIC_URL)
  const loopback = isLoopbackHost(url.hostname)
  if (url.hostname === 'localhost') {
    return {
      ok: false,
      fault: 'KNOTLESS_PUBLIC_URL: localhost does not do, since log-in needs the address; it wants http://127.0.0.1:2590',
    }
  }
  if (url.protocol === 'http:' && !loopback) {
    return { ok: false, fault: `KNOTLESS_PUBLIC_URL is not right: it wants ${wants.KNOTLESS_PUBLIC_URL}` }
  }
  if (values.KNOTLESS_ALLOW_LOOPBACK && !loopback) {
    return { ok: false, fault: `KNOTLESS_ALLOW_LOOPBACK is not right: it wants ${wants.KNOTLESS_ALLOW_LOOPBACK}` }
  }
  return { ok: true, config: configOf(values, url, loopback) }
}

function configOf(values: z.output<typeof shape>, url: URL, loopback: boolean): Config {
  return {
    publicUrl: url.origin,
    loopback,
    did: values.KNOTLESS_DID ?? `did:web:${(loopback ? `localhost:${url.port || '80'}` : url.host).replaceAll(':', '%3A')}`,
    host: values.HOST,
    port: values.PORT,
    db: values.KNOTLESS_DB,
    dataDir: values.KNOTLESS_DATA,
    jetstreamUrl: values.KNOTLESS_JETSTREAM,
    ...(values.KNOTLESS_RELAY === undefined ? {} : { relayUrl: values.KNOTLESS_RELAY }),
    plcUrl: values.KNOTLESS_PLC,
    ...(values.KNOTLESS_HANDLE_RESOLVER === undefined ? {} : { handleResolver: values.KNOTLESS_HANDLE_RESOLVER }),
    allowLoopback: values.KNOTLESS_ALLOW_LOOPBACK,
    secret: values.KNOTLESS_SECRET,
    ...(values.KNOTLESS_METRICS === undefined ? {} : { metrics: values.KNOTLESS_METRICS }),
    stallAfterMs: values.KNOTLESS_STALL_AFTER,
    // The server speaks plain http: off loopback there is a proxy in front of it, by default on the same machine.
    trustProxy: values.KNOTLESS_TRUST_PROXY ?? (loopback ? [] : ['loopback']),
    limits: {
      requests: values.KNOTLESS_RATE_LIMIT,
      writes: Math.max(5, Math.floor(values.KNOTLESS_RATE_LIMIT / 50)),
      logIns: Math.max(5, Math.floor(values.KNOTLESS_RATE_LIMIT / 50)),
    },
    streams: { all: values.KNOTLESS_STREAMS, perAddress: Math.max(20, Math.floor(values.KNOTLESS_STREAMS / 20)) },
    git: {
      processes: values.KNOTLESS_GIT_PROCESSES,
      perAddress: Math.max(2, Math.floor(values.KNOTLESS_GIT_PROCESSES / 2)),
      pushBytes: values.KNOTLESS_PUSH_MIB * 2 ** 20,
      idleMs: values.KNOTLESS_GIT_IDLE * 1_000,
    },
    logLevel: values.KNOTLESS_LOG,
  }
}
