import { ofKind } from '../../indexer/sources/read-about.ts'
import type * as knotless from '../../lexicons/dev/knotless.ts'
import type { LanderRecord, PullRecord, QueueRecord, StateRecord } from '../../queue/facts.ts'
import type { RunnerContext } from '../context.ts'
import { type Collection, createCollection } from './collection.ts'
import { createLooks, type Looks } from './looks.ts'
import { createPullChecks, type PullChecks } from './pull-checks.ts'
import { createSources, type Sources } from './sources.ts'

export type ReadsContext = Pick<RunnerContext, 'did' | 'reader' | 'identity' | 'appview' | 'now' | 'settings' | 'log'>

/** What is remembered of accounts, for all repositories together (NOT-6). */
export interface Stores {
  looks: Looks
  sources: Sources
  queue: Collection<QueueRecord>
  states: Collection<StateRecord>
  pulls: Collection<PullRecord>
  landers: Collection<LanderRecord>
  reruns: Collection<knotless.rerun.Main>
  pullChecks: PullChecks
  /** How old what is known of authors and of accounts that hold heads may be, in milliseconds: between two looks of the doorbell's. */
  lately(): number
  setLately(interval: () => number): void
}

export function createStores(ctx: ReadsContext): Stores {
  const { reader, now } = ctx
  const looks = createLooks(ctx)
  let interval = (): number => ctx.settings.noticeMs
  return {
    looks,
    sources: createSources({ reader, now }),
    queue: createCollection({ reader, now, collection: 'dev.knotless.queue', pick: ofKind.queue }),
    states: createCollection({ reader, now, collection: 'dev.knotless.state', pick: ofKind.state }),
    pulls: createCollection({ reader, now, collection: 'dev.knotless.pull', pick: ofKind.pull }),
    landers: createCollection({
      reader,
      now,
      collection: 'dev.knotless.lander',
      pick: record => (record.kind === 'lander' ? record.value : undefined),
    }),
    reruns: createCollection({
      reader,
      now,
      collection: 'dev.knotless.rerun',
      pick: record => (record.kind === 'rerun' ? record.value : undefined),
    }),
    pullChecks: createPullChecks({ reader, now }),
    lately: () => interval(),
    setLately(next) {
      interval = next
    },
  }
}

/** A key that no TID reaches: a read from there on covers nothing, and only adds. */
export const pastEveryKey = '~'
