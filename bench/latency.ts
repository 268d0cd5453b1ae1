/** From a record written into an account to its row in the index, over the real PDS, firehose and Jetstream of a local network. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createWriter } from '../src/atproto/writer.ts'
import { startNetwork } from '../src/devnet/network.ts'
import { freePort } from '../src/devnet/ports.ts'
import { tidAt } from '../src/queue/tid.ts'
import { readConfig } from '../src/server/config.ts'
import { createServer } from '../src/server/server.ts'
import { type Figure, limited, median, quantile } from './figures.ts'

const WRITES = 100

export async function benchLatency(): Promise<Figure[]> {
  const dir = mkdtempSync(join(tmpdir(), 'knotless-bench-'))
  const network = await startNetwork()
  const port = await freePort()
  const read = readConfig({
    KNOTLESS_PUBLIC_URL: `http://127.0.0.1:${port}`,
    PORT: String(port),
    KNOTLESS_DB: join(dir, 'index.sqlite'),
    KNOTLESS_DATA: dir,
    KNOTLESS_JETSTREAM: network.jetstreamUrl,
    KNOTLESS_PLC: network.plcUrl,
    KNOTLESS_HANDLE_RESOLVER: network.pdsUrl,
    KNOTLESS_ALLOW_LOOPBACK: '1',
    KNOTLESS_SECRET: 'a secret for benchmarks, of 32 letters or more',
    KNOTLESS_LOG: 'silent',
  })
  if (!read.ok) throw new Error(read.fault)
  const server = await createServer(read.config)
  try {
    await server.start()
    const { indexer, database } = server.context
    const account = await network.createAccount('grower.test')
    const writer = createWriter({ session: account.session, now: Date.now })
    const repo = `at://${account.did}/dev.knotless.repo/plot`
    const createdAt = new Date().toISOString()
    const made = await writer.putRecord({
      collection: 'dev.knotless.repo',
      rkey: 'plot',
      record: { $type: 'dev.knotless.repo', defaultBranch: 'main', collaborators: [], runners: [], createdAt },
    })
    if (!made.ok) throw new Error(made.message)
    await network.settled()
    await indexer.settled()

    const row = database.sqlite.prepare<[string], { deleted: number }>('select deleted from record where uri = ?')
    const took: number[] = []
    for (let n = 0; n < WRITES; n++) {
      const rkey = tidAt(Date.now() + n)
      const uri = `at://${account.did}/dev.knotless.pull/${rkey}`
      const seen = new Promise<number>(done => {
        const stop = indexer.onChanged(() => {
          if (row.get(uri) === undefined) return
          stop()
          done(performance.now())
        })
      })
      const record = { $type: 'dev.knotless.pull', repo, branch: 'main', head: { repo, branch: `row-${n}` }, title: `Row ${n}`, createdAt }
      const written = await writer.createRecord({ collection: 'dev.knotless.pull', rkey, record })
      if (!written.ok) throw new Error(written.message)
      const at = performance.now()
      took.push(Math.max(0, (await seen) - at))
    }
    return [
      limited('record written on the PDS → row in the index, median', median(took), 'ms', 100),
      limited('record written on the PDS → row in the index, p95', quantile(took, 0.95), 'ms', 300),
    ]
  } finally {
    await server.stop()
    await network.stop()
    rmSync(dir, { recursive: true, force: true })
  }
}
