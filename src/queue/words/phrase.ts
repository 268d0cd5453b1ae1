/**
 * Sentences in parts, so that a page can make `<time>`, links and monospace of them and everybody else plain text. Names are resolved and
 * times are said only when a phrase is read.
 */
import { rangeText } from './range.ts'

/** How a time is said: since then ("5 min ago"), as a span ("5 min"), as clock time, as a day, as both. */
export type TimeForm = 'ago' | 'for' | 'clock' | 'day' | 'full'

export type PhrasePart =
  | string
  /** In milliseconds since 1970. */
  | { readonly time: number; readonly form: TimeForm }
  /** When something is expected, in milliseconds since 1970: "in 8–10 min". */
  | { readonly from: number; readonly until: number }
  /** A commit, file, branch or command. */
  | { readonly code: string }
  /** A DID. */
  | { readonly account: string }
  /** A repository: its owner's DID and its key. */
  | { readonly owner: string; readonly repo: string }
  /** A pull's title as its author wrote it, and the pull's AT-URI. */
  | { readonly title: string; readonly pull: string }

export type Phrase = readonly PhrasePart[]

/** Gives the handle of a DID, where it resolves both ways. */
export type Names = (did: string) => string | undefined

/** Writes a phrase: strings, numbers, parts and other phrases go into the braces. */
export function say(words: TemplateStringsArray, ...values: readonly (PhrasePart | number | Phrase)[]): Phrase {
  const parts: PhrasePart[] = []
  const add = (part: PhrasePart) => {
    const last = parts.at(-1)
    if (part === '') return
    if (typeof part === 'string' && typeof last === 'string') parts[parts.length - 1] = last + part
    else parts.push(part)
  }
  for (const [i, text] of words.entries()) {
    add(text)
    const value = values[i]
    if (value === undefined) continue
    if (typeof value === 'number') add(`${value}`)
    else if (typeof value === 'string' || !isPhrase(value)) add(value)
    else for (const part of value) add(part)
  }
  return parts
}

/** Phrases one after the other, a space between them; empty ones are left out. */
export function join(...phrases: readonly (Phrase | undefined)[]): Phrase {
  return phrases.reduce<Phrase>((all, next) => {
    if (next === undefined || next.length === 0) return all
    return all.length === 0 ? next : say`${all} ${next}`
  }, [])
}

/** Text of an unknown writer on one line: controls, line ends and what turns text around as spaces. Joiners stay: letters and emoji are made with them. */
export function oneLine(text: string): string {
  return text.toWellFormed().replace(/[\p{Cc}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu, ' ')
}

/** A phrase as plain text on one line, long titles cut, times said from `now` (milliseconds since 1970) and in UTC. */
export function plain(phrase: Phrase, now: number, names: Names): string {
  const text = phrase
    .map(part => {
      if (typeof part === 'string') return part
      if ('code' in part) return part.code
      if ('account' in part) return names(part.account) ?? part.account
      if ('repo' in part) return `${names(part.owner) ?? part.owner}/${part.repo}`
      if ('title' in part) return cutTitle(part.title)
      if ('until' in part) return `in ${rangeText(part.from - now, part.until - now)}`
      return sayTime(part.time, part.form, now)
    })
    .join('')
  return oneLine(text)
}

/** The same with each title, cut as in plain text, in quotation marks. */
export function quoted(phrase: Phrase): Phrase {
  return phrase.map(part => (typeof part !== 'string' && 'title' in part ? `“${cutTitle(part.title)}”` : part))
}

const TITLE_GRAPHEMES = 60

/** A title as it is shown: one of blanks alone is none. Titles are bounded at 40,000 bytes by their lexicon; lists cut them by style. */
export function shownTitle(title: string | undefined): string {
  return title === undefined || title.trim() === '' ? 'Untitled' : title
}

/** A title where it is a part of something else, cut after 60 graphemes and never inside one. */
export function cutTitle(title: string): string {
  // A grapheme can be long, so the text is bounded before it is taken apart.
  const bounded = shownTitle(title).slice(0, 4000)
  const graphemes = [...new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(bounded)]
  if (graphemes.length <= TITLE_GRAPHEMES) return bounded
  const kept = graphemes.slice(0, TITLE_GRAPHEMES).map(part => part.segment)
  return `${kept.join('').trimEnd()}…`
}

/** The first seven letters of a commit. */
export function commit(id: string): PhrasePart {
  return { code: id.slice(0, 7) }
}

/** A file, branch or command, on one line: whoever named it may have put anything into it. */
export function code(text: string): PhrasePart {
  return { code: oneLine(text) }
}

/** An account, by its DID. */
export function who(did: string): PhrasePart {
  return { account: did }
}

/** How long ago that was, in words. */
export function ago(time: number): PhrasePart {
  return { time, form: 'ago' }
}

/** How long ago, as a span. */
export function lasting(time: number): PhrasePart {
  return { time, form: 'for' }
}

/** A clock time, with its day when that was not within the last 20 hours. */
export function clock(time: number, now: number): PhrasePart {
  return { time, form: Math.abs(now - time) < 20 * 3_600_000 ? 'clock' : 'full' }
}

/** A text as a sentence begins. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** The name of a repository: its owner and its key. */
export function repoName(owner: string, name: string): PhrasePart {
  return { owner, repo: name }
}

/** "1st", "2nd", "3rd", "11th", "21st". */
export function ordinal(n: number): string {
  const tens = n % 100
  if (tens >= 11 && tens <= 13) return `${n}th`
  return `${n}${['th', 'st', 'nd', 'rd'][n % 10] ?? 'th'}`
}

/** A place: "2nd of 5". */
export function place(position: number, length: number): string {
  return `${ordinal(position)} of ${length}`
}

/** A span of milliseconds: "40 s", "9 min", "2 h 22 min", "3 days". */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours >= 48) return `${Math.floor(hours / 24)} days`
  return hours >= 10 || minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
}

/** "1 pull", "2 pulls". */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`
}

/** "2 of 4 workflows have passed". */
export function passedOf(passed: number, of: number): string {
  return `${passed} of ${count(of, 'workflow')} ${passed === 1 || of === 1 ? 'has' : 'have'} passed`
}

/** The most bytes that a list inside a sentence takes; what is over is counted. */
const LIST_BYTES = 1500
const LIST_ITEMS = 8

/** A name longer than this is cut at its end. */
const NAME_LENGTH = 400

/** "a, b and c"; of long lists the first eight and "12 more". `more` counts what is not in `items` at all. */
export function list(items: readonly (PhrasePart | Phrase)[], more = 0): Phrase {
  const shown: Phrase[] = []
  let bytes = 0
  for (const item of items) {
    const phrase = (typeof item === 'string' || !isPhrase(item) ? [item] : item).map(cutName)
    bytes += weight(phrase)
    if (shown.length > 0 && (shown.length === LIST_ITEMS || bytes > LIST_BYTES)) break
    shown.push(phrase)
  }
  const left = items.length - shown.length + more
  if (left > 0) shown.push([`${left} more`])
  const last = shown.at(-1)
  if (last === undefined) return []
  if (shown.length === 1) return last
  const before = shown.slice(0, -1).reduce((all, next) => say`${all}, ${next}`)
  return say`${before} and ${last}`
}

function cutName(part: PhrasePart): PhrasePart {
  const cut = (text: string) => (text.length > NAME_LENGTH ? `${text.slice(0, NAME_LENGTH)}…` : text)
  if (typeof part === 'string') return cut(part)
  return 'code' in part ? { code: cut(part.code) } : part
}

function isPhrase(value: PhrasePart | Phrase): value is Phrase {
  return Array.isArray(value)
}

function weight(phrase: Phrase): number {
  return phrase.reduce<number>((sum, part) => sum + (typeof part === 'string' ? part.length : 'code' in part ? part.code.length : 64), 0)
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

function sayTime(time: number, form: TimeForm, now: number): string {
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) return 'at an unknown time'
  const day = `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()] ?? ''}`
  const hours = date.toISOString().slice(-13, -8)
  switch (form) {
    case 'ago':
      return `${span(now - time)} ago`
    case 'for':
      return span(now - time)
    case 'clock':
      return `${hours} UTC`
    case 'day':
      return `${day} ${date.getUTCFullYear()}`
    case 'full':
      return `${day}, ${hours} UTC`
  }
}
