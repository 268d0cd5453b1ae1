import { randomBytes } from 'node:crypto'
import { runLines, type StepParts } from '../../queue/words/run.ts'
import type { Job } from '../types.ts'
import { createBound, type OutputLimits } from './bound.ts'
import { createMask } from './mask.ts'
import { createMarks, type StepSaid } from './steps.ts'

/** How far the steps of a run came. */
export interface Progress {
  /** The step that began last. */
  step?: StepParts | undefined
  /** The end of a step that was said last; what it counts is of that step alone. */
  ended?: (StepSaid & { at: 'end' }) | undefined
  /** The exit code of what put the files in place, where the script does. */
  tree?: number | undefined
  /** Steps that passed on a retry (REA-3). */
  retried: StepParts[]
}

export interface Transcript {
  /** What the script is given, to tell its own lines from the output. */
  readonly mark: string
  readonly progress: Progress
  /** Output of the script. */
  write(bytes: Buffer): void
  /** A line of the runner's own. */
  say(line: string): void
  /** Lets out what is held back, the tail of a long output included. Nothing is taken afterwards. */
  end(lines: readonly string[]): void
}

/** Makes the log of a run out of what its script prints: steps announced, secrets masked, its length bounded. `tooMuch` when it is past its end. */
export function createTranscript(job: Job, limits: OutputLimits, tooMuch: () => void): Transcript {
  const { steps, retries } = job.workflow
  const mark = randomBytes(12).toString('hex')
  const progress: Progress = { retried: [] }
  const bound = createBound(limits, job.onOutput, tooMuch)
  let last = 0x0a
  const mask = createMask(Object.values(job.secrets), bytes => bound.write(bytes))
  const marks = createMarks(mark, take, print)
  let hits = { memory: 0, processes: 0 }
  let over = false

  function print(bytes: Buffer): void {
    last = bytes.at(-1) ?? last
    mask.write(bytes)
  }

  function say(line: string): void {
    print(Buffer.from(`${last === 0x0a ? '' : '\n'}${line}\n`))
  }

  function take(said: StepSaid): void {
    if (said.at === 'tree') {
      progress.tree = said.code
      return
    }
    const { run: command = '' } = steps[said.step - 1] ?? {}
    const parts: StepParts = { step: said.step, of: steps.length, command }
    if (said.at === 'start') {
      progress.step = parts
      if (said.retry === 0) say(runLines.step(command))
      else say(runLines.retry(progress.ended?.code ?? 1, said.retry, retries))
    } else {
      progress.ended = {
        ...said,
        memory: said.memory === undefined ? undefined : said.memory - hits.memory,
        processes: said.processes - hits.processes,
      }
      hits = { memory: said.memory ?? 0, processes: said.processes }
      if (said.code === 0 && said.retry > 0) progress.retried.push(parts)
    }
  }

  return {
    mark,
    progress,
    write(bytes) {
      if (!over) marks.write(bytes)
    },
    say,
    end(lines) {
      if (over) return
      marks.end()
      over = true
      mask.end()
      bound.end()
      for (const line of lines) {
        // After the tail, so that how it ended is always there.
        job.onOutput(Buffer.from(`${last === 0x0a ? '' : '\n'}${line}\n`))
        last = 0x0a
      }
    },
  }
}
