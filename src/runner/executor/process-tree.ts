import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'

/** The variable by which the processes of a run are known, wherever they went. */
export const runVariable = 'KNOTLESS_RUN'

interface Process {
  pid: number
  parent: number
  group: number
}

const mostRounds = 100

/**
 * Ends the process group `group` at once, and where the system tells (Linux) everything that is descended from it or carries the run's variable
 * with `mark`, such as what began a session of its own. A process that has cleared its environment and outlived its parent in a session of its
 * own is not found: nothing that an unprivileged program may ask tells whose it was. Settles when none is left, or after a bounded number of rounds.
 */
export async function endTree(mark: string, group?: number): Promise<void> {
  for (let round = 0; round < mostRounds; round++) {
    if (group !== undefined) kill(-group)
    const found = await processesOf(mark, group)
    if (found.length === 0) return
    for (const pid of found) kill(pid)
    // What was forked meanwhile is found in the next round; what is ended takes a moment to go.
    await wait(Math.min(50, 2 + round))
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

async function processesOf(mark: string, group: number | undefined): Promise<number[]> {
  const pids = (await readdir('/proc').catch(() => [])).map(Number).filter(pid => pid > 1 && pid !== process.pid)
  const all = (await Promise.all(pids.map(readProcess))).filter(one => one !== undefined)
  const wanted = Buffer.from(`${runVariable}=${mark}\0`)
  const own = new Set<number>()
  await Promise.all(
    all.map(async ({ pid, group: of }) => {
      if (of === group || (await environOf(pid)).includes(wanted)) own.add(pid)
    }),
  )
  for (let more = true; more; ) {
    more = false
    for (const { pid, parent } of all) {
      if (own.has(pid) || !own.has(parent)) continue
      own.add(pid)
      more = true
    }
  }
  return [...own]
}

/** Of a process that runs; undefined for one that has ended and is only not yet waited for. */
async function readProcess(pid: number): Promise<Process | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '')
  // The name stands in parentheses and may hold anything.
  const [state, parent, group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (state === undefined || state === '' || 'ZX'.includes(state)) return undefined
  return { pid, parent: Number(parent), group: Number(group) }
}

function environOf(pid: number): Promise<Buffer> {
  return readFile(`/proc/${pid}/environ`).catch(() => Buffer.alloc(0))
}
