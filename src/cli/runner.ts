import { runRunner } from '../runner/main.ts'

/** `knotless runner`: lands queues and runs workflows until it is told to stop. Exit codes: 0 stopped, 1 broke, 2 wrong usage. */
export async function runner(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  // Started by another program over a channel, it does not outlive that program.
  if (process.channel !== undefined) process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  return runRunner(args, env)
}
