/** `npm run kills [-- --landings N --seed N]`: runner and server killed at random moments over so many landings (200). */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from './checks.ts'

const number = /^[1-9]\d{0,8}$/
const { landings, seed } = asked()
if (landings === undefined) {
  console.error('npm run kills takes --landings N (200) and --seed N')
  process.exit(2)
}
const env = { ...process.env, KNOTLESS_LANDINGS: landings, ...(seed === undefined ? {} : { KNOTLESS_SEED: seed }) }
const run = spawnSync(process.execPath, ['--test', join(root, 'test/runner/kills.test.ts')], { env, stdio: 'inherit' })
process.exitCode = run.status ?? 1

function asked(): { landings?: string; seed?: string } {
  try {
    const { landings = '200', seed } = parseArgs({ options: { landings: { type: 'string' }, seed: { type: 'string' } } }).values
    if (!number.test(landings) || (seed !== undefined && !number.test(seed))) return {}
    return seed === undefined ? { landings } : { landings, seed }
  } catch {
    return {}
  }
}
