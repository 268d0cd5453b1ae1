import type { SampleCommit } from './history.ts'
import { alice, bob, carol, type SamplePull } from './people.ts'

/** The issue that one of the pulls closes. */
export const orchardIssue = {
  title: 'Which of these is the Jonagold?',
  body: 'The picking list says `#4` and `#5`. On a cold morning nobody wants to read numbers: could it say what stands there?',
}

/** What the repository's record says of it. */
export const orchardDescription = 'Plans an orchard: which tree goes where, when it was grafted, what it bore.'

/** The history of the default branch, then a commit for each pull, made on it where it was then. */
export const orchardCommits: readonly SampleCommit[] = [
  ...mainCommits(),
  pull('label-variety', alice, '2026-11-24T07:40:00Z', 'Label trees by variety as well as by number'),
  pull('frost-two-degrees', bob, '2026-11-24T09:05:00Z', 'Warn of frost from two degrees down'),
  pull('harvest-pounds', bob, '2026-11-24T10:30:00Z', 'Show harvest weights in pounds'),
  pull('rename-spacing', alice, '2026-11-25T08:10:00Z', 'Call spacing what it is: decimetres'),
  pull('hedge-rows', bob, '2026-11-25T08:55:00Z', 'Plan hedges'),
  pull('water-young-trees', alice, '2026-11-25T14:20:00Z', 'Water young trees more'),
  pull('water-after-rain', bob, '2026-11-26T07:15:00Z', 'Water less after rain'),
  pull('rootstock-feet', bob, '2026-11-20T16:00:00Z', 'Rootstocks: say how high in feet', 'orchard/4-frost'),
  pull('csv-semicolons', carol, '2026-11-26T11:45:00Z', 'CSV import: accept semicolons as separators'),
]

/**
 * The open pulls: two that pass (one of them closes the issue), one that fails alone, a pair that fails only together, a pair in conflict with one
 * another, one in conflict with the default branch, one from a fork. `issue` is how the issue is named.
 */
export function orchardPulls(issue: string): readonly SamplePull[] {
  return [
    {
      branch: 'label-variety',
      author: 'alice',
      fork: false,
      title: 'Label trees by variety as well as by number',
      body: `The picking list now says \`#4 Jonagold\` rather than \`#4\`.\n\n- number first, so that the list still sorts\n- names cut at eight letters\n- no change to what is stored\n\nFixes ${issue}`,
    },
    {
      branch: 'frost-two-degrees',
      author: 'bob',
      fork: false,
      title: 'Warn of frost from two degrees down',
      body: 'Cold air lies lower than the thermometer hangs. Last spring we lost blossom at one degree.',
    },
    {
      branch: 'harvest-pounds',
      author: 'bob',
      fork: false,
      title: 'Show harvest weights in pounds where people expect pounds',
      body: 'The visitors from overseas asked for it.\n\n(Fails alone, in its `check` already: a line of the table has no pounds.)',
    },
    {
      branch: 'rename-spacing',
      author: 'alice',
      fork: false,
      title: 'Rename spacing_of to spacing_dm',
      body: 'So that nobody takes decimetres for centimetres again. Every caller is changed.\n\n(Passes alone, and fails together with “Plan hedges”, which calls it by its old name.)',
    },
    {
      branch: 'hedge-rows',
      author: 'bob',
      fork: false,
      title: 'Plan hedges: rows in which the trees stand twice as close',
      body: 'For the north wall.\n\n(Passes alone, and fails together with “Rename spacing_of to spacing_dm”.)',
    },
    {
      branch: 'water-young-trees',
      author: 'alice',
      fork: false,
      title: 'Water young trees more in their first summers',
      body: 'Three of last year’s five quinces dried out.\n\n(In conflict with “Water less after rain”: whichever comes second has to be merged by hand.)',
    },
    {
      branch: 'water-after-rain',
      author: 'bob',
      fork: false,
      title: 'Water less after rain',
      body: 'What fell as rain need not come from the well.\n\n(In conflict with “Water young trees more in their first summers”.)',
    },
    {
      branch: 'rootstock-feet',
      author: 'bob',
      fork: false,
      title: 'Rootstocks: say how high they grow, in feet',
      body: 'For the nursery’s customers.\n\n(In conflict with `main`, where the same table has got heights in metres since.)',
    },
    {
      branch: 'csv-semicolons',
      author: 'carol',
      fork: true,
      title: 'CSV import: accept semicolons as separators',
      body: 'Spreadsheets in half of Europe write them. From my fork, with a test.',
    },
  ]
}

function mainCommits(): SampleCommit[] {
  const steps: Array<[folder: string, author: SampleCommit['author'], date: string, message: string]> = [
    ['1-trees', alice, '2026-11-02T08:15:00Z', 'Trees, rows and the room between them'],
    ['2-harvest', alice, '2026-11-05T17:30:00Z', 'Harvests, water, and lists from other programs'],
    ['3-workflows', bob, '2026-11-09T09:00:00Z', 'Check every pull before it lands'],
    ['4-frost', bob, '2026-11-16T06:50:00Z', 'Say when the blossom is in danger\n\nAnd list the rootstocks.'],
    ['5-rootstocks', alice, '2026-11-23T15:10:00Z', 'Rootstocks: how high each grows, in metres'],
  ]
  return steps.map(([folder, author, date, message], at) => {
    const before = steps[at - 1]
    return {
      folder: `orchard/${folder}`,
      branch: 'main',
      ...(before === undefined ? {} : { parent: `orchard/${before[0]}` }),
      author,
      date,
      message,
    }
  })
}

function pull(name: string, author: SampleCommit['author'], date: string, message: string, parent = 'orchard/5-rootstocks'): SampleCommit {
  return { folder: `orchard/${name}`, branch: name, parent, author, date, message }
}
