import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import { gzipSync } from 'node:zlib'

const digest = (bytes: Buffer) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/** A registry on this machine with one image, `there:1`, of one layer. */
export async function startRegistry(layer: Buffer): Promise<{ host: string; close(): Promise<void> }> {
  const packed = gzipSync(layer)
  const config = Buffer.from(
    JSON.stringify({ architecture: 'amd64', os: 'linux', config: {}, rootfs: { type: 'layers', diff_ids: [digest(layer)] } }),
  )
  const types = {
    manifest: 'application/vnd.docker.distribution.manifest.v2+json',
    layer: 'application/vnd.docker.image.rootfs.diff.tar.gzip',
  }
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: types.manifest,
      config: { mediaType: 'application/vnd.docker.container.image.v1+json', size: config.length, digest: digest(config) },
      layers: [{ mediaType: types.layer, size: packed.length, digest: digest(packed) }],
    }),
  )
  const there = new Map<string, { type: string; bytes: Buffer }>([
    ['/v2/', { type: 'application/json', bytes: Buffer.from('{}') }],
    ...['1', digest(manifest)].map(name => [`/v2/there/manifests/${name}`, { type: types.manifest, bytes: manifest }] as const),
    ...[config, packed].map(bytes => [`/v2/there/blobs/${digest(bytes)}`, { type: 'application/octet-stream', bytes }] as const),
  ])
  const server = createServer((request, response) => {
    const found = there.get(request.url ?? '')
    if (found === undefined) {
      response.writeHead(404, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ errors: [{ code: 'MANIFEST_UNKNOWN', message: 'manifest unknown' }] }))
      return
    }
    const headers = { 'content-type': found.type, 'content-length': found.bytes.length, 'docker-content-digest': digest(found.bytes) }
    response.writeHead(200, headers)
    response.end(request.method === 'HEAD' ? undefined : found.bytes)
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the registry does not listen')
  return {
    host: `127.0.0.1:${address.port}`,
    async close() {
      server.closeAllConnections()
      await new Promise(done => server.close(done))
    },
  }
}
