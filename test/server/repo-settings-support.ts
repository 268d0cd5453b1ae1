import assert from 'node:assert/strict'
import type { DevAccount } from '../../src/devnet/account.ts'
import { logIn, openSignIn } from './log-in.ts'
import type { Served } from './serve.ts'
import { type Answer, tokenOn, Visitor } from './visitor.ts'

/** A form on a page: where it is sent, and its fields as they stand. */
export interface PageForm {
  action: string
  fields: Record<string, string>
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
  '#34': '"',
  '#38': '&',
  '#60': '<',
  '#62': '>',
}

function text(html: string): string {
  return html.replace(/&(#?\w+);/g, (all, name: string) => entities[name] ?? all)
}

function attribute(tag: string, name: string): string | undefined {
  const found = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1]
  return found === undefined ? undefined : text(found)
}

/** Every form of a page, with what a browser would send if nothing was typed. */
export function formsOn(page: string): PageForm[] {
  return [...page.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)].map(([, head = '', body = '']) => {
    const fields: Record<string, string> = {}
    for (const [tag] of body.matchAll(/<input\b[^>]*>/g)) {
      const name = attribute(tag, 'name')
      const off = /type="(checkbox|radio)"/.test(tag) && !/\schecked\b/.test(tag)
      if (name !== undefined && !off) fields[name] = attribute(tag, 'value') ?? ''
    }
    for (const [, tag = '', value = ''] of body.matchAll(/<textarea\b([^>]*)>\n?(.*?)<\/textarea>/gs)) {
      fields[attribute(` ${tag}`, 'name') ?? ''] = text(value)
    }
    for (const [, tag = '', options = ''] of body.matchAll(/<select\b([^>]*)>(.*?)<\/select>/gs)) {
      fields[attribute(` ${tag}`, 'name') ?? ''] = text(/<option selected>([^<]*)</.exec(options)?.[1] ?? '')
    }
    return { action: attribute(head, 'action') ?? '', fields }
  })
}

/** The form of this name; with `of` the one that has these fields. */
export function formOn(page: string, name: string, of: Record<string, string> = {}): PageForm {
  const found = formsOn(page).find(
    form => form.action.endsWith(`/settings/${name}`) && Object.entries(of).every(([field, value]) => form.fields[field] === value),
  )
  assert(found !== undefined, `no form ${name} on the page`)
  return found
}

/** What a page says of what went wrong. */
export function alertOn(page: string): string {
  const found = /role="alert".*?<p>(.*?)<\/p>/s.exec(page)?.[1] ?? ''
  return plain(found)
}

/** A page's words, without its markup. */
export function plain(html: string): string {
  return text(html.replace(/<[^>]*>/g, ''))
    .replace(/\s+/g, ' ')
    .trim()
}

/** An owner at their settings, without script. */
export interface Editor {
  visitor: Visitor
  page(path: string): Promise<Answer>
  /** Sends a form that is on a page, with these fields in place of what stands there. */
  send(page: Answer, name: string, change?: Record<string, string>, of?: Record<string, string>): Promise<Answer>
  /** Opens the page, sends the form, and gives the answer. */
  edit(path: string, name: string, change?: Record<string, string>, of?: Record<string, string>): Promise<Answer>
}

/** Somebody who is logged in, in a browser of their own. */
export async function editorAs(server: Served, account: DevAccount): Promise<Editor> {
  const visitor = new Visitor()
  await logIn(visitor, server.url, account)
  const page = (path: string) => visitor.get(`${server.url}${path}`)
  const send: Editor['send'] = (answer, name, change = {}, of = {}) => {
    const { action, fields } = formOn(answer.text, name, of)
    return visitor.post(`${server.url}${action}`, { ...fields, ...change })
  }
  return { visitor, page, send, edit: async (path, name, change, of) => send(await page(path), name, change, of) }
}

/** The address that leads to the account's server for the right to write. */
export function rightHref(page: string): string {
  const href = /href="(\/login\/start[^"]*)"/.exec(page)?.[1]
  assert(href !== undefined, 'the page asks for no right')
  return text(href)
}

/** Grants the right to write, from a page that asks for it. Gives the answer of the way back. */
export async function grantRight(server: Served, editor: Editor, account: DevAccount, page: string): Promise<Answer> {
  const started = await editor.visitor.get(`${server.url}${rightHref(page)}`, { headers: { 'sec-fetch-site': 'same-origin' } })
  const signIn = await openSignIn(editor.visitor, started.headers.location ?? '', account)
  return editor.visitor.get(await signIn.authorize(), { headers: { 'sec-fetch-site': 'cross-site' } })
}

/** Logged in with the right to write. */
export async function writerAs(server: Served, account: DevAccount, path: string): Promise<Editor> {
  const editor = await editorAs(server, account)
  const page = await editor.page(path)
  if (page.text.includes('asks=repository')) await grantRight(server, editor, account, page.text)
  return editor
}

/** The token of a page's forms. */
export { tokenOn }
