import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { DevAccount } from '../account.ts'
import type { Network } from '../network.ts'
import type { ChosenExecutor } from './executor.ts'
import type { RunnerFlags } from './flags.ts'
import { type Program, startProgram } from './program.ts'
import { words } from './words.ts'

/** The runner as a process of its own. */
export interface RunnerProcess extends Program {
  /** True once it has gone through its repository; false when it has not after `timeoutMs`. Rejects when it ends before. */
  ready(timeoutMs: number): Promise<boolean>
}

export interface RunnerOptions {
  network: Pick<Network, 'dataDir' | 'jetstreamUrl' | 'plcUrl' | 'pdsUrl'>
  /** Whose runner it is. */
  account: Pick<DevAccount, 'handle' | 'password'>
  serverUrl: string
  /** As HANDLE/NAME. */
  repo: string
  flags: RunnerFlags
  executor: ChosenExecutor
}

/** Starts `knotless runner --queue` for a repository, what it prints going into `runner.log` of the network's folder. */
export function startRunner({ network, account, serverUrl, repo, flags, executor }: RunnerOptions): RunnerProcess {
  const dataDir = join(network.dataDir, 'runner')
  mkdirSync(dataDir, { recursive: true })
  const readyFile = join(dataDir, 'ready.json')
  rmSync(readyFile, { force: true })
  const given = (['batch', 'depth', 'wait', 'notice'] as const).flatMap(name =>
    flags[name] === undefined ? [] : [`--${name}`, flags[name]],
  )
  const started = startProgram({
    args: ['runner', '--repo', repo, '--queue', ...given, ...executorArgs(executor), '--ready-file', readyFile],
    env: {
      KNOTLESS_HANDLE: account.handle,
      KNOTLESS_PASSWORD: account.password,
      KNOTLESS_APPVIEW: serverUrl,
      KNOTLESS_JETSTREAM: network.jetstreamUrl,
      KNOTLESS_PLC: network.plcUrl,
      KNOTLESS_HANDLE_RESOLVER: network.pdsUrl,
      KNOTLESS_ALLOW_LOOPBACK: '1',
      KNOTLESS_DATA: dataDir,
    },
    logPath: join(network.dataDir, 'runner.log'),
    // What runs is waited for (MOV-5), the samples' runs being short; then everything is dropped.
    secondMs: 20_000,
    graceMs: 28_000,
    words: { unstarted: words.runnerUnstarted, ended: words.runnerEnded },
  })
  return { ...started, ready: timeoutMs => untilReady(readyFile, started.ended, timeoutMs) }
}

function executorArgs(executor: ChosenExecutor): string[] {
  if (executor.kind === 'host') return ['--executor', 'host', '--i-trust-every-author']
  return ['--executor', 'docker', ...(executor.image === undefined ? [] : ['--image', executor.image])]
}

async function untilReady(readyFile: string, ended: Promise<string>, timeoutMs: number): Promise<boolean> {
  let gone: string | undefined
  void ended.then(said => {
    gone = said
  })
  for (const end = Date.now() + timeoutMs; Date.now() < end; ) {
    if (gone !== undefined) throw new Error(gone)
    if (existsSync(readyFile)) return true
    await wait(50)
  }
  return false
}
