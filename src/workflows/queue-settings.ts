/** What `.knotless/queue.yml` asks of whoever lands a repository's queues (STW-8). */
import type { AskedSettings } from '../queue/facts.ts'
import { parseDuration } from './duration.ts'
import { readYaml } from './yaml-text.ts'

/** Its path in a commit. */
export const queueSettingsFile = '.knotless/queue.yml'

const bounds = { batch: [1, 50], depth: [1, 10], wait: [0, 86_400], timeout: [1, 864_000] } as const

/** Reads the file: whole numbers for `batch` and `depth`, durations such as `10m` or seconds for `wait` and `timeout`. Other keys are the steward's. */
export function readQueueSettings(bytes: Uint8Array): AskedSettings {
  const yaml = readYaml(bytes)
  if (!yaml.ok) return { ok: false, message: yaml.line === undefined ? yaml.message : `line ${yaml.line}: ${yaml.message}` }
  const { value } = yaml
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { ok: false, message: 'it is no list of settings' }
  const settings: Extract<AskedSettings, { ok: true }>['settings'] = {}
  for (const name of ['batch', 'depth', 'wait', 'timeout'] as const) {
    const given: unknown = Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined
    if (given === undefined) continue
    const number = name === 'wait' || name === 'timeout' ? seconds(given) : given
    const [least, most] = bounds[name]
    if (typeof number !== 'number' || !Number.isInteger(number) || number < least || number > most)
      return { ok: false, message: `${name} is not from ${least} to ${most}` }
    settings[name] = number
  }
  return { ok: true, settings }
}

function seconds(given: unknown): unknown {
  if (typeof given !== 'string') return given
  const ms = parseDuration(given)
  return ms === undefined ? undefined : ms / 1000
}
