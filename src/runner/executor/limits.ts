import type { OutputLimits } from './bound.ts'

const MB = 2 ** 20

/** What a run may take. Sizes in bytes. */
export interface RunLimits {
  /** False where memory, processes and open files are not limited: runs straight on the machine. */
  enforced: boolean
  memoryBytes: number
  /** Processes and threads at once. */
  processes: number
  /** Open files of one process. */
  openFiles: number
  /** `/tmp`, which is kept in memory. */
  tmpBytes: number
  /** All files of its work tree and home. */
  diskBytes: number
  /** Runs end without a verdict before less than this is free on the disk (CHK-7). */
  freeBytes: number
  output: OutputLimits
  /** Files of reports together. */
  reportBytes: number
}

export const defaultLimits: RunLimits = {
  enforced: true,
  memoryBytes: 4096 * MB,
  processes: 2048,
  openFiles: 4096,
  tmpBytes: 512 * MB,
  diskBytes: 20 * 1024 * MB,
  freeBytes: 512 * MB,
  output: { head: 8 * MB, tail: MB, most: 256 * MB },
  reportBytes: 5 * MB,
}

/** The defaults with what is given over them. */
export function limitsOf(given: Partial<RunLimits> | undefined): RunLimits {
  return { ...defaultLimits, ...given }
}
