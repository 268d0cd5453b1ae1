/**
 * Holds docs/rules.md against the tests. Exits 1, naming them, when a rule that is marked as kept (`0.1…`) is named by no test title, or when a
 * title names a rule that there is not; else lists the rules not kept yet. `--check` leaves the list out.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const RULE = /\b[A-Z]{3}-\d+\b/g

interface Rule {
  id: string
  since: string
}

/** The rows of the tables: an id first, since when it is kept last. */
function readRules(markdown: string): Rule[] {
  return [...markdown.matchAll(/^\| ([A-Z]{3}-\d+) \|.*\| ([^|]+) \|$/gm)].map(row => ({ id: row[1] ?? '', since: row[2] ?? '' }))
}

/** Ids in the titles of tests: the first string of each call of `test`, `it`, `describe` or a subtest. */
function readTitles(source: string): string[] {
  const titles = [...source.matchAll(/\b(?:test|it|describe)(?:\.\w+)?\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g)].map(title => title[2] ?? '')
  return titles.flatMap(title => title.match(RULE) ?? [])
}

function testFiles(): string[] {
  return ['test', 'e2e'].flatMap(dir =>
    readdirSync(join(root, dir), { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile() && /\.(test|e2e)\.ts$/.test(entry.name))
      .map(entry => join(entry.parentPath, entry.name)),
  )
}

const rules = readRules(readFileSync(join(root, 'docs/rules.md'), 'utf8'))
const named = new Set(testFiles().flatMap(path => readTitles(readFileSync(path, 'utf8'))))
const known = new Set(rules.map(rule => rule.id))
const groups = new Set(rules.map(rule => rule.id.slice(0, 3)))
const kept = rules.filter(rule => /^\d/.test(rule.since))
const waiting = rules.filter(rule => rule.since.startsWith('later: '))

const faults = [
  ...kept.filter(rule => !named.has(rule.id)).map(rule => `${rule.id}: marked as kept since ${rule.since}, named by no test`),
  ...[...named]
    .filter(id => groups.has(id.slice(0, 3)) && !known.has(id))
    .map(id => `${id}: named by a test, and no rule of docs/rules.md`),
  ...rules.filter(rule => !kept.includes(rule) && !waiting.includes(rule)).map(rule => `${rule.id}: neither a version nor "later: …"`),
  ...rules.filter((rule, n) => rules.findIndex(other => other.id === rule.id) !== n).map(rule => `${rule.id}: there twice`),
]

if (!process.argv.includes('--check')) {
  for (const reason of new Set(waiting.map(rule => rule.since))) {
    const ids = waiting.filter(rule => rule.since === reason).map(rule => rule.id)
    console.log(`not kept yet, ${reason}: ${ids.join(', ')}`)
  }
}
for (const fault of faults) console.error(fault)
console.log(`rules: ${kept.length} kept, ${waiting.length} not kept yet${faults.length === 0 ? '' : `, ${faults.length} wrong`}`)
process.exitCode = faults.length === 0 && rules.length > 0 ? 0 : 1
