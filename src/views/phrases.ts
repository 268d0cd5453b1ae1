import { plain } from '../queue/words/phrase.ts'
import { Html, html } from './html.ts'
import type { Account, Names, PhrasePart, Words } from './models.ts'
import { accountName, accountPath, repositoryName, repositoryPath } from './paths.ts'
import { rangeElement, timeElement } from './times.ts'

/** What parts of a sentence need to know to become links and times. */
export interface PhraseContext {
  now: number
  names: Names
  /** Path of a pull's page by its AT-URI; absent when the page does not know it. */
  pullHref(uri: string): string | undefined
}

/** An account as a link to its repositories, its name kept from turning the text around it. */
export function who(account: Account): Html {
  return html`<a href="${accountPath(account)}" class="who"><bdi>${accountName(account)}</bdi></a>`
}

function part(of: PhrasePart, context: PhraseContext): Html {
  if (typeof of === 'string') return html`${of}`
  if ('time' in of) return timeElement(of.time, of.form, context.now)
  if ('until' in of) return rangeElement(of.from, of.until, context.now)
  if ('code' in of) return html`<code>${of.code}</code>`
  if ('account' in of) return who({ did: of.account, handle: context.names(of.account) })
  if ('repo' in of) {
    const owner = { did: of.owner, handle: context.names(of.owner) }
    return html`<a href="${repositoryPath(owner, of.repo)}"><bdi>${repositoryName(owner, of.repo)}</bdi></a>`
  }
  const href = context.pullHref(of.pull)
  return href === undefined ? html`<bdi>${of.title}</bdi>` : html`<a href="${href}"><bdi>${of.title}</bdi></a>`
}

/** A sentence as markup. */
export function wordsHtml(words: Words, context: PhraseContext): Html {
  if (typeof words === 'string') return html`${words}`
  return new Html(words.map(each => part(each, context).markup).join(''))
}

/** A sentence as plain text, for titles and descriptions. */
export function wordsText(words: Words, now: number, names: Names = () => undefined): string {
  return typeof words === 'string' ? words : plain(words, now, names)
}
