/** The peer of the gateway's git: `git http-backend` behind the same Node server. Arguments: port, folder of repositories. */
import { spawn } from 'node:child_process'
import { fastify } from 'fastify'
import { gitEnv } from '../../src/git/env.ts'

const [port, root = ''] = process.argv.slice(2)
const app = fastify()
app.addContentTypeParser(['application/x-git-upload-pack-request', 'application/x-git-receive-pack-request'], (_request, _payload, done) =>
  done(null),
)
app.get('/', (_request, reply) => reply.send('ready'))
app.route({
  method: ['GET', 'POST'],
  url: '/*',
  handler(request, reply) {
    const url = new URL(request.url, 'http://127.0.0.1')
    const { headers } = request
    const child = spawn('git', ['http-backend'], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: gitEnv({
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: url.pathname,
        QUERY_STRING: url.search.slice(1),
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: headers['content-type'] ?? '',
        CONTENT_LENGTH: headers['content-length'] ?? '',
        HTTP_CONTENT_ENCODING: headers['content-encoding'] ?? '',
        GIT_PROTOCOL: String(headers['git-protocol'] ?? ''),
        REMOTE_USER: 'bench',
        REMOTE_ADDR: '127.0.0.1',
      }),
    })
    child.stdin.on('error', () => undefined)
    if (request.method === 'POST') request.raw.pipe(child.stdin)
    else child.stdin.end()
    reply.raw.on('close', () => child.kill())
    let head = Buffer.alloc(0)
    const onHead = (chunk: Buffer) => {
      head = Buffer.concat([head, chunk])
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      child.stdout.off('data', onHead)
      child.stdout.pause()
      child.stdout.unshift(head.subarray(end + 4))
      for (const line of head.toString('latin1', 0, end).split('\r\n')) {
        const [name = '', value = ''] = line.split(/: */, 2)
        if (name.toLowerCase() === 'status') reply.status(Number.parseInt(value, 10))
        else reply.header(name, value)
      }
      void reply.send(child.stdout)
    }
    child.stdout.on('data', onHead)
    return reply
  },
})
process.once('SIGTERM', () => void app.close())
await app.listen({ host: '127.0.0.1', port: Number(port) })
