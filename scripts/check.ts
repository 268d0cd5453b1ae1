/** The checks that run nothing of the product: types, lint and format, arrows, lexicons, htmx habits, rule coverage. Exits 1 when one fails. */
import { runChecks } from './checks.ts'

const results = await runChecks()
process.exitCode = results.every(result => result.ok) ? 0 : 1
