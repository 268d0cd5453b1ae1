#!/usr/bin/env node
import { readVersion } from '../config/version.ts'
import { commands, helpText, pickCommand } from './commands.ts'

/** Runs what the arguments ask for and gives the exit code. */
async function run(args: readonly string[]): Promise<number> {
  const asked = pickCommand(args)
  if ('help' in asked) {
    console.log(helpText())
    return 0
  }
  if ('version' in asked) {
    console.log(readVersion())
    return 0
  }
  if ('fault' in asked) {
    console.error(asked.fault)
    return 2
  }
  const command = await commands[asked.command].load()
  return command(asked.args, process.env)
}

// What a command waits for may hang on timers that keep no program alive: without this one it would end in the middle, as if all were well.
setInterval(() => undefined, 2 ** 30)

run(process.argv.slice(2)).then(
  code => process.exit(code),
  (error: unknown) => {
    console.error(`knotless: ${error instanceof Error ? error.message : 'something went wrong'}`)
    process.exit(1)
  },
)
