import { DAY, dayOf, type FigureFacts, spanFigures, spanStart } from '../../src/queue/stats/figures.ts'
import type { EjectedFor, QueueEvent } from '../../src/queue/stats/story.ts'
import { dropWords } from '../../src/queue/words/runner.ts'
import { landingWords } from '../../src/queue/words/stats.ts'
import { type StatsQuery, statsPageOf } from '../../src/server/pages/stats-model.ts'
import type { StatsPage } from '../../src/views/models.ts'
import { alice, frame, gardener, hostile, nameless, now, orchard, pull } from './sample.ts'

const MINUTE = 60_000
const kinds: readonly EjectedFor[] = ['checks', 'conflict', 'preflight', 'branch-gone', 'other']

/** A month with weekends, a bad week and a day on which nothing happened. */
function facts(days: number): FigureFacts {
  const from = spanStart(now, days)
  const events: QueueEvent[] = []
  const batches: FigureFacts['batches'][number][] = []
  const runs: FigureFacts['runs'][number][] = []
  for (let day = 0; day < days; day++) {
    const noon = from + day * DAY + 12 * 60 * MINUTE
    const isBad = day % 30 > 16 && day % 30 < 20
    const landings = day % 7 === 6 ? 0 : 6 + ((day * 5) % 13)
    for (let n = 0; n < landings; n++) {
      const about = { pull: pull(`${n}`).uri, branch: 'main' }
      events.push({ ...about, kind: 'queued', at: noon + n })
      events.push({ ...about, kind: 'landed', at: noon + n * MINUTE, waitedMs: (isBad ? 40 : 12) * MINUTE + n * 4 * MINUTE })
      if (n % (isBad ? 2 : 7) === 3) events.push({ ...about, kind: 'ejected', at: noon + n, why: kinds[(n + day) % 5] ?? 'other' })
    }
    for (let n = 0; n < landings / 2; n++) {
      const outcome = n % (isBad ? 2 : 8) === 1 ? 'failed' : 'passed'
      batches.push({ branch: 'main', outcome, endedAt: noon + n, longestMs: (9 + ((n * day) % 6)) * MINUTE })
      if (outcome === 'failed') {
        const cause = dropWords(day % 3 === 0 ? 'branch-moved' : 'batch-failed')
        runs.push({ branch: 'main', workflow: 'test', state: 'cancelled', cause, endedAt: noon, retried: [] })
      }
    }
    if (day % 4 === 0)
      runs.push({ branch: 'main', workflow: 'test', state: 'passed', endedAt: noon, retried: ['core > Orchard > grafts twice'] })
  }
  return { events, batches, runs }
}

function statsPage(asked: StatsQuery, of: FigureFacts, more: Partial<Parameters<typeof statsPageOf>[0]> = {}): StatsPage {
  const { days = 30 } = asked
  const figures = spanFigures(of, spanStart(now, days), days)
  const base = '/alice.test/orchard/stats'
  const compare = { day: '', today: dayOf(now), hidden: [] }
  const model = statsPageOf({ head: orchard, asked, branches: ['main', 'release/1.0'], figures, compare, base, now, ...more })
  return { ...model, frame: frame({ title: `Stats, ${days} days · alice.test/orchard`, description: 'How the queue did.', path: base }) }
}

/** The Stats page: a month, a quarter with a day's pulls and a comparison, nothing at all, and what strangers type. */
export function statsPages(): Record<string, StatsPage> {
  const month = statsPage({}, facts(30))
  const day = {
    day: now - DAY,
    groups: [
      {
        name: landingWords.landed,
        landed: true,
        pulls: [
          { uri: pull('x').uri, title: 'Draw espaliers along a wire', author: alice, at: now - DAY, waited: '24 min' },
          { uri: pull('y').uri, author: nameless, at: now - DAY },
        ],
        more: 3,
      },
    ],
  }
  const rows = month.figures.map(({ name, value }) => ({ name, before: value, since: value }))
  const compare = {
    ...month.compare,
    day: dayOf(now - DAY),
    heads: { before: '90 days before', since: '2 days from 29 Nov 2026 on' },
    rows,
  }
  return {
    stats: month,
    'stats-day': statsPage({ days: 90, branch: 'main', day: dayOf(now - DAY) }, facts(90), { day, compare }),
    'stats-none': statsPage({ days: 7 }, { events: [], batches: [], runs: [] }, { branches: ['main'] }),
    'stats-hostile': statsPage(
      { branch: hostile.name },
      {
        ...facts(30),
        runs: [
          {
            branch: 'main',
            workflow: hostile.attribute,
            state: 'passed',
            endedAt: now,
            retried: [hostile.script, hostile.long.slice(0, 300)],
          },
        ],
      },
      {
        branches: [hostile.name, hostile.attribute],
        day: {
          day: now,
          groups: [
            {
              name: landingWords.other,
              landed: false,
              pulls: [{ uri: pull('x').uri, title: hostile.script, author: gardener, at: now }],
              more: 0,
            },
          ],
        },
      },
    ),
  }
}
