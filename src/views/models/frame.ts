import type { Account, Names } from './words.ts'

/** What every page takes. */
export interface Frame {
  /** Title without the product's name, as `titleWords` makes it. */
  title: string
  /** One sentence for search engines and Open Graph. */
  description: string
  /** Whoever is logged in. */
  viewer?: Account | undefined
  /** The token for forms and for requests by htmx. */
  csrf: string
  /** The server's clock in milliseconds since 1970: all times on the page are said from it. */
  now: number
  /** Handles of the accounts that sentences on this page name; an account that it does not know is shown as its DID. */
  names?: Names | undefined
  /** This page's path with its query: where a log-in comes back to. Begins with one slash. */
  path: string
  /** The product's version, for the footer. */
  version: string
  /** Path of the XRPC answer with the same data. */
  alternateJson?: string | undefined
  /** What happens here as an Atom feed: its path, and what it is of. */
  feed?: { href: string; title: string } | undefined
  /** This page's own address, whole and without what only changes how it is shown. */
  url?: string | undefined
  /** Path of this page's event stream; absent for pages that do not change while one looks. */
  live?: string | undefined
  /** Seconds after which the page reloads, when the reader chose so without scripts (`?every=30`). */
  every?: number | undefined
}

/** The repository that a page belongs to: for crumbs and tabs. */
export interface RepoHead {
  uri: string
  owner: Account
  name: string
  defaultBranch: string
  /** How many are queued on the default branch. */
  queued: number
}

/** A page of a longer list: rows `from` to `to` of `of`, counted from 1 and said only where `of` is known; hrefs of its neighbours. */
export interface Paging {
  from: number
  to: number
  /** Absent where counting all would cost too much. */
  of?: number | undefined
  earlier?: string | undefined
  later?: string | undefined
}
