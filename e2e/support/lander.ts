/** The real runner over a world, as a program of its own. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RunnerFlags } from '../../src/devnet/demo/flags.ts'
import { type RunnerProcess, startRunner } from '../../src/devnet/demo/runner-process.ts'
import type { World } from './world.ts'

export interface Lander extends RunnerProcess {
  /** What it has printed. */
  log(): string
}

/** Starts the runner that lands the orchard's queue, and waits for its first pass. Its runs are made on this machine. */
export async function startLander(world: World, flags: RunnerFlags = {}): Promise<Lander> {
  const { network, people, server } = world
  const runner = startRunner({
    network,
    account: people.runner,
    serverUrl: server.url,
    repo: `${people.alice.handle}/orchard`,
    flags,
    executor: { kind: 'host' },
  })
  const log = () => readFileSync(join(network.dataDir, 'runner.log'), 'utf8')
  try {
    if (!(await runner.ready(60_000))) throw new Error(`the runner makes no pass: ${log()}`)
  } catch (error) {
    await runner.stop()
    throw error
  }
  return { ...runner, log }
}
