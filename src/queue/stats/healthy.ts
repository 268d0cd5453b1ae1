/** What is commonly called healthy, and how figures stand to it (REA-3). */
import type { Figures } from './figures.ts'

const MINUTE = 60_000

/** The bounds: spans in minutes, parts of one. */
export const healthy = { medianMinutes: 30, p95Minutes: 60, ejected: 0.05, passed: 0.8 } as const

/** Within the bound, near it, or far from it. */
export type Judgement = 'healthy' | 'near' | 'far'

export interface Judgements {
  median?: Judgement | undefined
  p95?: Judgement | undefined
  ejected?: Judgement | undefined
  passed?: Judgement | undefined
}

/** How a span's figures stand to the bounds; absent where there is nothing to judge. */
export function judgeFigures(figures: Figures): Judgements {
  const { medianMs, p95Ms } = figures
  const ejected = ejectedPart(figures)
  const passed = passedPart(figures)
  return {
    median: medianMs === undefined ? undefined : judged(medianMs < healthy.medianMinutes * MINUTE, medianMs < 45 * MINUTE),
    p95: p95Ms === undefined ? undefined : judged(p95Ms < healthy.p95Minutes * MINUTE, p95Ms < 90 * MINUTE),
    ejected: ejected === undefined ? undefined : judged(ejected <= healthy.ejected, ejected <= 0.1),
    passed: passed === undefined ? undefined : judged(passed > healthy.passed, passed > 0.7),
  }
}

/** Ejections over queueings, as a part of one; undefined when nothing was queued. */
export function ejectedPart({ ejections, queued }: Figures): number | undefined {
  return queued === 0 ? undefined : ejections / queued
}

/** Batches that passed of those that ended, as a part of one; undefined when none ended. */
export function passedPart({ batchesPassed, batchesEnded }: Figures): number | undefined {
  return batchesEnded === 0 ? undefined : batchesPassed / batchesEnded
}

function judged(within: boolean, near: boolean): Judgement {
  return within ? 'healthy' : near ? 'near' : 'far'
}
