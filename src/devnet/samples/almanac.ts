import type { SampleCommit } from './history.ts'
import { alice, bob, type SamplePull } from './people.ts'

/** What the repository's record says of it. It names no runners: its pulls are merged by hand. */
export const almanacDescription = 'What is due in the orchard, month by month.'

export const almanacCommits: readonly SampleCommit[] = [
  {
    folder: 'almanac/1-months',
    branch: 'main',
    author: alice,
    date: '2026-11-03T19:00:00Z',
    message: 'January and February',
  },
  {
    folder: 'almanac/2-march',
    branch: 'main',
    parent: 'almanac/1-months',
    author: alice,
    date: '2026-11-10T19:20:00Z',
    message: 'March',
  },
  {
    folder: 'almanac/grafting',
    branch: 'grafting',
    parent: 'almanac/2-march',
    author: bob,
    date: '2026-11-27T18:05:00Z',
    message: 'March: when to graft, and how',
  },
]

export const almanacPulls: readonly SamplePull[] = [
  {
    branch: 'grafting',
    author: 'bob',
    fork: false,
    title: 'March: when to graft, and how',
    body: 'Whip and tongue for what is as thick as a pencil, bark grafts for old trunks.',
  },
]
