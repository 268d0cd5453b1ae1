/**
 * `npm run simulate`: random histories of a repository with the planner in it, and six properties that must hold in each (test/runner/simulator/README.md). Flags:
 * `--histories N` (10,000), `--events N` (200 each), `--from N` (the first seed, 1), `--seed N` (that one alone, with its trace). Exits 1 when a
 * property does not hold, after saying the shortest history that was found.
 */
import { parseArgs } from 'node:util'
import { plan } from '../src/runner/planner/plan.ts'
import { report, simulate } from '../test/runner/simulator/simulate.ts'

const usage = 'npm run simulate -- [--histories N] [--events N] [--from N] [--seed N]'

function number(text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise
  const n = Number(text)
  if (!Number.isSafeInteger(n) || n < 1) throw new Error(`${text} is no number of 1 or more`)
  return n
}

function main(): number {
  let asked: { histories: number; events: number; from: number; seed: number | undefined }
  try {
    const option = { type: 'string' } as const
    const { values } = parseArgs({ options: { histories: option, events: option, from: option, seed: option } })
    asked = {
      histories: number(values.histories, 10_000),
      events: number(values.events, 200),
      from: number(values.from, 1),
      seed: values.seed === undefined ? undefined : number(values.seed, 1),
    }
  } catch (err) {
    console.error(`${err instanceof Error ? err.message : String(err)}\n${usage}`)
    return 2
  }
  const started = performance.now()
  const { seed, events } = asked
  const done = simulate(plan, seed === undefined ? asked : { from: seed, histories: 1, events }, seed !== undefined)
  for (const line of report(done, (performance.now() - started) / 1000)) console.log(line)
  return done.broken === undefined ? 0 : 1
}

process.exitCode = main()
