import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { lexParse } from '@atproto/lex-json'
import { type Network, startNetwork } from '../../src/devnet/network.ts'
import { type People, type Samples, seedPeople, seedSamples } from '../../src/devnet/seed.ts'
import { main as issueRecord } from '../../src/lexicons/dev/knotless/issue.defs.ts'
import { main as pullRecord } from '../../src/lexicons/dev/knotless/pull.defs.ts'
import { main as refsRecord } from '../../src/lexicons/dev/knotless/refs.defs.ts'
import { main as repoRecord } from '../../src/lexicons/dev/knotless/repo.defs.ts'
import { isTid } from '../../src/queue/tid.ts'

let dataDir: string
let network: Network
let people: People
let samples: Samples

before(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'knotless-seed-'))
  network = await startNetwork({ dataDir })
  people = await seedPeople(network)
  samples = await seedSamples(network, people)
})
after(async () => {
  await network.stop()
  rmSync(dataDir, { recursive: true, force: true })
})

const collections = { repo: repoRecord, refs: refsRecord, pull: pullRecord, issue: issueRecord }

async function all(collection: keyof typeof collections) {
  const lists = await Promise.all(Object.values(people).map(person => person.list(`dev.knotless.${collection}`)))
  return lists.flat()
}

test('every record is as its lexicon says', async () => {
  let seen = 0
  for (const name of ['repo', 'refs', 'pull', 'issue'] as const) {
    for (const record of await all(name)) {
      const parsed = collections[name].$safeParse(lexParse(JSON.stringify(record.value)))
      assert.ok(parsed.success, `${record.uri}: ${parsed.success ? '' : parsed.reason.message}`)
      seen += 1
    }
  }
  assert.equal(seen, 3 + 3 + 10 + 1)
})

test('the orchard has bob as collaborator and names the runner, the almanac names none', async () => {
  const orchard = await people.alice.get('dev.knotless.repo', 'orchard')
  const almanac = await people.alice.get('dev.knotless.repo', 'almanac')
  assert.deepEqual(orchard?.value.collaborators, [{ did: people.bob.did }])
  assert.deepEqual(orchard?.value.runners, [{ did: people.runner.did }])
  assert.deepEqual(almanac?.value.runners, [])
})

test('pulls lie in their authors’ accounts, with keys that are times in the order they were opened', async () => {
  const keys = Object.values(samples.orchard.pulls).map(pull => {
    assert.ok(pull.uri.startsWith(`at://${people[pull.author].did}/dev.knotless.pull/`))
    return pull.uri.split('/').at(-1) ?? ''
  })
  assert.ok(keys.every(isTid))
  assert.deepEqual(keys, [...keys].sort())
  assert.deepEqual(await people.mallory.list('dev.knotless.pull'), [])
})

test('one pull names the issue that it closes', async () => {
  const uri = samples.orchard.pulls['label-variety']?.uri ?? ''
  const pull = await people.alice.get('dev.knotless.pull', uri.split('/').at(-1) ?? '')
  const issue = samples.orchard.issue?.split('/').at(-1)
  assert.match(String(pull?.value.body), new RegExp(`Fixes #${issue}$`))
})

test('carol’s pull comes from her fork, whose git state is complete in her own account', async () => {
  const pull = samples.orchard.pulls['csv-semicolons']
  assert.equal(pull?.headRepo, `at://${people.carol.did}/dev.knotless.repo/orchard`)
  const refs = await people.carol.get('dev.knotless.refs', 'orchard')
  assert.match(JSON.stringify(refs?.value), new RegExp(`"refs/heads/csv-semicolons","commit":"${pull?.head}"`))
  const owners = await people.alice.get('dev.knotless.refs', 'orchard')
  assert.doesNotMatch(JSON.stringify(owners?.value), /csv-semicolons/)
})

test('a second start makes nothing again, and keeps what became of it', async () => {
  const uri = samples.orchard.pulls['water-after-rain']?.uri ?? ''
  await people.bob.remove('dev.knotless.pull', uri.split('/').at(-1) ?? '')
  const before = (await all('pull')).map(record => record.uri)
  await network.stop()
  network = await startNetwork({ dataDir })
  people = await seedPeople(network)
  assert.deepEqual(await seedSamples(network, people), samples)
  assert.deepEqual(
    (await all('pull')).map(record => record.uri),
    before,
  )
})
