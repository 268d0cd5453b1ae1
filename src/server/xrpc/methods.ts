import type { Server } from '@atproto/xrpc-server'
import { dev } from '../../lexicons/index.ts'
import type { Context } from '../context.ts'
import { createCommit } from './createCommit.ts'
import type { Front } from './front.ts'
import { getMergeStatus } from './getMergeStatus.ts'
import { getQueue } from './getQueue.ts'
import { getQueueRecords } from './getQueueRecords.ts'
import { getQueueStats } from './getQueueStats.ts'
import { listChecks } from './listChecks.ts'
import { listPulls } from './listPulls.ts'
import { listQueues } from './listQueues.ts'
import { mergePull } from './mergePull.ts'
import { reportPass } from './reportPass.ts'

/** Every method that is built. The others of the lexicons answer 501 MethodNotImplemented, as an unknown one does. */
export function addMethods(xrpc: Server, ctx: Context, front: Front): void {
  xrpc.add(dev.knotless.getMergeStatus, getMergeStatus(ctx, front))
  xrpc.add(dev.knotless.getQueue, getQueue(ctx, front))
  xrpc.add(dev.knotless.getQueueRecords, getQueueRecords(ctx))
  xrpc.add(dev.knotless.getQueueStats, getQueueStats(ctx, front))
  xrpc.add(dev.knotless.listChecks, listChecks(ctx, front))
  xrpc.add(dev.knotless.listPulls, listPulls(ctx, front))
  xrpc.add(dev.knotless.listQueues, listQueues(ctx, front))
  xrpc.add(dev.knotless.mergePull, mergePull(ctx, ctx.replays))
  xrpc.add(dev.knotless.createCommit, createCommit(ctx, ctx.replays))
  xrpc.add(dev.knotless.reportPass, reportPass(ctx, ctx.replays))
}
