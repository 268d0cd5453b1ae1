/** A program that renews an account's delegation over and over: `node renewing-child.ts {"env":…,"did":…,"times":…}`, once it is told to go. */
import { z } from 'zod'
import { parseDid } from '../../src/atproto/ids.ts'
import { readConfig } from '../../src/server/config.ts'
import { createContext } from '../../src/server/context.ts'

const given = z.object({ env: z.record(z.string(), z.string()), did: z.string(), times: z.number() })

const { env, did, times } = given.parse(JSON.parse(process.argv[2] ?? ''))
const read = readConfig(env)
const owner = parseDid(did)
if (!read.ok || owner === undefined) throw new Error('not what it takes')
const context = await createContext(read.config)
process.on('disconnect', () => process.exit(1))
process.once('message', async () => {
  let renewed = 0
  for (let n = 0; n < times; n++) if ((await context.delegations.oauth.restore(owner, true)) !== undefined) renewed++
  const { state } = context.delegations.of(owner)
  await context.close()
  process.send?.({ renewed, state }, () => process.disconnect())
})
process.send?.('ready')
