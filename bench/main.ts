/**
 * `npm run bench [-- NAME…] [--json]`: measures each figure beside its peer in one run. Names: build, gateway, idle, ingest, landing, latency, live, pages, runner, start, weight. `--json` prints one line
 * per figure; else a table, which also goes to bench/results.md with the command that made it. Exits 1 when a bound does not hold.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Figure, header, machine, row } from './figures.ts'

const benches: Readonly<Record<string, () => Promise<Figure[]>>> = {
  build: async () => (await import('./build.ts')).benchBuild(),
  gateway: async () => (await import('./gateway.ts')).benchGateway(),
  idle: async () => (await import('./idle.ts')).benchIdle(),
  ingest: async () => (await import('./ingest.ts')).benchIngest(),
  landing: async () => (await import('./landing.ts')).benchLanding(),
  latency: async () => (await import('./latency.ts')).benchLatency(),
  live: async () => (await import('./live.ts')).benchLive(),
  pages: async () => (await import('./pages.ts')).benchPages(),
  runner: async () => (await import('./runner.ts')).benchRunner(),
  start: async () => (await import('./start.ts')).benchStart(),
  weight: async () => (await import('./weight.ts')).benchWeight(),
}

const { values, positionals, usage } = asked()
if (usage !== undefined) {
  console.error(usage)
  process.exit(2)
}
const names = positionals.length > 0 ? positionals : Object.keys(benches)
const figures: Figure[] = []
for (const name of names) {
  const made = (await benches[name]?.()) ?? []
  for (const one of made) console.log(values.json ? JSON.stringify(one) : row(one))
  figures.push(...made)
}
if (!values.json) keep(names, figures)
process.exitCode = figures.every(one => one.ok) ? 0 : 1

/** What is asked for; `usage` instead where that is nothing that there is. */
function asked() {
  const all = `npm run bench [-- NAME…] [--json]; names: ${Object.keys(benches).join(', ')}`
  try {
    const { values, positionals } = parseArgs({ options: { json: { type: 'boolean', default: false } }, allowPositionals: true })
    const unknown = positionals.filter(name => !Object.hasOwn(benches, name))
    return { values, positionals, usage: unknown.length === 0 ? undefined : `There is no benchmark ${unknown.join(', ')}. ${all}` }
  } catch {
    return { values: { json: false }, positionals: [], usage: all }
  }
}

/** Puts what this run measured into the results, in place of what an earlier run of the same command measured. */
function keep(ran: readonly string[], measured: readonly Figure[]): void {
  const path = join(import.meta.dirname, 'results.md')
  const command = `npm run bench -- ${ran.join(' ')}`
  const section = `## ${command}\n\n${new Date().toISOString().slice(0, 10)}, ${machine()}\n\n${header}\n${measured.map(row).join('\n')}\n`
  const before = read(path)
  const kept = before.split(/^(?=## )/m).filter(part => part.startsWith('## ') && !part.startsWith(`## ${command}\n`))
  writeFileSync(
    path,
    `# Results\n\nEach figure and its peer come from one run on one machine.\n\n${[...kept.map(part => part.trimEnd()), section.trimEnd()].join('\n\n')}\n`,
  )
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
