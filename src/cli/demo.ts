import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../devnet/main.ts', import.meta.url))
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** `knotless demo`: starts the demo as a program of its own, passes signals on to it, and ends as it ends. */
export async function runDemo(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  // The channel tells the demo when this program is gone, however it went.
  const child = spawn(process.execPath, [program, ...args], { env, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
  const forward = (signal: NodeJS.Signals) => void child.kill(signal)
  for (const signal of signals) process.on(signal, forward)
  try {
    return await new Promise<number>((resolve, reject) => {
      child.once('error', reject)
      child.once('exit', code => resolve(code ?? 1))
    })
  } finally {
    for (const signal of signals) process.off(signal, forward)
  }
}
