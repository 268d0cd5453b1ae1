import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chooseExecutor } from '../../src/devnet/demo/executor.ts'

const nowhere = { DOCKER_HOST: 'unix:///nonexistent/engine.sock' }

test('WHO-5 without a container engine the demo runs checks on this machine, and says why', async () => {
  assert.deepEqual(await chooseExecutor(undefined, nowhere), { kind: 'host', why: 'no-engine' })
})

test('what was asked for is taken, with an image for workflows that name none', async () => {
  assert.deepEqual(await chooseExecutor('host', nowhere), { kind: 'host' })
  assert.deepEqual(await chooseExecutor('docker', nowhere), { kind: 'docker', image: 'docker.io/library/alpine:3' })
})
