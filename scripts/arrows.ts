/**
 * The lint rule that holds the arrows between the folders of src: a folder may import from folders below it and from itself, never sideways
 * or up. `queue` takes types only from `lexicons`. Prints each import that breaks it and exits 1.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const levels = [
  ['devnet'],
  ['cli', 'server', 'runner'],
  ['views', 'indexer', 'steward'],
  ['git', 'atproto', 'workflows', 'config'],
  ['queue'],
  ['lexicons'],
]
const levelOf = new Map(levels.flatMap((names, level) => names.map(name => [name, level] as const)))
/** `knotless serve` and  are commands of the one binary, so the command line may start them. */
const allowed = new Set(['cli -> server', 'cli -> runner'])

function sources(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true, recursive: true })
    .filter(entry => entry.isFile() && entry.name.endsWith('.ts'))
    .map(entry => join(entry.parentPath, entry.name))
}

const faults: string[] = []
for (const file of sources(join(root, 'src'))) {
  const place = relative(join(root, 'src'), file)
  const from = place.split('/')[0] ?? ''
  if (from === 'lexicons') continue
  const fromLevel = levelOf.get(from)
  if (fromLevel === undefined) {
    faults.push(`src/${place}: no folder of the architecture`)
    continue
  }
  const text = readFileSync(file, 'utf8')
  for (const match of text.matchAll(/^(import|export)\s+(type\s)?[^'"]*?from\s+['"]([^'"]+)['"]|import\(['"]([^'"]+)['"]\)/gm)) {
    const target = match[3] ?? match[4] ?? ''
    if (!target.startsWith('.')) {
      if (from === 'queue') faults.push(`src/${place}: queue imports ${target}, and may import nothing but the generated types`)
      continue
    }
    const to = relative(join(root, 'src'), resolve(dirname(file), target)).split('/')[0] ?? ''
    if (to === from) continue
    const toLevel = levelOf.get(to)
    if (toLevel === undefined || (toLevel <= fromLevel && !allowed.has(`${from} -> ${to}`))) {
      faults.push(`src/${place}: ${from} may not import ${to}`)
    }
    if (from === 'queue' && to === 'lexicons' && match[2] === undefined) {
      faults.push(`src/${place}: queue takes types only from lexicons ("import type")`)
    }
  }
}

for (const fault of faults) console.error(fault)
console.log(faults.length === 0 ? 'arrows: all point down' : `arrows: ${faults.length} broken`)
process.exit(faults.length === 0 ? 0 : 1)
