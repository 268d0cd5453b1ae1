/** A program that follows a local network into a folder until it is killed: `node ingesting-child.ts {"dir":…,"network":{…}}`. It says when it follows. */
import { z } from 'zod'
import { startIndexed } from '../support/indexed.ts'

const given = z.object({
  dir: z.string(),
  network: z.object({ plcUrl: z.string(), pdsUrl: z.string(), jetstreamUrl: z.string(), relayUrl: z.string() }),
})

const { dir, network } = given.parse(JSON.parse(process.argv[2] ?? ''))
const indexed = await startIndexed(network, { dir, stream: { firstRetryMs: 20 } })
const timer = setInterval(() => {
  if (!indexed.indexer.status().connected) return
  clearInterval(timer)
  console.log('following')
}, 10)
// Whoever started it may be gone: it does not stay behind.
process.on('disconnect', () => process.exit(1))
