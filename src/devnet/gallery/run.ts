import { randomBytes } from 'node:crypto'
import { easyPassword } from '../demo/password.ts'
import { type ServerProcess, startServer } from '../demo/server-process.ts'
import { startNetwork } from '../network.ts'
import { freePort, PortTaken, portIsFree } from '../ports.ts'
import type { Surroundings } from '../program.ts'
import { seedPeople } from '../seed.ts'
import { type Gallery, putUpGallery, REPORT_EVERY } from './gallery.ts'
import { servePage } from './page.ts'
import { words } from './words.ts'

const READY_MS = 60_000

/** Runs the gallery until it is told to stop or its server ends. `port`: of the list; 0 picks free ones. Gives the exit code. */
export async function runGallery(port: number, around: Surroundings): Promise<number> {
  const parts = createParts()
  try {
    const said = await run(port, around, parts)
    if (said === undefined) around.say(words.stopping)
    else around.complain(said)
    return said === undefined ? 0 : 1
  } catch (error) {
    around.complain(error instanceof Error ? error.message : words.broke)
    return 1
  } finally {
    await parts.stop()
  }
}

/** What has started, and how it is stopped: the last first. */
interface Parts {
  add(stop: () => Promise<void>): Promise<void>
  stop(): Promise<void>
}

function createParts(): Parts {
  const stops: (() => Promise<void>)[] = []
  let over = false
  return {
    // What starts while all is being stopped is stopped at once, and nothing is started after it.
    async add(stop) {
      if (!over) return void stops.push(stop)
      await stop()
      throw new Error(words.stopping)
    },
    async stop() {
      over = true
      for (const stop of stops.splice(0).reverse()) await stop()
    },
  }
}

async function run(port: number, around: Surroundings, parts: Parts): Promise<string | undefined> {
  const ports = port === 0 ? { list: await freePort(), server: await freePort() } : { list: port, server: port + 1 }
  for (const each of [ports.list, ports.server]) if (!(await portIsFree(each))) throw new PortTaken('the gallery', each)
  around.say(words.starting)
  const up = putUp(ports, around, parts)
  // A stop in the midst of getting ready breaks it, and that is no fault.
  up.catch(() => {})
  const early = await Promise.race([around.stopped.then(said => ({ said })), up.then(server => ({ server }))])
  if ('said' in early) return early.said
  return Promise.race([early.server.ended, around.stopped])
}

/** Records first, then the server, which reads them as what had been there before it. */
async function putUp(ports: { list: number; server: number }, around: Surroundings, parts: Parts): Promise<ServerProcess> {
  const network = await startNetwork({ log: around.complain })
  await parts.add(() => network.stop())
  const people = await seedPeople(network, easyPassword)
  const gallery = await putUpGallery(network, people, { password: easyPassword })
  const server = startServer(network, ports.server, randomBytes(32).toString('hex'))
  await parts.add(() => server.stop())
  await server.ready(READY_MS)
  const isRead = await gallery.bringToLife(server)
  await parts.add(keepAlive(gallery, server, around))
  const list = await servePage(gallery, server.url, ports.list)
  await parts.add(() => list.stop())
  const accounts = [...new Set(gallery.scenes.map(scene => scene.as))].flatMap(as => (as === 'nobody' ? [] : [gallery.cast[as]]))
  around.say(words.welcome(list.url, gallery.scenes.length, accounts))
  if (!isRead) around.say(words.late)
  return server
}

/** Landers pass again and again, so that none counts as gone while somebody looks. Gives what ends that. */
function keepAlive(gallery: Gallery, server: ServerProcess, around: Surroundings): () => Promise<void> {
  const timer = setInterval(() => {
    gallery.report(server).catch((error: unknown) => around.complain(words.reportFailed(error instanceof Error ? error.message : '')))
  }, REPORT_EVERY)
  return async () => clearInterval(timer)
}
