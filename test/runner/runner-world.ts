/** What tests of the whole runner stand on: a local network, the real server, repositories with workflows that wait for the test, and real runners. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DevAccount } from '../../src/devnet/account.ts'
import { type RunnerConfig, readRunnerConfig } from '../../src/runner/config.ts'
import { openRunner } from '../../src/runner/open.ts'
import type { MadeParts } from '../../src/runner/parts.ts'
import { createRunner, type Runner } from '../../src/runner/runner.ts'
import { type Found, findAll } from '../../src/runner/start.ts'
import {
  baseFiles,
  type Files,
  type GatewayWorld,
  type OpenedPull,
  type Planted,
  type PlantOptions,
  startGatewayWorld,
} from '../server/gateway-world.ts'
import { until } from '../support/until.ts'

export interface RunnerWorld extends GatewayWorld {
  dir: string
  /** A repository that names rigby as its runner, whose workflows are held and fail as their gates say. */
  orchard(name: string, options?: PlantOptions): Promise<Planted>
  /** Starts a runner in this process; ended with the world, if it was not before. */
  start(options: { repos: readonly Planted[]; as?: DevAccount; flags?: readonly string[]; dir?: string }): Promise<Running>
  /** The environment of a runner as a program. */
  env(as?: DevAccount): Record<string, string>
  gates: Gates
}

/** The parts of a runner that does nothing by itself. */
export interface Opened {
  parts: MadeParts['parts']
  repos: readonly Planted[]
  close(): Promise<void>
}

export interface Running {
  runner: Runner
  stop(): Promise<void>
}

/**
 * Workflows of these repositories run `gate NAME`, which tells this folder that it came, waits while NAME is held, and fails where the tree holds a file that
 * says so: `fails-NAME` alone, or both of `breaks-NAME-1` and `breaks-NAME-2`.
 */
export interface Gates {
  hold(name: string): void
  release(name: string): void
  /** How many runs of it have come so far. */
  came(name: string): number
}

export function workflow(name: string, gates: string, more = ''): string {
  return [
    `name: ${name}`,
    'on:',
    '  pull: {}',
    '  push: { branches: [main] }',
    ...(more === '' ? [] : [more]),
    'steps:',
    '  - run: |',
    `      mktemp "${gates}/came-${name}-XXXXXXXX" > came.tmp`,
    `      while [ -e "${gates}/held-${name}" ]; do sleep 0.02; done`,
    `      if [ -e fails-${name} ]; then echo "fails-${name} is there"; exit 1; fi`,
    `      if [ -e breaks-${name}-1 ] && [ -e breaks-${name}-2 ]; then echo "both are there"; exit 1; fi`,
    `      echo "${name} passed"`,
    '',
  ].join('\n')
}

export async function startRunnerWorld(options: Parameters<typeof startGatewayWorld>[0] = {}): Promise<RunnerWorld> {
  const dir = mkdtempSync(join(tmpdir(), 'knotless-runner-'))
  const folder = join(dir, 'gates')
  mkdirSync(folder)
  const world = await startGatewayWorld(options)
  const running = new Set<Running>()
  let count = 0
  const gates: Gates = {
    hold: name => writeFileSync(join(folder, `held-${name}`), ''),
    release: name => rmSync(join(folder, `held-${name}`), { force: true }),
    came: name => readdirSync(folder).filter(file => file.startsWith(`came-${name}-`)).length,
  }

  function env(as = world.people.rigby): Record<string, string> {
    return {
      KNOTLESS_HANDLE: as.handle,
      KNOTLESS_PASSWORD: as.password,
      KNOTLESS_APPVIEW: world.server.url,
      KNOTLESS_JETSTREAM: world.network.jetstreamUrl,
      KNOTLESS_PLC: world.network.plcUrl,
      KNOTLESS_HANDLE_RESOLVER: world.network.pdsUrl,
      KNOTLESS_ALLOW_LOOPBACK: '1',
    }
  }

  return {
    ...world,
    dir,
    gates,
    env,
    orchard(name, { record = {}, files } = {}) {
      const workflows: Files = files ?? { '.knotless/workflows/test.yml': workflow('test', folder) }
      return world.plant(name, { record: { runners: [{ did: world.people.rigby.did }], ...record }, files: { ...baseFiles, ...workflows } })
    },
    async start({ repos, as = world.people.rigby, flags = [], dir: data = join(dir, `runner-${count++}`) }) {
      const { config, found } = await lookUp({ people: world.people, env }, { repos, as, flags, data })
      const made = await createRunner(config, found)
      assert.ok(made.ok, JSON.stringify(made))
      await made.runner.start()
      const one: Running = {
        runner: made.runner,
        async stop() {
          if (!running.delete(one)) return
          await made.runner.stop()
        },
      }
      running.add(one)
      return one
    },
    async end() {
      for (const name of readdirSync(folder)) if (name.startsWith('held-')) rmSync(join(folder, name))
      for (const one of running) await one.runner.kill()
      await world.end()
      if (existsSync(dir)) rmSync(dir, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

/** Queues a pull as somebody who may. */
export async function queue(world: RunnerWorld, repo: Planted, pull: OpenedPull, as = world.people.bob): Promise<string> {
  const record = {
    repo: repo.uri,
    subject: pull.uri,
    state: 'queued',
    head: pull.head,
    branch: 'main',
    createdAt: new Date().toISOString(),
  }
  return (await as.create('dev.knotless.queue', record)).uri
}

/** Settles when a state record of an account says that the pull is merged, and gives its commit. */
export async function merged(world: RunnerWorld, pull: OpenedPull, by = world.people.rigby): Promise<string> {
  const found = await until(
    async () => {
      const states = await by.list('dev.knotless.state')
      return states.find(({ value }) => value.subject === pull.uri && value.state === 'merged')
    },
    { timeout: 60_000, what: `${pull.branch} to land` },
  )
  assert.equal(typeof found.value.commit, 'string')
  return String(found.value.commit)
}

/** Settles when an account has ejected the pull, and gives the record. */
export async function ejected(world: RunnerWorld, pull: OpenedPull, by = world.people.rigby): Promise<Record<string, unknown>> {
  const found = await until(
    async () => {
      const records = await by.list('dev.knotless.queue')
      return records.find(({ value }) => value.subject === pull.uri && value.state === 'ejected')
    },
    { timeout: 60_000, what: `${pull.branch} to be ejected` },
  )
  return found.value
}

async function lookUp(
  world: Pick<RunnerWorld, 'people' | 'env'>,
  asked: { repos: readonly Planted[]; as?: DevAccount; flags: readonly string[]; data: string },
): Promise<{ config: RunnerConfig; found: Found }> {
  const named = asked.repos.flatMap(repo => ['--repo', `${world.people.alice.handle}/${repo.name}`])
  const executor = asked.flags.includes('--executor') ? [] : ['--executor', 'host', '--i-trust-every-author']
  const args = [...named, '--queue', ...executor, '--log', 'json', ...asked.flags]
  const read = readRunnerConfig(args, { ...world.env(asked.as), KNOTLESS_DATA: asked.data })
  assert.ok(!('help' in read) && read.ok, JSON.stringify(read))
  const found = await findAll(read.config, Date.now)
  assert.ok(found.ok, JSON.stringify(found))
  return { config: read.config, found: found.found }
}

/** The parts of a runner as rigby, over these repositories, for tests that make its passes themselves. */
export async function openParts(world: RunnerWorld, repos: readonly Planted[], flags: readonly string[] = []): Promise<Opened> {
  const { config, found } = await lookUp(world, { repos, flags, data: join(world.dir, 'parts') })
  const opened = await openRunner(config, found, { ring: () => undefined, write: () => undefined })
  assert.ok(opened.ok, JSON.stringify(opened))
  return { parts: opened.made.parts, repos, close: () => opened.close() }
}
