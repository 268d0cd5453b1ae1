import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Network } from '../../src/devnet/network.ts'
import { freePort } from '../../src/devnet/ports.ts'
import { readConfig } from '../../src/server/config.ts'
import type { Overrides } from '../../src/server/context.ts'
import { createServer, type Server } from '../../src/server/server.ts'

export interface Served extends Server {
  url: string
  dir: string
  /** Stops it and removes its files. */
  end(): Promise<void>
}

/** The real server on a free port, over a local network or, without one, over nothing that answers. */
export async function serve(
  network?: Pick<Network, 'plcUrl' | 'pdsUrl' | 'jetstreamUrl'>,
  options: { env?: Record<string, string>; overrides?: Overrides } = {},
): Promise<Served> {
  const port = await freePort()
  const dir = mkdtempSync(join(tmpdir(), 'knotless-server-'))
  const url = `http://127.0.0.1:${port}`
  const read = readConfig({
    KNOTLESS_PUBLIC_URL: url,
    PORT: String(port),
    KNOTLESS_DB: join(dir, 'knotless.sqlite'),
    KNOTLESS_DATA: dir,
    KNOTLESS_JETSTREAM: network?.jetstreamUrl ?? 'ws://127.0.0.1:9/subscribe',
    KNOTLESS_PLC: network?.plcUrl ?? 'http://127.0.0.1:9',
    KNOTLESS_HANDLE_RESOLVER: network?.pdsUrl ?? 'http://127.0.0.1:9',
    KNOTLESS_ALLOW_LOOPBACK: '1',
    KNOTLESS_SECRET: 'a secret of this test, of 32 letters and more',
    KNOTLESS_RATE_LIMIT: '100000',
    KNOTLESS_LOG: 'silent',
    ...options.env,
  })
  if (!read.ok) throw new Error(read.fault)
  const clean = () => rmSync(dir, { recursive: true, force: true, maxRetries: 3 })
  const server = await createServer(read.config, options.overrides).catch((error: unknown) => {
    clean()
    throw error
  })
  await server.start()
  return {
    ...server,
    url,
    dir,
    async end() {
      await server.stop()
      clean()
    },
  }
}
