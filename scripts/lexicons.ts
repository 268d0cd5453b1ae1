/**
 * Generates src/lexicons from lexicons/. With --check it generates into a temporary folder and exits 1 when what is committed differs, so
 * that types and contract cannot part.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const target = join(root, 'src/lexicons')

function generate(out: string): void {
  const bin = join(root, 'node_modules/@atproto/lex/bin/lex')
  const args = [
    'build',
    '--lexicons',
    join(root, 'lexicons'),
    '--out',
    out,
    '--clear',
    '--index-file',
    '--import-ext',
    '.ts',
    '--no-pretty',
  ]
  execFileSync(process.execPath, [bin, ...args], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
  for (const name of readdirSync(out, { recursive: true, encoding: 'utf8' })) {
    if (name.endsWith('.defs.ts')) admitUndefined(join(out, name))
  }
}

/** The generator's validators give optional properties as `T | undefined`, its types as `T`: under exactOptionalPropertyTypes the two must agree. */
function admitUndefined(file: string): void {
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replaceAll(/^(\s*"\w+"\?:)(.*?)( \};|;| \})$/gm, '$1$2 | undefined$3'))
}

function contents(dir: string): Map<string, string> {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  return new Map(
    files.map(entry => {
      const path = join(entry.parentPath, entry.name)
      return [relative(dir, path), readFileSync(path, 'utf8')]
    }),
  )
}

if (process.argv.includes('--check')) {
  const out = mkdtempSync(join(tmpdir(), 'knotless-lexicons-'))
  try {
    generate(out)
    const [made, kept] = [contents(out), contents(target)]
    const differing = [...new Set([...made.keys(), ...kept.keys()])].filter(name => made.get(name) !== kept.get(name))
    console.log(differing.length === 0 ? 'lexicons: types are up to date' : `lexicons: run "npm run lexicons" (${differing.join(', ')})`)
    process.exitCode = differing.length === 0 ? 0 : 1
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
} else {
  generate(target)
}
