/** The peer of the page benchmarks: the bytes of files, held in memory, as Fastify's plainest reply. Arguments: port, then path and file in turn. */
import { readFileSync } from 'node:fs'
import { fastify } from 'fastify'

const [port, ...pairs] = process.argv.slice(2)
const app = fastify()
for (let n = 0; n + 1 < pairs.length; n += 2) {
  const bytes = readFileSync(pairs[n + 1] ?? '')
  const type = pairs[n + 1]?.endsWith('.json') ? 'application/json; charset=utf-8' : 'text/html; charset=utf-8'
  app.get(pairs[n] ?? '/', (_request, reply) => reply.type(type).send(bytes))
}
app.get('/', (_request, reply) => reply.send('ready'))
process.once('SIGTERM', () => void app.close())
await app.listen({ host: '127.0.0.1', port: Number(port) })
