import { readFileSync } from 'node:fs'
import { z } from 'zod'

/** The version of the package, as its manifest says. */
export function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return z.object({ version: z.string() }).parse(manifest).version
}
