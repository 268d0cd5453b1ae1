/** A command: takes its arguments and the environment, gives the exit code. */
export type Command = (args: readonly string[], env: NodeJS.ProcessEnv) => Promise<number>

interface Entry {
  summary: string
  /** Loads the command's own modules; the others' are never read. */
  load: () => Promise<Command>
}

/** Every command of the program. */
export const commands = {
  demo: {
    summary: 'everything at once on a local atproto network, with a sample repository',
    load: async () => (await import('./demo.ts')).runDemo,
  },
  serve: {
    summary: 'the server: pages, queries and index (configured by KNOTLESS_… variables)',
    load: async () => (await import('./serve.ts')).serve,
  },
  runner: {
    summary: 'the runner: takes queued pulls in batches, checks them and lands what passed',
    load: async () => (await import('./runner.ts')).runner,
  },
  'git-credential': {
    summary: 'gives git the password that it pushes with: a token of the account’s own server',
    load: async () => (await import('./git-credential.ts')).gitCredential,
  },
  index: {
    summary: 'index compare: holds the server’s index against one built from what people’s servers hold',
    load: async () => (await import('./index-compare.ts')).compareIndex,
  },
} satisfies Record<string, Entry>

type Name = keyof typeof commands

/** What the arguments of the program ask for. `fault` is the one line for a person who asked for something that is not there. */
export function pickCommand(
  args: readonly string[],
): { command: Name; args: readonly string[] } | { help: true } | { version: true } | { fault: string } {
  const [first, ...rest] = args
  if (first === '--help' || first === '-h' || first === 'help') return { help: true }
  if (first === '--version' || first === '-V') return { version: true }
  const known = Object.keys(commands).join(', ')
  if (first === undefined) return { fault: `knotless wants a command: ${known} (knotless --help says more)` }
  if (!isName(first)) return { fault: `knotless has no command "${first.slice(0, 100)}": ${known} (knotless --help says more)` }
  return { command: first, args: rest }
}

/** What `knotless --help` prints. */
export function helpText(): string {
  const names = Object.keys(commands)
  const width = Math.max(...names.map(name => name.length))
  const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`)
  return `knotless: the merge queue of a git forge that lives on atproto\n\nUsage: knotless COMMAND [FLAGS]\n\n${lines.join('\n')}\n\n  knotless COMMAND --help says more of a command; knotless --version says which version this is.`
}

function isName(word: string): word is Name {
  return Object.hasOwn(commands, word)
}
