import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createDockerExecutor, type DockerOptions } from '../../../src/runner/executor/docker.ts'
import { openEngine } from '../../../src/runner/executor/engine.ts'
import { writeTar } from '../../../src/runner/executor/tar.ts'
import type { Executor, Job, JobEnd } from '../../../src/runner/types.ts'
import { noEngine, testEngine } from '../../support/engine.ts'
import { until } from '../../support/until.ts'
import { createTrees, type JobParts, jobOf, make, quietLog, untimed } from './jobs.ts'
import { startRegistry } from './registry.ts'

const MB = 2 ** 20
const engine = await testEngine()
const skip = engine === undefined && noEngine
const owner = `test-${process.pid}`

let trees: Awaited<ReturnType<typeof createTrees>>
let source: Job['source']
const opened: Executor[] = []

function open(options: Partial<DockerOptions> = {}): Executor {
  const executor = createDockerExecutor({
    socketPath: engine?.socketPath ?? '',
    owner,
    image: engine?.image,
    allowNetwork: false,
    log: quietLog,
    pull: 'never',
    ...options,
    limits: {
      memoryBytes: 64 * MB,
      processes: 64,
      tmpBytes: 8 * MB,
      freeBytes: MB,
      output: { head: 4000, tail: 1000, most: 32 * MB },
      reportBytes: 20_000,
      ...options.limits,
    },
  })
  opened.push(executor)
  return executor
}

let executor: Executor
before(async () => {
  trees = await createTrees()
  source = await trees.plant([
    { name: 'hello.txt', content: 'hello\n' },
    { name: 'run.sh', content: '#!/bin/sh\necho "$0 runs"\n', mode: '100755' },
  ])
  executor = open()
})
after(async () => {
  for (const one of opened) await one.close()
  trees.close()
  if (engine === undefined) return
  try {
    await nothingLeft()
  } finally {
    await engine.close()
  }
})

/** No container and no volume but caches, which are removed. */
async function nothingLeft(): Promise<void> {
  const docker = openEngine(engine?.socketPath ?? '')
  assert.deepEqual(await containers(), [])
  const { Volumes } = await docker.listVolumes()
  const own = (Volumes ?? []).filter(({ Labels }) => Object.values(Labels ?? {}).some(value => value.startsWith(owner)))
  assert.deepEqual(
    own.filter(({ Name }) => !Name.startsWith('knotless-cache-')),
    [],
  )
  for (const { Name } of own) await docker.getVolume(Name).remove()
}

async function containers(of = owner): Promise<string[]> {
  const all = await openEngine(engine?.socketPath ?? '').listContainers({ all: true, filters: { label: [`dev.knotless.run=${of}`] } })
  return all.map(({ Id }) => Id)
}

const summaryOf = (end: JobEnd) => ('summary' in end ? untimed(end.summary) : '')
const run = (parts: Omit<JobParts, 'source'> & { source?: Job['source'] }, by = executor) => make(by, { source, ...parts })

test('a run has the tree in a container, says its steps and passes, and nothing of it stays', { skip }, async () => {
  const { end, text } = await run({ steps: ['cat hello.txt', './run.sh'] })
  assert.equal(end.end, 'success', text)
  assert.equal(
    untimed(text).replace(/sha256:\w+/, 'sha256:…'),
    'Image sha256:…, 64 MB of memory, no network\n$ cat hello.txt\nhello\n$ ./run.sh\n./run.sh runs\nPassed in N s.\n',
  )
  assert.deepEqual(await containers(), [])
})

test('WHO-5 a step is nobody: no root, no capability, no network, nothing it may write but its own', { skip }, async () => {
  const steps = [
    'id -u; grep -E "CapEff|CapBnd|NoNewPrivs|Seccomp:" /proc/self/status; sed -n "s|^[^ ]* / [^ ]* \\(r.\\),.*|root is \\1|p" /proc/mounts; tail -n +3 /proc/net/dev | cut -d: -f1',
    'for path in / /etc /usr/bin /w/steps/1; do touch $path/x 2>/dev/null || touch $path 2>/dev/null && echo "may write $path"; done; echo "$HOME" > "$HOME/x"; echo t > /tmp/x; echo w > x',
    'kill -9 1 2>/dev/null || echo "not one"; env | cut -d= -f1 | sort | tr "\\n" " "',
  ]
  const { end, text } = await run({ steps, env: { KNOTLESS_BRANCH: 'main' } })
  assert.equal(end.end, 'success', text)
  assert.match(text, /\n1000\nCapEff:\t0+\nCapBnd:\t0+\nNoNewPrivs:\t1\nSeccomp:\t2\nroot is ro\n +lo\n\$ for/)
  assert.doesNotMatch(text, /^may write/m)
  assert.match(text, /\nnot one\n/)
  assert.match(text, /\bCI HOME (HOSTNAME )?KNOTLESS_BRANCH PATH PWD .*TMPDIR/)
})

test('AHD-5 a run that may be thrown away has a fifth of the CPU weight of one that lands next', { skip }, async () => {
  const weigh = async (weight: Job['weight']) => {
    const { text } = await run({ steps: ['cat /sys/fs/cgroup/cpu/cpu.shares 2>/dev/null || cat /sys/fs/cgroup/cpu.weight'], weight })
    return Number(/\n(\d+)\n/.exec(text)?.[1])
  }
  const [high, low] = await Promise.all([weigh('high'), weigh('low')])
  assert.ok(low > 0 && high / low > 4 && high / low < 6, `${high} and ${low}`)
})

test('the first step that fails decides; output and errors keep their order', { skip }, async () => {
  const { end, text } = await run({ steps: ['echo a; echo b >&2; echo c', 'exit 3', 'echo never'] })
  assert.equal(end.end, 'failure')
  assert.equal(summaryOf(end), 'Failed after N s in step 2 of 3, with exit code 3: exit 3')
  assert.match(text, /\na\nb\nc\n\$ exit 3\nFailed/)
})

test('REA-3 a declared retry is said, counted and named', { skip }, async () => {
  const flaky = '[ -e seen ] || { touch seen; exit 9; }'
  const { end, text } = await run({ steps: [flaky], workflow: { retries: 1 } })
  assert.deepEqual(end.end === 'success' && end.retried, [flaky])
  assert.match(text, /\nExit code 9. Retry 1 of 1:\n/)
})

test('CHK-7 past its time a run is ended with all that ignores it, and that is no verdict', { skip }, async () => {
  const { end } = await run({
    steps: ['trap "" TERM INT HUP; setsid sh -c \'trap "" TERM; sleep 300\' & echo on; sleep 300'],
    timeoutMs: 1500,
  })
  assert.equal(end.end === 'error' && end.verdict, 'timeout')
  assert.match(summaryOf(end), /^Timed out after N s: trap/)
  assert.deepEqual(await containers(), [])
})

test('a cancelled run is ended at once', { skip }, async () => {
  const { job, output, cancel } = jobOf({ source, steps: ['trap "" TERM; echo on; sleep 300'] })
  const ending = executor.run(job)
  await until(() => output().includes('\non\n'))
  const began = performance.now()
  cancel()
  assert.deepEqual(await ending, { end: 'cancelled' })
  assert.ok(performance.now() - began < 5_000)
  assert.deepEqual(await containers(), [])
  assert.deepEqual(await executor.run({ ...job, signal: AbortSignal.abort() }), { end: 'cancelled' })
})

test('a run that wants more memory than it has fails saying so', { skip }, async () => {
  const { end } = await run({ steps: ['head -c 200000000 /dev/zero | tail -n 1'] })
  assert.equal(end.end, 'failure')
  const own = await run({ steps: ["sh -c 'kill -9 $$'"] })
  assert.match(summaryOf(own.end), /^Failed after N s, with exit code 137: /)
  assert.match(summaryOf(end), /^Ran out of memory after N s \(a run here has 64 MB\): head -c/)
})

test('a step that forks without end stays within its processes, and the run ends', { skip }, async () => {
  const { end } = await run(
    { steps: ['bomb() { bomb | bomb & }; bomb; sleep 1; exit 1'], timeoutMs: 20_000 },
    open({ limits: { memoryBytes: 256 * MB } }),
  )
  assert.equal(end.end, 'failure')
  assert.equal(
    summaryOf(end),
    'Failed after N s, having reached its limit of 64 processes: bomb() { bomb | bomb & }; bomb; sleep 1; exit 1',
  )
})

test('CHK-13 a long output keeps head and tail; without end it ends the run, and memory stays what it was', { skip }, async () => {
  const long = await run({ steps: ['seq 1 3000; echo the end'] })
  assert.equal(long.end.end, 'success')
  assert.match(long.text, /\n1\n2\n3\n/)
  assert.match(long.text, /\n… [\d.]+ KB of output are left out here …\n\d+\n/)
  assert.match(long.text, /\n2999\n3000\nthe end\nPassed/)
  const before = process.memoryUsage().rss
  const { end, text } = await run({ steps: ['yes "a line that is printed for ever and ever" | head -c 1073741824'] })
  assert.equal(end.end, 'failure')
  assert.match(summaryOf(end), /^Ended since it printed more than 32 MB: yes/)
  assert.ok(text.length < 6000)
  assert.ok(process.memoryUsage().rss - before < 150 * MB, `${(process.memoryUsage().rss - before) / MB} MB more`)
})

test('CHK-7 a disk that is nearly full is no verdict, and more files than a run may have are one', { skip }, async () => {
  const full = await run({ steps: ['sleep 300'] }, open({ limits: { freeBytes: Number.MAX_SAFE_INTEGER } }))
  assert.deepEqual(full.end, { end: 'error', verdict: 'disk', summary: 'Ended since the disk of the runner was nearly full.' })
  const { end } = await run({ steps: ['head -c 40000000 /dev/zero > big; sleep 300'] }, open({ limits: { diskBytes: 16 * MB } }))
  assert.equal(summaryOf(end), 'Ended since its files took more than 16 MB: head -c 40000000 /dev/zero > big; sleep 300')
  const tmp = await run({ steps: ['head -c 40000000 /dev/zero > /tmp/big'] })
  assert.equal(tmp.end.end, 'failure')
  assert.match(tmp.text, /No space left on device/)
})

test('CHK-7 an image that does not exist is a verdict, as is one that has no shell or none that is named', { skip }, async t => {
  const none = await run({ steps: ['true'], workflow: { image: 'knotless.invalid/none:1' } })
  assert.deepEqual(none.end, {
    end: 'error',
    summary: 'The image knotless.invalid/none:1 was not found. It is named by "image" in the workflow.',
  })
  assert.match(none.text, /^The image knotless.invalid\/none:1 was not found/)
  const unnamed = await run({ steps: ['true'] }, open({ image: undefined }))
  assert.deepEqual(unnamed.end, { end: 'error', summary: 'The workflow names no image, and this runner has none for such workflows.' })
  const { host, close } = await startRegistry(writeTar([{ name: 'file', bytes: Buffer.from('x'), mode: 0o644, owner: 0 }]))
  t.after(close)
  const pulling = open({ pull: 'missing' })
  const unfit = await run({ steps: ['true'], workflow: { image: `${host}/there:1` } }, pulling)
  assert.deepEqual(unfit.end, { end: 'error', summary: `The image ${host}/there:1 cannot run a workflow: it needs sh and tar.` })
  await openEngine(engine?.socketPath ?? '')
    .getImage(`${host}/there:1`)
    .remove()
  const gone = await run({ steps: ['true'], workflow: { image: `${host}/gone:1` } }, pulling)
  assert.deepEqual(gone.end, { end: 'error', summary: `The image ${host}/gone:1 was not found. It is named by "image" in the workflow.` })
  const name = await run({ steps: ['true'], workflow: { image: 'No..Name' } }, pulling)
  assert.equal(name.end.end === 'error' && name.end.verdict, undefined)
})

test('CHK-7 an image whose registry does not answer is no verdict', { skip }, async () => {
  const { end } = await run({ steps: ['true'], workflow: { image: '127.0.0.1:1/none:1' } }, open({ pull: 'missing' }))
  assert.deepEqual(end, {
    end: 'error',
    verdict: 'other',
    summary: 'The image 127.0.0.1:1/none:1 could not be fetched: its registry does not answer as it should.',
  })
})

test('a workflow that asks for the network where runs have none is told so', { skip }, async () => {
  const { end } = await run({ steps: ['true'], workflow: { network: true } })
  assert.deepEqual(end, { end: 'error', summary: 'The workflow asks for the network, and this runner gives runs none (--allow-network).' })
})

test('secrets are in the environment and masked in the log', { skip }, async () => {
  const { text } = await run({
    steps: ['printf "%s" "$TOKEN" | wc -c; printf hun; sleep 0.2; printf "ter-22\\n"'],
    secrets: { TOKEN: 'hunter-22' },
  })
  assert.match(text, /\n9\n\*\*\*\n/)
  assert.doesNotMatch(text, /hunter/)
})

test('the report is what matches in the tree, bounded, and no symlink is followed', { skip }, async () => {
  const suite = (name: string) => `<testsuite name="${name}"></testsuite>`
  const steps = [
    `mkdir -p reports/deep; echo '${suite('a')}' > reports/a.xml; echo '${suite('b')}' > reports/b.xml; echo '${suite('c')}' > reports/deep/c.xml`,
    'ln -s /etc/passwd reports/d.xml; mkfifo reports/e.xml; head -c 30000 /dev/zero > reports/f.xml; exit 1',
  ]
  const read = async (report: string) => {
    const { end, text } = await run({ steps, workflow: { report } })
    const bytes = 'report' in end ? end.report : undefined
    return {
      names: [
        ...Buffer.from(bytes ?? [])
          .toString()
          .matchAll(/name="(.)"/g),
      ]
        .map(([, name]) => name)
        .join(''),
      text,
    }
  }
  assert.equal((await read('reports/*.xml')).names, 'ab')
  assert.equal((await read('**/*.{xml,txt}')).names, 'abc')
  assert.match((await read('none/*.xml')).text, /\nNo file with a report matches none\/\*\.xml\n/)
})

test('STO-12 a tree comes whole: export-ignore, symlinks out of it, newlines and invalid UTF-8 in names, submodules', {
  skip,
}, async () => {
  const odd = await trees.plant([
    { name: '.gitattributes', content: 'tests export-ignore\nsubst export-subst\n' },
    { name: 'tests', content: 'kept' },
    { name: 'subst', content: '$Format:%H$' },
    { name: 'out', content: '/etc/passwd', mode: '120000' },
    { name: 'new\nline', content: 'n' },
    { name: Buffer.from([0x62, 0xff, 0xfe]), content: 'u' },
    { name: 'sub', content: '1'.repeat(40), mode: '160000' },
  ])
  const { end, text } = await run({
    source: odd,
    steps: ['cat tests subst; echo; readlink out; ls | wc -l; ls -d sub; find . -name "new?line" | wc -l'],
  })
  assert.equal(end.end, 'success', text)
  assert.match(text, /kept\$Format:%H\$\n\/etc\/passwd\n7\nsub\n2\n/)
})

test('CHK-2 caches: shared by trusted runs, read and thrown away by others, promoted by pushes alone', { skip }, async () => {
  const key = `key-${process.pid}`
  const cached = (use: Job['cache']['use'], what: string, of = key) =>
    run({
      steps: [`echo "has $(ls ~/.npm node_modules | tr '\\n' ' ')"; touch ~/.npm/${what} node_modules/${what}`],
      cache: { key: of, use },
      workflow: { cache: ['~/.npm', 'node_modules'] },
    })
  const has = async (made: ReturnType<typeof cached>) => {
    const { end, text } = await made
    assert.equal(end.end, 'success', text)
    return [...(/^has .*: (.*?) \S+: (.*)$/m.exec(text) ?? /^has(.*)$/m.exec(text) ?? [])].slice(1).join('|').trim()
  }
  const names = (text: string) => [...new Set(text.match(/\b[a-z]+-\d\b/g))].sort().join(' ')
  assert.equal(names(await has(cached('promote', 'push-1'))), '')
  const [layer, empty, share, other] = await Promise.all([
    has(cached('layer', 'lost-1')),
    has(cached('empty', 'lost-2')),
    has(cached('share', 'batch-1')),
    has(cached('share', 'batch-2', `${key}-other`)),
  ])
  assert.deepEqual([layer, empty, share, other].map(names), ['push-1', '', 'push-1', ''])
  const [again, read, pushed] = await Promise.all([
    has(cached('share', 'batch-3')),
    has(cached('layer', 'lost-3')),
    has(cached('promote', 'push-2')),
  ])
  assert.equal(names(again), 'batch-1 push-1')
  assert.match(names(read), /^batch-1 (batch-3 )?push-1$/)
  assert.equal(names(pushed), 'push-1')
})

test('RUN-4 CHK-2 a landing that runs nothing takes over what its batch left in the cache', { skip }, async () => {
  const key = `taken-${process.pid}`
  const cached = (use: Job['cache']['use'], steps: string[]) => run({ steps, cache: { key, use }, workflow: { cache: ['~/.npm'] } })
  const shared = await cached('share', ['touch ~/.npm/by-the-batch'])
  assert.equal(shared.end.end, 'success', shared.text)
  const taken = await cached('take', [':'])
  assert.equal(taken.end.end, 'success', taken.text)
  const { end, text } = await cached('promote', ['ls ~/.npm'])
  assert.equal(end.end, 'success', text)
  assert.match(text, /^by-the-batch$/m)
})

test('MOV-6 what a crash left is swept at the next start, and another runner’s runs are not', { skip }, async () => {
  const crashed = open({ owner: `${owner}-crashed` })
  const other = jobOf({ source, steps: ['echo on; sleep 1'] })
  const { job, output } = jobOf({ source, steps: ['echo on; sleep 300'] })
  const others = executor.run(other.job)
  const ending = crashed.run(job)
  await until(() => output().includes('\non\n') && other.output().includes('\non\n'))
  await open({ owner: `${owner}-crashed` }).sweep()
  assert.deepEqual(await containers(`${owner}-crashed`), [])
  assert.equal((await others).end, 'success')
  // Its container is gone under it: no verdict.
  const end = await ending
  assert.equal(end.end === 'error' && end.verdict, 'executor-lost')
})

test('CHK-7 a container that somebody else ends is no verdict', { skip }, async () => {
  const ended = open({ owner: `${owner}-ended` })
  const { job, output } = jobOf({ source, steps: ['echo on; sleep 300'] })
  const ending = ended.run(job)
  await until(() => output().includes('\non\n'))
  const [id = ''] = await containers(`${owner}-ended`)
  await openEngine(engine?.socketPath ?? '')
    .getContainer(id)
    .kill()
  const end = await ending
  assert.equal(end.end === 'error' && end.verdict, 'executor-lost')
  assert.deepEqual(await containers(`${owner}-ended`), [])
})

test('CHK-7 no engine is no verdict', async t => {
  const none = createDockerExecutor({ socketPath: '/nonexistent/engine.sock', owner, image: 'x', allowNetwork: false, log: quietLog })
  const { end } = await run({ steps: ['true'] }, none)
  assert.deepEqual(end, { end: 'error', verdict: 'executor-lost', summary: 'The container engine does not answer.' })
  await t.assert.rejects(none.sweep())
  await none.close()
})
