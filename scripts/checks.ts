import { spawn } from 'node:child_process'
import { join, resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '..')
const bin = (...parts: string[]) => join(root, 'node_modules', ...parts)

export interface CheckResult {
  name: string
  ok: boolean
}

const checks: readonly { name: string; args: readonly string[] }[] = [
  { name: 'types', args: [bin('typescript', 'bin', 'tsc'), '-p', '.'] },
  { name: 'lint and format', args: [bin('@biomejs', 'biome', 'bin', 'biome'), 'ci', '--error-on-warnings', '--max-diagnostics=50', '.'] },
  { name: 'arrows between folders', args: ['scripts/arrows.ts'] },
  { name: 'lexicons and their types', args: ['scripts/lexicons.ts', '--check'] },
  { name: 'rules have tests', args: ['scripts/rules.ts'] },
]

function run(args: readonly string[]): Promise<{ code: number; output: string }> {
  return new Promise((done, failed) => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    child.stdout.on('data', chunk => (output += chunk))
    child.stderr.on('data', chunk => (output += chunk))
    child.on('error', failed)
    child.on('close', code => done({ code: code ?? 1, output }))
  })
}

/** Runs every check, prints one line for each and the output of those that fail. Gives their results, in order. */
export async function runChecks(): Promise<CheckResult[]> {
  const results: CheckResult[] = []
  for (const { name, args } of checks) {
    const started = performance.now()
    const { code, output } = await run(args)
    const ok = code === 0
    console.log(`${ok ? 'ok  ' : 'FAIL'} ${name} (${((performance.now() - started) / 1000).toFixed(1)} s)`)
    if (!ok) console.log(output.trimEnd())
    results.push({ name, ok })
  }
  return results
}
