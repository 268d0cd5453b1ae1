import { runServe } from '../server/main.ts'

/** `knotless serve`: it takes no flags, its configuration is in the environment. */
export async function serve(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const [first] = args
  if (first === '--help' || first === '-h') {
    console.log('Usage: knotless serve\n\nIt is configured by KNOTLESS_… variables; the README lists them.')
    return 0
  }
  if (first !== undefined) {
    console.error(`knotless serve takes no "${first.slice(0, 100)}": it is configured by KNOTLESS_… variables`)
    return 2
  }
  // Started by another program over a channel, it does not outlive that program.
  if (process.channel !== undefined) process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  return runServe(env)
}
