import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDockerExecutor } from '../../../src/runner/executor/docker.ts'
import { openEngine } from '../../../src/runner/executor/engine.ts'
import { noEngine, startOwnEngine, testEngine } from '../../support/engine.ts'
import { until } from '../../support/until.ts'
import { createTrees, jobOf, make, quietLog } from './jobs.ts'

// Whether there is an engine at all was found out for the whole test run.
const there = await testEngine()
await there?.close()
const engine = there?.name === 'podman' ? await startOwnEngine() : undefined

test('CHK-7 an engine that is killed in mid-run is no verdict, and what it left is swept once it is back', {
  skip: engine === undefined && noEngine,
}, async t => {
  if (engine === undefined) return
  t.after(engine.close)
  const trees = await createTrees()
  t.after(trees.close)
  const source = await trees.plant([{ name: 'a', content: 'a' }])
  const options = { socketPath: engine.socketPath, owner: 'lost', image: engine.image, allowNetwork: false, log: quietLog }
  const executor = createDockerExecutor(options)
  const { job, output } = jobOf({ source, steps: ['echo on; sleep 300'] })
  const ending = executor.run(job)
  await until(() => output().includes('\non\n'))
  await engine.crash()
  assert.deepEqual(await ending, {
    end: 'error',
    verdict: 'executor-lost',
    summary: 'The container engine stopped answering while it ran.',
  })
  assert.match(output().toString(), /\nThe container engine stopped answering while it ran\.\n$/)
  const meanwhile = await make(executor, { source, steps: ['true'] })
  assert.equal(meanwhile.end.end === 'error' && meanwhile.end.verdict, 'executor-lost')

  await engine.restart()
  const containers = () => openEngine(engine.socketPath).listContainers({ all: true })
  assert.equal((await containers()).length, 1)
  // Another process than the one that began it.
  await createDockerExecutor(options).sweep()
  assert.deepEqual(await containers(), [])
  const { end } = await make(executor, { source, steps: ['true'] })
  assert.equal(end.end, 'success')
  await executor.close()
})
