import { parseArgs } from 'node:util'
import { onTerminal, runProgram } from '../program.ts'
import { words } from './words.ts'

/** The gallery as a program: it runs until a signal, or until the program that started it is gone. */
async function main(): Promise<number> {
  let values: { port: string; help: boolean }
  try {
    const options = { port: { type: 'string', default: '2600' }, help: { type: 'boolean', short: 'h', default: false } } as const
    values = parseArgs({ options, strict: true, allowPositionals: false }).values
  } catch (error) {
    console.error(error instanceof Error ? error.message.split('\n')[0] : words.broke)
    return 2
  }
  if (values.help) {
    console.log(words.usage)
    return 0
  }
  const port = /^\d{1,5}$/.test(values.port) ? Number(values.port) : Number.NaN
  if (!(port <= 65_534)) {
    console.error(words.wrongPort(values.port))
    return 2
  }
  const around = onTerminal(words.broke)
  // What the network is made of takes a second to load, and wrong flags need none of it.
  const { runGallery } = await import('./run.ts')
  return runGallery(port, around)
}

runProgram(main, words.broke)
