/** Runs test files in this one process, which is faster than one for each: for mutation tests, which run them a thousand times (stryker.config.mjs). */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

for (const file of process.argv.slice(2)) await import(pathToFileURL(resolve(file)).href)
