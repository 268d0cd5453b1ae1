import assert from 'node:assert/strict'
import { test } from 'node:test'
import type * as knotless from '../../src/lexicons/dev/knotless.ts'
import type { BoxModel, CheckLine, QueuePage, RepositoryLine, RepositoryPage } from '../../src/views/models.ts'

/** Compiles only while `Answer` fits into `Model`. */
type Fits<Answer extends Model, Model> = Answer

type QueueFits = Fits<knotless.getQueue.$OutputBody, QueuePage['queue']>
type BoxFits = Fits<
  knotless.getMergeStatus.$OutputBody,
  Pick<BoxModel, 'box' | 'standing' | 'can' | 'lander' | 'gateway' | 'checks' | 'queueOnly' | 'unchecked' | 'changesChecks' | 'health'>
>
type PullsFit = Fits<knotless.listPulls.$OutputBody['pulls'], RepositoryPage['pulls']>
type LanesFit = Fits<knotless.listQueues.$OutputBody['queues'], RepositoryLine['queues']>
type ChecksFit = Fits<knotless.listChecks.$OutputBody['checks'], readonly CheckLine[]>

test('STA-3 the answers of the XRPC queries fit into the models of the pages', () => {
  const fits: [QueueFits?, BoxFits?, PullsFit?, LanesFit?, ChecksFit?] = []
  assert.equal(fits.length, 0)
})
