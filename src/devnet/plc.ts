import type { OpOrTombstone } from '@did-plc/lib'
import { MockDatabase, PlcServer } from '@did-plc/server'
import Database from 'better-sqlite3'
import { z } from 'zod'
import { loopback, portError } from './ports.ts'

const rows = z.array(z.object({ operation: z.string(), created: z.number() }))

/**
 * The reference directory's in-memory store, kept in a file. Operations are read back when a DID is first asked for, and are checked again
 * by the directory's own rules as they are.
 */
class FileStore extends MockDatabase {
  readonly #file: Database.Database
  readonly #loaded = new Map<string, Promise<void>>()

  constructor(path: string) {
    super()
    this.#file = new Database(path)
    this.#file.pragma('journal_mode = WAL')
    this.#file.exec(
      'create table if not exists operation (id integer primary key, did text not null, operation text not null, created integer not null)',
    )
    this.#file.exec('create index if not exists operation_did on operation (did)')
  }

  override async validateAndAddOp(did: string, proposed: OpOrTombstone): Promise<void> {
    await this.#load(did)
    await super.validateAndAddOp(did, proposed)
    const insert = this.#file.prepare('insert into operation (did, operation, created) values (?, ?, ?)')
    insert.run(did, JSON.stringify(proposed), this.contents[did]?.at(-1)?.createdAt.getTime() ?? 0)
  }

  override async indexedOpsForDid(did: string, includeNull?: boolean): ReturnType<MockDatabase['indexedOpsForDid']> {
    await this.#load(did)
    return super.indexedOpsForDid(did, includeNull)
  }

  override async lastOpForDid(did: string): ReturnType<MockDatabase['lastOpForDid']> {
    await this.#load(did)
    return super.lastOpForDid(did)
  }

  override async close(): Promise<void> {
    this.#file.close()
  }

  #load(did: string): Promise<void> {
    const known = this.#loaded.get(did)
    if (known !== undefined) return known
    const loading = this.#replay(did)
    this.#loaded.set(did, loading)
    return loading
  }

  async #replay(did: string): Promise<void> {
    const kept = rows.parse(this.#file.prepare('select operation, created from operation where did = ? order by id').all(did))
    for (const row of kept) {
      await super.validateAndAddOp(did, JSON.parse(row.operation))
      const added = this.contents[did]?.at(-1)
      if (added !== undefined) added.createdAt = new Date(row.created)
    }
  }
}

/** A running PLC directory. */
export interface Plc {
  readonly url: string
  readonly port: number
  stop(): Promise<void>
}

/** Starts the reference PLC directory on a loopback port (0: a free one), its operations kept in the SQLite file `path`. Throws `PortTaken`. */
export async function startPlc(options: { path: string; port: number }): Promise<Plc> {
  const server = PlcServer.create({ db: new FileStore(options.path), port: options.port })
  const listen = server.app.listen.bind(server.app)
  server.app.listen = (port: number) => listen(port, loopback)
  try {
    const http = await server.start()
    const address = http.address()
    const port = typeof address === 'object' && address !== null ? address.port : options.port
    return { url: `http://${loopback}:${port}`, port, stop: () => server.destroy() }
  } catch (error) {
    await server.ctx.db.close()
    throw portError('PLC directory', options.port, error)
  }
}
