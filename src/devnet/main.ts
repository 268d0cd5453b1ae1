import { parseFlags, usage } from './demo/flags.ts'
import { words } from './demo/words.ts'

/** A signal that comes this soon after the first is the same Ctrl-C, passed on by the program that started this one. */
const sameSignalMs = 1000

/** The demo as a program: it runs until a signal, or until the program that started it is gone. A second signal ends it at once. */
async function main(): Promise<number> {
  const flags = parseFlags(process.argv.slice(2))
  if ('fault' in flags) {
    console.error(flags.fault)
    return 2
  }
  if (flags.help) {
    console.log(usage)
    return 0
  }
  const stopped = signalled()
  // What the network is made of takes a second to load, and wrong flags need none of it.
  const { runDemo } = await import('./demo/run.ts')
  return runDemo(flags, { say: line => console.log(line), complain: line => console.error(line), stopped })
}

function signalled(): Promise<string | undefined> {
  return new Promise(resolve => {
    let first: number | undefined
    function stop(): void {
      first ??= Date.now()
      if (Date.now() - first > sameSignalMs) process.exit(1)
      resolve(undefined)
    }
    process.on('uncaughtException', error => resolve(`${words.broke} ${error.message}`))
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
    if (process.channel !== undefined) process.once('disconnect', stop)
  })
}

main().then(
  code => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : words.broke)
    process.exit(1)
  },
)
