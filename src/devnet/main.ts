import { parseFlags, usage } from './demo/flags.ts'
import { words } from './demo/words.ts'
import { onTerminal, runProgram } from './program.ts'

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
  const around = onTerminal(words.broke)
  // What the network is made of takes a second to load, and wrong flags need none of it.
  const { runDemo } = await import('./demo/run.ts')
  return runDemo(flags, around)
}

runProgram(main, words.broke)
