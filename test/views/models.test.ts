import assert from 'node:assert/strict'
import { test } from 'node:test'
import type * as knotless from '../../src/lexicons/dev/knotless.ts'
import type { mergeStatusParts, pullsParts, queueParts, queueSummaryParts } from '../../src/queue/answers/index.ts'
import type { leaving } from '../../src/queue/leaving.ts'
import type { timeline } from '../../src/queue/timeline.ts'
import type { Refusal } from '../../src/queue/words/refusals.ts'
import type {
  BoxModel,
  CheckLine,
  LeaveWords,
  QueuePage,
  RefusalWords,
  RepositoryLine,
  RepositoryPage,
  TimelineLine,
} from '../../src/views/models.ts'

/** Compiles only while `Answer` fits into `Model`. */
type Fits<Answer extends Model, Model> = Answer

type QueueFits = Fits<knotless.getQueue.$OutputBody, QueuePage['queue']>
type StatusModel = Pick<
  BoxModel,
  'box' | 'standing' | 'can' | 'lander' | 'gateway' | 'checks' | 'queueOnly' | 'unchecked' | 'changesChecks' | 'health'
>
type BoxFits = Fits<knotless.getMergeStatus.$OutputBody, StatusModel>
type PullsFit = Fits<knotless.listPulls.$OutputBody['pulls'], RepositoryPage['pulls']>
type LanesFit = Fits<knotless.listQueues.$OutputBody['queues'], RepositoryLine['queues']>
type ChecksFit = Fits<knotless.listChecks.$OutputBody['checks'], readonly CheckLine[]>

type Body<T> = Extract<T, { ok: true }> extends { body: infer B } ? B : never
type QueuePartsFit = Fits<Body<ReturnType<typeof queueParts>>, QueuePage['queue']>
type PullsPartsFit = Fits<Body<ReturnType<typeof pullsParts>>['pulls'], RepositoryPage['pulls']>
type StatusPartsFit = Fits<ReturnType<typeof mergeStatusParts>, StatusModel>
type LanePartsFit = Fits<ReturnType<typeof queueSummaryParts>, RepositoryLine['queues']>
type TimelineFits = Fits<ReturnType<typeof timeline>, readonly TimelineLine[]>
type LeavingFits = Fits<NonNullable<ReturnType<typeof leaving>>, LeaveWords>
type RefusalFits = Fits<Refusal, RefusalWords>

test('STA-3 the answers of the XRPC queries fit into the models of the pages', () => {
  const fits: [QueueFits?, BoxFits?, PullsFit?, LanesFit?, ChecksFit?] = []
  const parts: [QueuePartsFit?, PullsPartsFit?, StatusPartsFit?, LanePartsFit?, TimelineFits?, LeavingFits?, RefusalFits?] = []
  assert.equal(fits.length + parts.length, 0)
})
