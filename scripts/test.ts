/**
 * `npm test`: the checks, then every test of test/ and e2e/ in processes of their own, three at a time. Arguments are parts of file names to run
 * only those (`npm test -- queue/`). Ends with the files that took longest and one line, `N passed, N failed`, and exits 1 when anything failed.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { pathToFileURL } from 'node:url'
import { findBrowser } from './browser.ts'
import { root, runChecks } from './checks.ts'
import { findTestEngine, shareTestEngine } from './engine.ts'

const wanted = process.argv.slice(2)
if (wanted.some(word => word.startsWith('-'))) {
  console.error('npm test takes parts of file names, to run only those, and no flags: npm test -- queue/')
  process.exit(2)
}

function files(dir: string, ending: string): string[] {
  return readdirSync(join(root, dir), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.endsWith(ending))
    .map(entry => join(entry.parentPath, entry.name))
    .filter(path => wanted.length === 0 || wanted.some(word => relative(root, path).includes(word)))
    .sort()
}

/** The longest that all tests may take, in milliseconds: a file of them that does not end is a failure, and no run without end. */
const LONGEST_MS = 40 * 60_000

/** One more than two cores: the files wait for half of their time, and none of them minds waiting longer. */
const AT_A_TIME = 3

const counts = { passed: 0, failed: 0, skipped: 0 }
/** How long each file took, in milliseconds. */
const took = new Map<string, number>()

async function runTests(paths: string[], concurrency: number): Promise<void> {
  if (paths.length === 0) return
  const stream = run({
    files: paths,
    concurrency,
    isolation: 'process',
    cwd: root,
    execArgv: ['--import', pathToFileURL(join(root, 'test/support/starts.ts')).href],
    signal: AbortSignal.timeout(LONGEST_MS),
  })
  stream.on('test:pass', event => {
    if (event.details.type === 'suite') return
    if (event.skip !== undefined) counts.skipped++
    else counts.passed++
  })
  stream.on('test:fail', event => {
    if (event.details.type !== 'suite') counts.failed++
  })
  stream.on('test:summary', ({ file, duration_ms: ms }) => {
    if (file !== undefined) took.set(relative(root, file), ms)
  })
  await new Promise<void>((done, failed) => {
    stream.on('error', failed)
    const report = stream.compose(spec)
    report.on('end', done)
    report.on('error', failed)
    report.pipe(process.stdout, { end: false })
  })
}

/**
 * Browser tests one by one between the others: a browser keeps a whole core busy, while the others often wait. None is among the last, so that no
 * core has nothing to do at the end.
 */
function between(browserTests: string[], tests: string[]): string[] {
  const gap = Math.floor(tests.length / (browserTests.length + 1))
  return [
    ...browserTests.flatMap((path, at) => [path, ...tests.slice(at * gap, (at + 1) * gap)]),
    ...tests.slice(browserTests.length * gap),
  ]
}

if (wanted.length === 0) {
  for (const { ok } of await runChecks()) counts[ok ? 'passed' : 'failed']++
}
const tests = files('test', '.test.ts')
const browserTests = files('e2e', '.e2e.ts')
// One engine for all who ask for one. What a signal breaks off cleans up as well.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
const asked = [...tests, ...browserTests].some(path => readFileSync(path, 'utf8').includes('support/engine.ts'))
const engine = asked ? await findTestEngine() : undefined
if (asked) shareTestEngine(engine)
const browser = browserTests.length > 0 ? findBrowser() : undefined
if (browser === undefined) counts.skipped += browserTests.length
else process.env.KNOTLESS_CHROMIUM = browser
// Every file is a process that loads much the same sources: what the first compiled, the others read.
const compiled = mkdtempSync(join(tmpdir(), 'knotless-compiled-'))
process.env.NODE_COMPILE_CACHE = compiled
process.once('exit', () => rmSync(compiled, { recursive: true, force: true, maxRetries: 3 }))
try {
  await runTests(browser === undefined ? tests : between(browserTests, tests), Math.min(AT_A_TIME, availableParallelism() + 1))
} finally {
  await engine?.close()
}
for (const [file, ms] of [...took].sort(([, a], [, b]) => b - a).slice(0, 10))
  console.log(`${(ms / 1000).toFixed(1).padStart(6)} s ${file}`)
if (counts.skipped > 0) console.log(`${counts.skipped} skipped`)
console.log(`${counts.passed} passed, ${counts.failed} failed`)
process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1
