/** One of each thing that whole pages say: titles, what is empty, how live a page is, errors. */

import * as words from '../../../src/queue/words/index.ts'
import { commit } from '../made-up.ts'
import { branch, carol, earlier, MINUTE, NOW, type Samples, title } from './samples-people.ts'

export const titles: Samples<words.TitleParts['key'], words.TitleParts> = {
  home: [{ key: 'home' }],
  repository: [{ key: 'repository', repo: 'alice.test/orchard' }],
  queue: [
    { key: 'queue', length: 12, branch, repo: 'alice.test/orchard' },
    { key: 'queue', length: 5, branch, repo: 'alice.test/orchard', ill: 'Stalled' },
  ],
  pull: [{ key: 'pull', standing: 'Queued, 8th of 12', title: title.title, repo: 'alice.test/orchard' }],
  batch: [{ key: 'batch', size: 4, label: 'Failed', branch, repo: 'alice.test/orchard' }],
  log: [{ key: 'log', workflow: 'test', label: 'Failed', size: 4, repo: 'alice.test/orchard' }],
  leave: [{ key: 'leave', title: title.title, repo: 'alice.test/orchard' }],
  login: [{ key: 'login' }],
  settings: [{ key: 'settings' }],
  'my-pulls': [{ key: 'my-pulls' }],
  help: [{ key: 'help' }],
}

export const empties: Samples<words.EmptyParts['key'], words.EmptyParts> = {
  queue: [{ key: 'queue', branch }],
  filtered: [
    { key: 'filtered', queued: 4 },
    { key: 'filtered', queued: 1 },
  ],
  ejected: [{ key: 'ejected' }],
  landed: [{ key: 'landed', branch }],
  flight: [{ key: 'flight' }],
  checks: [{ key: 'checks' }],
  pulls: [{ key: 'pulls', state: 'open' }],
  audit: [{ key: 'audit' }],
  repos: [
    { key: 'repos', query: 'orchrad' },
    { key: 'repos', query: '' },
  ],
  'repos-of': [{ key: 'repos-of', owner: carol }],
  'my-pulls': [
    { key: 'my-pulls', state: 'open' },
    { key: 'my-pulls', state: 'closed' },
    { key: 'my-pulls', state: 'merged' },
  ],
  stats: [{ key: 'stats' }],
  ill: [{ key: 'ill' }],
  activity: [{ key: 'activity' }],
}

export const lives: Samples<words.LiveParts['key'], words.LiveParts> = {
  stale: [{ key: 'stale', at: earlier(2), now: NOW }],
  news: [{ key: 'news', at: earlier(1), now: NOW, sentence: ['carol.test queued a pull.'], waiting: 7 }],
  'pull-news': [
    { key: 'pull-news', at: earlier(1), now: NOW, sentence: ['bob.test queued it'] },
    { key: 'pull-news', at: earlier(1), now: NOW, sentence: ['Ejected: Its batch failed. Push a fix.'] },
  ],
  'new-row': [{ key: 'new-row' }],
  'moved-row': [{ key: 'moved-row', from: words.ordinal(10) }],
  yours: [
    {
      key: 'yours',
      pulls: [
        { title, position: 1, length: 12, in: 'landing' },
        { title, position: 2, length: 12, in: 'checked', lands: { from: NOW + 8 * MINUTE, until: NOW + 10 * MINUTE } },
        { title, position: 3, length: 12, in: 'ahead' },
        { title, position: 8, length: 12, lands: { from: NOW + 30 * MINUTE, until: NOW + 38 * MINUTE } },
        { title, position: 9, length: 12 },
      ],
      more: 0,
    },
    { key: 'yours', pulls: [{ title, position: 8, length: 12 }], more: 4 },
  ],
  'no-script': [{ key: 'no-script' }],
  unanswered: [{ key: 'unanswered' }],
  full: [{ key: 'full' }],
  'full-stream': [{ key: 'full-stream', seconds: 30 }],
}

export const errors: Samples<'404' | '500', words.ErrorParts> = {
  404: [{ status: 404 }, { status: 404, lookedFor: 'repository alice.test/orchrad' }],
  500: [{ status: 500, id: commit(7).slice(-8) }],
}
