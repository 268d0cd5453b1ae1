import { Gauge, type Registry } from 'prom-client'
import type { IndexDatabase } from '../indexer/database.ts'
import type { Indexer } from '../indexer/indexer.ts'
import { ignoredCounts } from '../indexer/read.ts'

/** Figures of the index, read when they are asked for: the stream, what waits, and what was passed over by reason (REC-3). */
export function measureIndex(
  registry: Registry,
  { database, indexer }: { database: IndexDatabase; indexer: Pick<Indexer, 'status'> },
): void {
  const registers = [registry]
  const figure = (name: string, help: string, read: (status: ReturnType<Indexer['status']>) => number) =>
    new Gauge({
      name: `knotless_${name}`,
      help,
      registers,
      collect() {
        this.set(read(indexer.status()))
      },
    })
  figure('jetstream_connected', '1 while connected to Jetstream', status => (status.connected ? 1 : 0))
  figure('jetstream_behind_seconds', 'How old what is being written is', status => status.behindMs / 1000)
  figure('jetstream_connections', 'Connections made since the start', status => status.connections)
  figure('index_queue_length', 'Events that wait to be written', status => status.queued)
  figure('backfill_pending', 'Accounts and repositories still to be read', status => status.backfill.pending)
  figure('mirrors_waiting', 'Mirrors still to be brought up to date', status => status.mirrors.waiting)
  new Gauge({
    name: 'knotless_records_ignored',
    help: 'Records passed over since the index was made, by reason',
    labelNames: ['reason'],
    registers,
    collect() {
      for (const [reason, count] of ignoredCounts(database)) this.set({ reason }, count)
    },
  })
}
