/** What the programs of this folder have in common: they say what they do on a terminal and run until they are told to stop. */
/** A signal that comes this soon after the first is the same Ctrl-C, passed on by the program that started this one. */
const sameSignalMs = 1000

/**
 * Settles when this process is to stop: at a signal, when the program that started it is gone, or, with a line that begins with `broke`, when something
 * was thrown that nobody caught. A second signal ends it at once.
 */
function stopSignal(broke: string): Promise<string | undefined> {
  return new Promise(resolve => {
    let first: number | undefined
    function stop(): void {
      first ??= Date.now()
      if (Date.now() - first > sameSignalMs) process.exit(1)
      resolve(undefined)
    }
    process.on('uncaughtException', error => resolve(`${broke} ${error.message}`))
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop)
    if (process.channel !== undefined) process.once('disconnect', stop)
  })
}

/** What such a program needs of its surroundings. */
export interface Surroundings {
  say: (line: string) => void
  complain: (line: string) => void
  /** Settles when it is to stop; with a line when that is because something broke. */
  stopped: Promise<string | undefined>
}

/** A terminal, and signals to this process. `broke` begins the line about what was thrown and nobody caught. */
export function onTerminal(broke: string): Surroundings {
  return { say: line => console.log(line), complain: line => console.error(line), stopped: stopSignal(broke) }
}

/** Runs a program and ends this process with the code that it gives, or with 1 and what it threw; `broke` where that has no words. */
export function runProgram(main: () => Promise<number>, broke: string): void {
  main().then(
    code => process.exit(code),
    (error: unknown) => {
      console.error(error instanceof Error ? error.message : broke)
      process.exit(1)
    },
  )
}
