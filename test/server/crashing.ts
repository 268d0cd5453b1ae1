/** A server in a process of its own, over a local network, that tests kill with -9 and start again. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Did } from '../../src/atproto/ids.ts'
import { giveDelegation } from '../../src/devnet/give-delegation.ts'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { freePort } from '../../src/devnet/ports.ts'
import { readConfig } from '../../src/server/config.ts'
import { until } from '../support/until.ts'
import { type GatewayWorld, makePeople } from './gateway-world.ts'

const main = resolve(import.meta.dirname, '../../src/server/main.ts')
const program = `import { runServe } from ${JSON.stringify(main)}; process.exitCode = await runServe(process.env)`

export interface Crashing {
  network: Network
  people: GatewayWorld['people']
  /** Of the server's files, and for whatever else a test makes. */
  dir: string
  env: Readonly<Record<string, string>>
  url: string
  did: Did
  start(): Promise<void>
  kill(): Promise<void>
  /** After each test: no faults, and the server runs, so that one that failed half-way holds up none after it. */
  recover(): Promise<void>
  /** Asks for a write into alice's account, and settles when it was made, its answer was lost and the server looks whether it was made. */
  loseAnswer(method: string, ask: () => void): Promise<void>
  end(): Promise<void>
}

/** Alice has delegated to it. */
export async function startCrashing(): Promise<Crashing> {
  const dir = mkdtempSync(join(tmpdir(), 'knotless-crash-'))
  const network = await startNetwork()
  const people = await makePeople(network)
  const port = String(await freePort())
  const url = `http://127.0.0.1:${port}`
  const env = {
    KNOTLESS_PUBLIC_URL: url,
    PORT: port,
    KNOTLESS_DB: join(dir, 'knotless.sqlite'),
    KNOTLESS_DATA: dir,
    KNOTLESS_JETSTREAM: network.jetstreamUrl,
    KNOTLESS_PLC: network.plcUrl,
    KNOTLESS_HANDLE_RESOLVER: network.pdsUrl,
    KNOTLESS_ALLOW_LOOPBACK: '1',
    KNOTLESS_SECRET: 'a secret of this test, of 32 letters and more',
    KNOTLESS_RATE_LIMIT: '100000',
    KNOTLESS_LOG: 'silent',
  }
  const read = readConfig(env)
  assert.ok(read.ok)
  let child: ChildProcess | undefined

  async function start(): Promise<void> {
    child = spawn(process.execPath, ['--input-type=module', '-e', program], { env: { PATH: process.env.PATH, ...env }, stdio: 'ignore' })
    const ready = () =>
      fetch(`${url}/healthz`).then(
        answer => answer.ok,
        () => false,
      )
    await until(ready, { timeout: 60_000, what: 'the server to be ready' })
  }

  const isDead = () => child === undefined || child.exitCode !== null || child.signalCode !== null

  async function kill(): Promise<void> {
    if (child === undefined || isDead()) return
    const { promise: gone, resolve: done } = Promise.withResolvers<void>()
    child.once('exit', () => done())
    child.kill('SIGKILL')
    await gone
  }

  async function loseAnswer(method: string, ask: () => void): Promise<void> {
    const account = people.alice.did
    const revision = async () => {
      const answer = await fetch(`${network.pdsUrl}/xrpc/com.atproto.sync.getLatestCommit?did=${account}`)
      return await answer.text()
    }
    const before = await revision()
    const held = network.faults.add({ fault: 'stall', method, account })
    network.faults.add({ fault: 'lose', method, account })
    ask()
    await until(() => held.hits() > 0, { what: 'the write to be sent' })
    const looking = network.faults.add({ fault: 'stall', method: 'com.atproto.repo.getRecord', account })
    held.clear()
    // What looks may be another than who wrote.
    await until(async () => looking.hits() > 0 && (await revision()) !== before, { what: 'the server to look whether it was made' })
  }

  async function recover(): Promise<void> {
    network.faults.clear()
    if (isDead()) await start()
  }

  async function end(): Promise<void> {
    await kill()
    await network.stop()
    rmSync(dir, { recursive: true, force: true, maxRetries: 3 })
  }

  try {
    await start()
    await giveDelegation(url, people.alice)
  } catch (error) {
    await end()
    throw error
  }
  return { network, people, dir, env, url, did: read.config.did, start, kill, recover, loseAnswer, end }
}
