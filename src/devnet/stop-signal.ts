/** A signal that comes this soon after the first is the same Ctrl-C, passed on by the program that started this one. */
const sameSignalMs = 1000

/**
 * Settles when this process is to stop: at a signal, when the program that started it is gone, or, with a line that begins with `broke`, when something
 * was thrown that nobody caught. A second signal ends it at once.
 */
export function stopSignal(broke: string): Promise<string | undefined> {
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
