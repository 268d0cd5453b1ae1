import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createHostExecutor } from '../../../src/runner/executor/host.ts'
import type { Executor, Job } from '../../../src/runner/types.ts'
import { until } from '../../support/until.ts'
import { createTrees, jobOf, make, quietLog, untimed } from './jobs.ts'

let trees: Awaited<ReturnType<typeof createTrees>>
let source: Job['source']
let runs: string
let executor: Executor
const small = { output: { head: 2000, tail: 1000, most: 2 ** 20 }, reportBytes: 10_000 }

before(async () => {
  trees = await createTrees()
  runs = join(trees.dir, 'runs')
  executor = createHostExecutor({ dir: runs, log: quietLog, limits: small })
  source = await trees.plant([
    { name: 'hello.txt', content: 'hello\n' },
    { name: 'run.sh', content: 'echo "$0 runs"\n', mode: '100755' },
  ])
})
after(async () => {
  await executor.close()
  trees.close()
})

const alive = (pid: string) => existsSync(`/proc/${pid}`) && !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))

test('a run has the tree, says its steps and passes, and nothing of it stays', async () => {
  const { end, text } = await make(executor, { source, steps: ['cat hello.txt', './run.sh'] })
  assert.deepEqual(
    { ...end, summary: untimed('summary' in end ? end.summary : '') },
    { end: 'success', summary: 'Passed in N s.', report: undefined },
  )
  assert.equal(
    untimed(text),
    'Not isolated: it runs straight on the machine of the runner\n$ cat hello.txt\nhello\n$ ./run.sh\n./run.sh runs\nPassed in N s.\n',
  )
  assert.deepEqual(readdirSync(runs), [])
})

test('the first step that fails decides, at its first failing command', async () => {
  const { end, text } = await make(executor, { source, steps: ['printf no-newline', 'echo one >&2\n(exit 3)\necho two', 'echo three'] })
  assert.equal(end.end, 'failure')
  assert.match('summary' in end ? end.summary : '', /^Failed after \d+ s in step 2 of 3, with exit code 3: echo one >&2 …$/)
  assert.match(text, /\$ printf no-newline\nno-newline\n\$ echo one >&2 …\none\nFailed after/)
  assert.doesNotMatch(text, /two|three|start 1 0/)
})

test('REA-3 a declared retry is said, counted and named', async () => {
  const flaky = 'echo try; [ -e seen ] || { touch seen; exit 9; }'
  const { end, text } = await make(executor, { source, steps: [flaky], workflow: { retries: 2 } })
  assert.equal(end.end, 'success')
  assert.deepEqual(end.end === 'success' && end.retried, [flaky])
  assert.match(text, /try\nExit code 9. Retry 1 of 2:\ntry\nPassed in \d+ s, 1 step on a retry: echo try/)
  const never = await make(executor, { source, steps: ['exit 4'], workflow: { retries: 2 } })
  assert.match(never.text, /Retry 1 of 2:\nExit code 4. Retry 2 of 2:\nFailed after \d+ s, with exit code 4: exit 4\n$/)
})

test('WHO-5 a run gets nothing of the runner’s environment but PATH', async () => {
  process.env.KNOTLESS_TEST_LEAK = 'leaked'
  const { text } = await make(executor, { source, steps: ['env'], env: { KNOTLESS_BRANCH: 'main' } })
  delete process.env.KNOTLESS_TEST_LEAK
  const names = text.split('\n').flatMap(line => /^([A-Z_]+)=/.exec(line)?.[1] ?? [])
  assert.deepEqual(names.filter(name => !['PWD', 'OLDPWD', '_', 'SHLVL'].includes(name)).sort(), [
    'CI',
    'HOME',
    'KNOTLESS_BRANCH',
    'KNOTLESS_RUN',
    'LANG',
    'PATH',
    'TMPDIR',
  ])
  assert.match(text, /HOME=.*runs\/run-/)
})

test('AHD-5 a run that may be thrown away gives way to others', async () => {
  const { text } = await make(executor, { source, steps: ['nice'], weight: 'low' })
  assert.match(text, /\$ nice\n10\n/)
})

test('secrets are in the environment and masked in the log', async () => {
  const { text } = await make(executor, {
    source,
    steps: ['printf "%s" "$TOKEN" | wc -c; echo "is $TOKEN."'],
    secrets: { TOKEN: 'hunter-22' },
  })
  assert.match(text, /\n9\nis \*\*\*\.\n/)
  assert.doesNotMatch(text, /hunter/)
})

test('CHK-7 past its time a run is ended with all that ignores it, and that is no verdict', async () => {
  const hang = 'trap "" TERM INT HUP; echo shell $$; setsid sh -c \'trap "" TERM; echo far $$; sleep 300\' & sleep 300'
  const { end, text } = await make(executor, { source, steps: [hang], timeoutMs: 1500 })
  assert.equal(end.end, 'error')
  assert.equal(end.end === 'error' && end.verdict, 'timeout')
  assert.match(end.end === 'error' ? end.summary : '', /^Timed out after 2 s: trap/)
  const pids = [...text.matchAll(/^(?:shell|far) (\d+)$/gm)].map(match => match[1] ?? '')
  assert.equal(pids.length, 2)
  assert.deepEqual(pids.filter(alive), [])
  assert.deepEqual(readdirSync(runs), [])
})

test('a cancelled run is ended at once, and one cancelled before it began never begins', async () => {
  const { job, output, cancel } = jobOf({ source, steps: ['trap "" TERM; echo pid $$; sleep 300'] })
  const ending = executor.run(job)
  const pid = await until(() => /pid (\d+)\n/.exec(output().toString())?.[1])
  cancel()
  assert.deepEqual(await ending, { end: 'cancelled' })
  assert.equal(alive(pid), false)
  assert.match(output().toString(), /Cancelled\n$/)
  assert.deepEqual(await executor.run({ ...jobOf({ source, steps: ['true'] }).job, signal: AbortSignal.abort() }), { end: 'cancelled' })
})

test('what a step leaves running is ended with the run, and holds it up no longer', async () => {
  const began = performance.now()
  const { end, text } = await make(executor, { source, steps: ['setsid sh -c "echo bg \\$\\$; exec sleep 300" & sleep 0.2'] })
  assert.equal(end.end, 'success')
  assert.ok(performance.now() - began < 8_000)
  const pid = /bg (\d+)/.exec(text)?.[1] ?? ''
  assert.notEqual(pid, '')
  assert.equal(alive(pid), false)
})

test('CHK-13 a long output keeps head and tail, and past its bound the run is ended', async () => {
  const long = await make(executor, { source, steps: ['seq 1 2000; echo the end'] })
  assert.equal(long.end.end, 'success')
  assert.match(long.text, /\n1\n2\n3\n/)
  assert.match(long.text, /… [\d.]+ KB of output are left out here …\n\d+\n/)
  assert.match(long.text, /\n2000\nthe end\nPassed in \d+ s.\n$/)
  assert.ok(long.text.length < 3300, `${long.text.length}`)
  const endless = await make(executor, { source, steps: ['yes'] })
  assert.deepEqual(endless.end, { end: 'failure', summary: 'Ended since it printed more than 1 MB: yes', report: undefined })
})

test('the report is what matches in the tree, bounded, and no symlink is followed', async () => {
  const suite = (name: string) => `<?xml version="1.0"?>\n<testsuite name="${name}"></testsuite>\n`
  const steps = [
    `mkdir -p reports/deep out; echo '${suite('a')}' > reports/a.xml; echo '${suite('b')}' > reports/b.xml; echo no > reports/c.xml`,
    'ln -s /etc/passwd reports/d.xml; mkfifo reports/e.xml; head -c 20000 /dev/zero > reports/f.xml; ln -s reports linked; echo hi > reports/deep/g.xml',
  ]
  const both = await make(executor, { source, steps, workflow: { report: 'reports/*.xml' } })
  assert.equal(
    both.end.end === 'success' && Buffer.from(both.end.report ?? []).toString(),
    '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n<testsuite name="a"></testsuite>\n<testsuite name="b"></testsuite>\n</testsuites>\n',
  )
  const linked = await make(executor, { source, steps, workflow: { report: 'linked/*.xml' } })
  assert.equal(linked.end.end === 'success' && linked.end.report, undefined)
  assert.match(linked.text, /No file with a report matches linked\/\*\.xml\n/)
})

test('STO-12 a tree comes whole: export-ignore, symlinks out of it, newlines and invalid UTF-8 in names, submodules', async () => {
  const odd = await trees.plant([
    { name: '.gitattributes', content: 'tests export-ignore\nsubst export-subst\n' },
    { name: 'tests', content: 'kept' },
    { name: 'subst', content: '$Format:%H$' },
    { name: 'out', content: '/etc/passwd', mode: '120000' },
    { name: 'new\nline', content: 'n' },
    { name: Buffer.from([0x62, 0xff, 0xfe]), content: 'u' },
    { name: 'sub', content: '1'.repeat(40), mode: '160000' },
  ])
  const { end, text } = await make(executor, {
    source: odd,
    steps: ['cat tests subst; echo; readlink out; ls | wc -l; ls -d sub; find . -name "new?line" | wc -l'],
  })
  assert.equal(end.end, 'success')
  assert.match(text, /kept\$Format:%H\$\n\/etc\/passwd\n7\nsub\n2\n/)
})

test('CHK-7 a tree that cannot be had and a disk that is nearly full are no verdicts', async () => {
  const none = await make(executor, { source: { ...source, commit: 'f'.repeat(40) }, steps: ['true'] })
  assert.deepEqual(none.end, { end: 'error', verdict: 'other', summary: 'The files to check could not be put in place.' })
  const full = createHostExecutor({ dir: join(trees.dir, 'full'), log: quietLog, limits: { freeBytes: Number.MAX_SAFE_INTEGER } })
  const { end } = await make(full, { source, steps: ['sleep 300'] })
  assert.deepEqual(end, { end: 'error', verdict: 'disk', summary: 'Ended since the disk of the runner was nearly full.' })
})

test('MOV-6 what a crash left is ended and removed at the next start', async () => {
  const dir = join(trees.dir, 'crashed')
  const crashed = createHostExecutor({ dir, log: quietLog })
  const { job, output } = jobOf({ source, steps: ['setsid sh -c "echo pid \\$\\$; exec sleep 300" & wait'] })
  const ending = crashed.run(job)
  const pid = await until(() => /pid (\d+)\n/.exec(output().toString())?.[1])
  await createHostExecutor({ dir, log: quietLog }).sweep()
  assert.equal(alive(pid), false)
  assert.deepEqual(readdirSync(dir), [])
  await ending
  await createHostExecutor({ dir: join(dir, 'none'), log: quietLog }).sweep()
})
