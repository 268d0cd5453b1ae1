/** An Atom feed (RFC 4287) as text. */
import { escapeText } from './html.ts'
import { clip } from './titles.ts'

/** The longest texts of an entry, in graphemes. */
const TITLE = 200
const SUMMARY = 1_000

export interface FeedEntry {
  /** An IRI that stays, wherever the feed is served from. */
  id: string
  title: string
  summary: string
  /** When it happened, and when something was last added to it, in milliseconds since 1970. */
  at: number
  updated: number
  /** Whole address of the page that says more. */
  href: string
  /** Whoever did it. */
  by: string
}

export interface Feed {
  id: string
  title: string
  /** Whole addresses of the feed and of the page that it is of. */
  self: string
  page: string
  /** Whose feed it is: each entry has an author of its own, a feed without entries has this one. */
  author: string
  /** In milliseconds since 1970. */
  updated: number
  /** Newest first. */
  entries: readonly FeedEntry[]
}

/** Writes it. Everything given is text; what XML cannot hold is made visible as U+FFFD. */
export function atomFeed(feed: Feed): string {
  const entries = feed.entries.map(
    ({ id, title, summary, at, updated, href, by }) => `  <entry>
    <id>${escapeText(id)}</id>
    <title>${escapeText(clip(title, TITLE))}</title>
    <published>${iso(at)}</published>
    <updated>${iso(updated)}</updated>
    <author><name>${escapeText(by)}</name></author>
    <link rel="alternate" type="text/html" href="${escapeText(href)}"/>
    <summary>${escapeText(clip(summary, SUMMARY))}</summary>
  </entry>
`,
  )
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
  <id>${escapeText(feed.id)}</id>
  <title>${escapeText(feed.title)}</title>
  <updated>${iso(feed.updated)}</updated>
  <author><name>${escapeText(feed.author)}</name></author>
  <link rel="self" type="application/atom+xml" href="${escapeText(feed.self)}"/>
  <link rel="alternate" type="text/html" href="${escapeText(feed.page)}"/>
${entries.join('')}</feed>
`
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}
