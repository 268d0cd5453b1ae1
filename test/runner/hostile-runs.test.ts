/** The whole runner with containers, over workflow files and steps that mean harm: each pull gets what the rules say, in words, and the others land. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { OpenedPull, Planted } from '../server/gateway-world.ts'
import { noEngine, testEngine } from '../support/engine.ts'
import { until } from '../support/until.ts'
import { startRegistry } from './executor/registry.ts'
import { ejected, merged, queue, type RunnerWorld, startRunnerWorld } from './runner-world.ts'

const engine = await testEngine()
const skip = engine === undefined && noEngine

let world: RunnerWorld
let registry: Awaited<ReturnType<typeof startRegistry>>
before(async () => {
  if (engine === undefined) return
  registry = await startRegistry(Buffer.alloc(0))
  world = await startRunnerWorld()
})
after(async () => {
  await world?.end()
  await registry?.close()
  await engine?.close()
})

const file = (lines: readonly string[]) => ({ '.knotless/workflows/own.yml': `${lines.join('\n')}\n` })
const steps = (command: string, ...more: string[]) => file(['on: { pull: {} }', ...more, 'steps:', `  - run: ${JSON.stringify(command)}`])

interface Harm {
  branch: string
  files: Record<string, string>
  kind: string
  says: RegExp
  /** Of its check. */
  summary: RegExp
}

function harms(): Harm[] {
  const bomb = [
    'a: &a [x, x, x, x, x, x, x, x]',
    ...'bcdefghij'.split('').map((name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghij'[at]}`).join(', ')}]`),
  ]
  return [
    { branch: 'no-yaml', files: file(['on: [', '  - {']), kind: 'checks', says: /own\.yml/, summary: /own\.yml.*: It is not YAML/ },
    { branch: 'bomb', files: file(bomb), kind: 'checks', says: /own\.yml/, summary: /anchors and aliases|An alias|words and signs/ },
    {
      branch: 'unknown-key',
      files: steps('true', 'nonsense: 1'),
      kind: 'checks',
      says: /own\.yml/,
      summary: /line 2, "nonsense": This key is not known/,
    },
    {
      branch: 'no-image',
      files: steps('true', `image: ${registry.host}/gone:1`),
      kind: 'checks',
      says: /own failed/,
      summary: /^The image .*gone:1 was not found/,
    },
    {
      branch: 'fills',
      files: steps('dd if=/dev/zero of=/tmp/full bs=1M count=4096'),
      kind: 'checks',
      says: /own failed/,
      summary: /^Failed|^Ran out of memory/,
    },
    {
      branch: 'stays',
      files: steps("trap '' TERM INT HUP; while :; do sleep 1; done", 'timeout: 1s'),
      kind: 'timeout',
      says: /timed out/,
      summary: /^Timed out after/,
    },
  ]
}

test('CHK-6 CHK-7 FAI-2 FAI-8 what harms is ejected with its reason and its check, and what comes after it lands', {
  skip,
  timeout: 120_000,
}, async () => {
  const repo = await world.orchard('harm', { files: steps('cat README.md') })
  const all = harms()
  const pulls: OpenedPull[] = []
  for (const { branch, files } of all) pulls.push(await repo.openPull({ branch, files }))
  const good = await repo.openPull({ branch: 'good', files: { 'good.txt': 'good\n' } })
  for (const pull of [...pulls, good]) await queue(world, repo, pull)
  const running = await world.start({
    repos: [repo],
    flags: ['--executor', 'docker', '--socket', engine?.socketPath ?? '', '--image', engine?.image ?? '', '--batch', '1', '--depth', '1'],
  })
  for (const [at, harm] of all.entries()) {
    const pull = pulls[at]
    assert.ok(pull)
    const record = await ejected(world, pull)
    const summary = await summaryOf(repo, record)
    assert.equal(record.kind, harm.kind, harm.branch)
    assert.match(String(record.reason), harm.says)
    assert.match(summary, harm.summary)
  }
  await merged(world, good)
  await running.stop()
})

async function summaryOf(repo: Planted, record: Record<string, unknown>): Promise<string> {
  const [first] = Array.isArray(record.checks) ? record.checks : []
  return await until(async () => {
    const checks = await world.people.rigby.list('dev.knotless.check')
    const found = checks.find(({ uri, value }) => uri === first?.check && value.repo === repo.uri)
    return found === undefined ? undefined : `${found.value.summary}`
  })
}
