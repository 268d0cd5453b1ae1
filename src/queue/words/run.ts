import { count, span } from './phrase.ts'

/**
 * What a run's summary and log say about how it went. Plain text: summaries are kept in records, and lines are a part of the log. Times in
 * milliseconds, sizes in bytes.
 */
export interface StepParts {
  /** From 1. */
  step: number
  of: number
  /** As the workflow has it; its first line is said. */
  command: string
}

/** The first line of a command on one line of at most 200 characters, controls as spaces. */
export function commandWords(command: string): string {
  const lines = command
    .split('\n')
    .map(line => line.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ').trim())
    .filter(line => line !== '')
  const first = lines[0] ?? ''
  const cut = [...first].length > 200 ? `${[...first].slice(0, 200).join('')}…` : first
  return lines.length > 1 && !cut.endsWith('…') ? `${cut} …` : cut
}

/** "4 GB", "512 MB", "1.5 GB". */
export function sizeWords(bytes: number): string {
  const units = [bytes === 1 ? 'byte' : 'bytes', 'KB', 'MB', 'GB', 'TB']
  let value = bytes
  let unit = 0
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024
    unit++
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : Number(value.toFixed(1))} ${units[unit]}`
}

const where = ({ step, of }: StepParts) => (of === 1 ? '' : ` in step ${step} of ${of}`)
const quoted = ({ command }: StepParts) => `: ${commandWords(command)}`
const inStep = (parts: StepParts | undefined) => (parts === undefined ? '' : `${where(parts)}${quoted(parts)}`)

/** One line of a name that somebody else wrote. */
function plainName(text: string): string {
  const clean = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, ' ')
  return clean.length > 300 ? `${clean.slice(0, 300)}…` : clean
}

/** Summaries of runs, as their checks say them. */
export const runSummaries = {
  passed(ms: number, retried: readonly StepParts[]): string {
    if (retried.length === 0) return `Passed in ${span(ms)}.`
    const names = retried.slice(0, 8).map(({ command }) => commandWords(command))
    const more = retried.length > names.length ? [`${retried.length - names.length} more`] : []
    return `Passed in ${span(ms)}, ${count(retried.length, 'step')} on a retry: ${[...names, ...more].join('; ')}`
  },
  failed(ms: number, parts: StepParts, code: number): string {
    return `Failed after ${span(ms)}${where(parts)}, with exit code ${code}${quoted(parts)}`
  },
  /** The steps' own shell was ended. */
  broken(ms: number, parts: StepParts | undefined): string {
    return `Failed after ${span(ms)}${parts === undefined ? '' : where(parts)}: what runs the steps was ended${parts === undefined ? '' : `, at ${commandWords(parts.command)}`}`
  },
  outOfMemory(ms: number, parts: StepParts | undefined, bytes: number): string {
    return `Ran out of memory after ${span(ms)} (a run here has ${sizeWords(bytes)})${inStep(parts)}`
  },
  tooManyProcesses(ms: number, parts: StepParts | undefined, most: number): string {
    return `Failed after ${span(ms)}, having reached its limit of ${most} processes${inStep(parts)}`
  },
  tooMuchOutput(most: number, parts: StepParts | undefined): string {
    return `Ended since it printed more than ${sizeWords(most)}${inStep(parts)}`
  },
  tooManyFiles(most: number, parts: StepParts | undefined): string {
    return `Ended since its files took more than ${sizeWords(most)}${inStep(parts)}`
  },
  timedOut(ms: number, parts: StepParts | undefined): string {
    return `Timed out after ${span(ms)}${inStep(parts)}`
  },
  diskFull(): string {
    return 'Ended since the disk of the runner was nearly full.'
  },
  engineLost(): string {
    return 'The container engine stopped answering while it ran.'
  },
  noEngine(): string {
    return 'The container engine does not answer.'
  },
  noImage(image: string): string {
    return `The image ${plainName(image)} was not found. It is named by "image" in the workflow.`
  },
  noDefaultImage(): string {
    return 'The workflow names no image, and this runner has none for such workflows.'
  },
  imageNotFetched(image: string): string {
    return `The image ${plainName(image)} could not be fetched: its registry does not answer as it should.`
  },
  unfitImage(image: string): string {
    return `The image ${plainName(image)} cannot run a workflow: it needs sh and tar.`
  },
  needsNetwork(): string {
    return 'The workflow asks for the network, and this runner gives runs none (--allow-network).'
  },
  noTree(): string {
    return 'The files to check could not be put in place.'
  },
  other(): string {
    return 'The runner could not make this run.'
  },
}

/** Lines that the runner itself puts into the log of a run. */
export const runLines = {
  container(image: string, memory: number, network: boolean): string {
    return `Image ${plainName(image)}, ${sizeWords(memory)} of memory, ${network ? 'with the network' : 'no network'}`
  },
  host(): string {
    return 'Not isolated: it runs straight on the machine of the runner'
  },
  step(command: string): string {
    return `$ ${commandWords(command)}`
  },
  retry(code: number, retry: number, of: number): string {
    return `Exit code ${code}. Retry ${retry} of ${of}:`
  },
  cut(bytes: number): string {
    return `… ${sizeWords(bytes)} of output are left out here …`
  },
  noReport(pattern: string): string {
    return `No file with a report matches ${plainName(pattern)}`
  },
  cancelled(): string {
    return 'Cancelled'
  },
}
