/** What pages, queries and git over HTTP read from the index. Every function here answers in one step and sees one state of the database. */
export { type FigureFactsQuery, figureFactsOf, figuresOf, titlesOf } from './history/figures.ts'
export { historyOf, type KeptBatchView, keptBatchesAt } from './history/read.ts'
export { statsFacts } from './history/stats-facts.ts'
export { type CacheOptions, createRepositoryCache, type RepositoryCache, type VersionedView } from './read/cache.ts'
export { type LoadedFacts, loadFacts, loadPastFacts, loadPullFacts, versionOf } from './read/facts.ts'
export { mayPass } from './read/git-facts.ts'
export { openIssuesOf } from './read/open-issues.ts'
export { issuesOf, type Page, pageChecks, pagePulls, pagePullsOf } from './read/pages.ts'
export {
  countRepositories,
  didOfHandle,
  findRepository,
  handlesOf,
  listRepositories,
  type RepositoryPage,
  type RepositoryRow,
} from './read/repositories.ts'
export { checkAt, ignoredCounts, type MirrorState, mirrorStateOf, recordAt } from './read/single.ts'
export { statesBy } from './read/states-by.ts'
