import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { giveDelegation } from '../give-delegation.ts'
import { type Network, startNetwork } from '../network.ts'
import { freePort, PortTaken, portIsFree } from '../ports.ts'
import type { Surroundings } from '../program.ts'
import { type People, seedPeople, seedSamples } from '../seed.ts'
import { type DataDir, openDataDir } from './data-dir.ts'
import { chooseExecutor } from './executor.ts'
import { type Flags, portsBelow } from './flags.ts'
import { samplesIndexed } from './indexed.ts'
import { describeNetwork, writeNetworkFile } from './network-file.ts'
import { easyPassword } from './password.ts'
import { startRunner } from './runner-process.ts'
import { type ServerProcess, startServer } from './server-process.ts'
import { words } from './words.ts'

const readyMs = 60_000
/** How long the runner's first pass is waited for. */
const runnerMs = 30_000

/** Runs the demo until it is told to stop or its server ends. Gives the exit code: 0 stopped, 1 something broke or is in use. */
export async function runDemo(flags: Flags, around: Surroundings): Promise<number> {
  const unready = () => flags.readyFile !== undefined && rmSync(flags.readyFile, { force: true })
  unready()
  const data = openDataDir(flags.dataDir, flags.reset)
  if (data === undefined) {
    around.complain(words.folderHeld(flags.dataDir))
    return 1
  }
  const stops: Array<() => Promise<void>> = [async () => data.release()]
  try {
    return await run(flags, around, data, stops)
  } catch (error) {
    around.complain(error instanceof Error ? error.message : words.broke)
    return 1
  } finally {
    unready()
    for (const stop of stops.reverse()) await stop()
  }
}

async function run(flags: Flags, around: Surroundings, data: DataDir, stops: Array<() => Promise<void>>): Promise<number> {
  const port = await serverPort(flags.port, data.lastPort)
  const below = (by: number) => (flags.port === 0 ? 0 : port - by)
  around.say(words.starting)
  const network = await startNetwork({
    dataDir: data.path,
    ports: { plc: below(portsBelow.plc), pds: below(portsBelow.pds), jetstream: below(portsBelow.jetstream) },
    log: around.complain,
  })
  stops.push(() => network.stop())
  const server = startServer(network, port, data.secret)
  stops.push(() => server.stop())
  data.keepPort(port)

  const quit = Promise.race([server.ended, around.stopped])
  const ready = getReady(flags, around, network, server, stops)
  const early = await Promise.race([quit.then(said => ({ said })), ready.then(() => undefined)])
  // A stop in the midst of getting ready breaks it, and that is no fault.
  ready.catch(() => {})
  const said = early === undefined ? await quit : early.said
  if (said !== undefined) {
    around.complain(said)
    return 1
  }
  around.say(words.stopping)
  return 0
}

/** Makes accounts and samples while the server starts, then says where everything is. */
async function getReady(
  flags: Flags,
  around: Surroundings,
  network: Network,
  server: ServerProcess,
  stops: Array<() => Promise<void>>,
): Promise<void> {
  const people = await seedPeople(network, easyPassword)
  const samples = flags.empty ? undefined : await seedSamples(network, people)
  await server.ready(readyMs)
  const delegated = await delegate(flags, server, people)
  const late = samples !== undefined && !(await samplesIndexed(server.url, samples))
  const runner =
    flags.runner && samples !== undefined ? await landing(flags, around, { network, server, people, stops }) : [words.withoutRunner]
  const file = describeNetwork(network, server, people, samples)
  writeNetworkFile(join(network.dataDir, 'network.json'), file)
  if (flags.readyFile !== undefined) writeNetworkFile(flags.readyFile, file)
  around.say(
    words.welcome(file, network.dataDir, { delegating: !flags.delegation, wait: flags.runner ? (flags.settings.wait ?? '') : undefined }),
  )
  around.say(delegated)
  if (late) around.say(words.notIndexed)
  for (const line of runner) around.say(line)
  around.say(words.howToStop)
}

/** Starts the runner of the orchard's queue, and gives what is to be said of it. When it ends by itself the rest goes on without it. */
async function landing(
  flags: Flags,
  around: Surroundings,
  { network, server, people, stops }: { network: Network; server: ServerProcess; people: People; stops: Array<() => Promise<void>> },
): Promise<string[]> {
  const executor = await chooseExecutor(flags.settings.executor, process.env)
  const repo = `${people.alice.handle}/orchard`
  const runner = startRunner({ network, account: people.runner, serverUrl: server.url, repo, flags: flags.settings, executor })
  let stopping = false
  stops.push(() => {
    stopping = true
    return runner.stop()
  })
  const isThere = await runner.ready(runnerMs)
  void runner.ended.then(said => {
    if (!stopping) around.complain(`${said}\n${words.runnerGone}`)
  })
  return [
    words.runs(executor, runner.logPath),
    ...(executor.kind === 'host' ? [words.notIsolated(executor.why)] : []),
    ...(isThere ? [] : [words.runnerSlow(runnerMs / 1000, runner.logPath)]),
  ]
}

/** Lets the server write for alice, as she would on its settings page, unless that is left to whoever watches. Gives what is to be said of it. */
async function delegate(flags: Flags, server: ServerProcess, { alice }: People): Promise<string> {
  if (!flags.delegation) return words.notDelegated(server.url)
  try {
    await giveDelegation(server.url, alice)
    return words.delegated(server.url)
  } catch (error) {
    return words.delegationFailed(error instanceof Error ? error.message : 'it broke')
  }
}

/** The port asked for, which must be free; for 0 the one of the last start where it may, since sign-ins name it. */
async function serverPort(asked: number, last: number | undefined): Promise<number> {
  if (asked !== 0) {
    if (await portIsFree(asked)) return asked
    throw new PortTaken('the server', asked)
  }
  return last !== undefined && (await portIsFree(last)) ? last : freePort()
}
