import { mkdirSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { envToCfg, envToSecrets, PDS } from '@atproto/pds'
import { isValidDid } from '@atproto/syntax'
import type { Keys } from './keys.ts'
import { loopback, portError } from './ports.ts'
import { retried } from './retried.ts'

/** What a test may change about the PDS. */
export interface PdsSettings {
  /** Bytes of the largest blob it takes; the demo's and the tests' own is 100 MiB, the reference default is 5 MiB. */
  blobUploadLimit?: number
  /** Turns the reference PDS's rate limits on. */
  rateLimits?: boolean
}

/** A running PDS: the reference one, in this process. */
export interface Pds {
  /** Its own name for itself: OAuth issuer and service endpoint of its accounts. */
  readonly url: string
  /** Sequence number of the last event it made, 0 when there was none. */
  sequence(): Promise<number>
  /** Makes the directory's entries of these accounts point at this address, where they point elsewhere (the network came back on other ports). */
  claim(dids: string[]): Promise<void>
  /** Names another signing key (a did:key) in an account's DID document, while the account goes on signing with its own: a key that was taken out. */
  replaceKey(did: string, key: string): Promise<void>
  stop(): Promise<void>
}

/**
 * Starts the reference PDS on a loopback port, its data kept in `dir`. `gate` wraps its request listener, so that faults sit in front of the real
 * thing. Its own name is `http://localhost:<port>`: OAuth wants applications at 127.0.0.1, and another host name keeps the two cookie jars apart.
 * Throws `PortTaken`.
 */
export async function startPds(options: {
  dir: string
  port: number
  plcUrl: string
  keys: Keys
  settings: PdsSettings
  gate: (inner: RequestListener) => RequestListener
}): Promise<Pds> {
  mkdirSync(options.dir, { recursive: true })
  const env = {
    devMode: true,
    port: options.port,
    hostname: 'localhost',
    serviceName: 'Local PDS',
    dataDirectory: options.dir,
    blobstoreDiskLocation: join(options.dir, 'blobs'),
    blobstoreDiskTmpLocation: join(options.dir, 'blobs-tmp'),
    blobUploadLimit: options.settings.blobUploadLimit ?? 100 * 2 ** 20,
    rateLimitsEnabled: options.settings.rateLimits ?? false,
    adminPassword: options.keys.admin,
    jwtSecret: options.keys.jwt,
    dpopSecret: options.keys.dpop,
    plcRotationKeyK256PrivateKeyHex: options.keys.rotation,
    serviceHandleDomains: ['.test'],
    inviteRequired: false,
    // Its resolver refuses addresses that are bare IP numbers.
    didPlcUrl: options.plcUrl.replace(loopback, 'localhost'),
    disableSsrfProtection: true,
    crawlers: [],
  }
  const pds = await PDS.create(envToCfg(env), envToSecrets(env))
  const listen = pds.app.listen.bind(pds.app)
  pds.app.listen = (port: number) => listen(port, loopback)
  try {
    const server = await pds.start()
    const inner = server.listeners('request')
    server.removeAllListeners('request')
    const real: RequestListener = (request, response) => {
      for (const listener of inner) listener.call(server, request, response)
    }
    server.on('request', options.gate(real))
  } catch (error) {
    await pds.ctx.destroy()
    throw portError('PDS', options.port, error)
  }
  const url = pds.ctx.cfg.service.publicUrl
  return {
    url,
    sequence: async () => (await pds.ctx.sequencer.curr()) ?? 0,
    claim: dids => claim(pds, url, dids),
    replaceKey: (did, key) => retried(() => pds.ctx.plcClient.updateAtprotoKey(did, pds.ctx.plcRotationKey, key)),
    stop: () => pds.destroy(),
  }
}

async function claim(pds: PDS, url: string, dids: string[]): Promise<void> {
  for (const did of dids) {
    if (!isValidDid(did)) continue
    const account = await pds.ctx.accountManager.getAccount(did)
    if (account === null) continue
    const data = await retried(() => pds.ctx.plcClient.getDocumentData(did))
    if (data.services.atproto_pds?.endpoint === url) continue
    await pds.ctx.plcClient.updatePds(did, pds.ctx.plcRotationKey, url)
    await pds.ctx.idResolver.did.resolve(did, true)
    await pds.ctx.sequencer.sequenceIdentity(account.did)
  }
}
