import { type Did, parseAtUri, parseDid, parseRecordKey, repoUri } from '../../atproto/ids.ts'
import { isRefName, refName } from '../../git/ref-names.ts'
import type { RepoEdit } from '../../queue/repo-edit.ts'
import type { RuleEdit } from '../../queue/repo-edit-rules.ts'
import * as words from '../../queue/words/repo-settings.ts'
import { findAccount } from '../auth/find-account.ts'
import type { Context } from '../context.ts'
import type { Refusal } from '../refusals.ts'
import type { FoundNames } from './repo-settings-names.ts'

/** Each form of the page, by the last part of its address. */
export const formNames = [
  'general',
  'add-runner',
  'remove-runner',
  'move-runner',
  'add-collaborator',
  'remove-collaborator',
  'void',
  'protection',
  'gateway',
  'offer',
  'take-back',
] as const
export type FormName = (typeof formNames)[number]

/** What a form sent, as it was typed. */
export type Sent = Readonly<Record<string, string>>

export const sentForm = {
  type: 'object',
  additionalProperties: { type: 'string', maxLength: 40_000 },
  maxProperties: 600,
} as const

const MOST_DESCRIPTION = 3_000
const MOST_ROWS = 130

type Parsed = { ok: true; edit: RepoEdit } | { ok: false; refusal: words.SettingsRefusal }

export interface FormContext extends Pick<Context, 'identity' | 'config'> {
  owner: Did
  found: FoundNames
  /** Whether the repository has such a branch, as far as is known. */
  hasBranch(branch: string): boolean
}

/** The edit that a form asks for, its names resolved to accounts. A refusal leaves all as it was typed. */
export async function parseForm(ctx: FormContext, form: FormName, sent: Sent): Promise<Parsed> {
  switch (form) {
    case 'general':
      return parseGeneral(ctx, sent)
    case 'add-runner':
    case 'add-collaborator': {
      const found = await findNamed(ctx, 'Not added', sent.handle)
      if (!found.ok) return found
      return { ok: true, edit: { about: 'add', role: roleOf(form), did: found.did, was: listOf(sent.was) } }
    }
    case 'remove-runner':
    case 'remove-collaborator': {
      const did = parseDid(sent.did)
      return did === undefined ? incomplete() : { ok: true, edit: { about: 'remove', role: roleOf(form), did, was: listOf(sent.was) } }
    }
    case 'move-runner': {
      const { did, neighbour, up } = sent
      return did === undefined || neighbour === undefined
        ? incomplete()
        : { ok: true, edit: { about: 'move', did, neighbour, up: up === '1' } }
    }
    case 'void':
      return sent.did === undefined ? incomplete() : { ok: true, edit: { about: 'void', did: sent.did, was: sent.was ?? '' } }
    case 'protection':
      return parseRules(sent)
    case 'gateway':
      return parseGateway(ctx, sent)
    case 'offer':
      return parseOffer(ctx, sent)
    case 'take-back':
      return { ok: true, edit: { about: 'transfer', to: undefined, was: sent.to === undefined ? undefined : { to: sent.to } } }
  }
}

function parseGeneral(ctx: FormContext, sent: Sent): Parsed {
  const { defaultBranch, wasDescription, wasBranch } = sent
  if (sent.description === undefined || defaultBranch === undefined) return incomplete()
  const description = unixLines(sent.description)
  const bytes = Buffer.byteLength(description)
  if (bytes > MOST_DESCRIPTION) return { ok: false, refusal: words.tooLong(bytes, MOST_DESCRIPTION) }
  if (defaultBranch !== wasBranch) {
    if (!isRefName(refName(defaultBranch))) return { ok: false, refusal: words.badBranch(defaultBranch) }
    if (!ctx.hasBranch(defaultBranch)) return { ok: false, refusal: words.noSuchBranch(defaultBranch) }
  }
  const was =
    wasDescription === undefined || wasBranch === undefined
      ? undefined
      : { description: unixLines(wasDescription), defaultBranch: wasBranch }
  return { ok: true, edit: { about: 'general', description, defaultBranch, was } }
}

/** Rows by number, and one more for a branch that has none yet. */
function parseRules(sent: Sent): Parsed {
  const rules: RuleEdit[] = []
  for (let n = 0; n < MOST_ROWS; n++) {
    const branch = sent[`branch-${n}`]
    if (branch === undefined) continue
    rules.push({ branch, ...flagsOf(sent, `${n}`), was: readFlags(sent[`was-${n}`]) })
  }
  const added = sent['branch-new']?.trim() ?? ''
  if (added !== '') {
    if (!isRefName(refName(added))) return { ok: false, refusal: words.badBranch(added) }
    if (!rules.some(rule => rule.branch === added)) {
      rules.push({ branch: added, ...flagsOf(sent, 'new'), was: { queueOnly: false, pinned: false } })
    }
  }
  return rules.length === 0 ? incomplete() : { ok: true, edit: { about: 'protection', rules } }
}

function flagsOf(sent: Sent, row: string): { queueOnly: boolean; pinned: boolean } {
  return { queueOnly: sent[`queue-${row}`] === '1', pinned: sent[`pinned-${row}`] === '1' }
}

/** A rule in two letters, as a form carries what it was made from. */
export function writeFlags(rule: { queueOnly: boolean; pinned: boolean }): string {
  return `${rule.queueOnly ? 'q' : '-'}${rule.pinned ? 'p' : '-'}`
}

function readFlags(text: string | undefined): { queueOnly: boolean; pinned: boolean } | undefined {
  return text === undefined || !/^[q-][p-]$/.test(text) ? undefined : { queueOnly: text[0] === 'q', pinned: text[1] === 'p' }
}

function parseGateway(ctx: FormContext, sent: Sent): Parsed {
  const was = sent.was === undefined ? undefined : { gateway: sent.was === '' ? undefined : sent.was }
  if (sent.gateway === 'none') return { ok: true, edit: { about: 'gateway', gateway: undefined, was } }
  if (sent.gateway !== 'this' && sent.gateway !== 'other') return incomplete()
  const text = sent.gateway === 'this' ? ctx.config.did : (sent.did ?? '').trim()
  const gateway = parseDid(text)
  return gateway === undefined ? { ok: false, refusal: words.badGateway(text) } : { ok: true, edit: { about: 'gateway', gateway, was } }
}

async function parseOffer(ctx: FormContext, sent: Sent): Promise<Parsed> {
  const name = parseRecordKey((sent.name ?? '').trim())
  if (name === undefined) return { ok: false, refusal: words.badName(sent.name ?? '') }
  const found = await findNamed(ctx, 'Not offered', sent.handle)
  if (!found.ok) return found
  if (found.did === ctx.owner) return { ok: false, refusal: words.toOneself() }
  return { ok: true, edit: { about: 'transfer', to: repoUri(found.did, name), was: { to: sent.was === '' ? undefined : sent.was } } }
}

async function findNamed(
  ctx: FormContext,
  lead: string,
  typed: string | undefined,
): Promise<{ ok: true; did: Did } | { ok: false; refusal: words.SettingsRefusal }> {
  const found = await findAccount(ctx, typed ?? '')
  if (!found.ok) return { ok: false, refusal: notFound(lead, found.refusal) }
  const { did, handle } = found.account
  if (handle !== undefined) ctx.found.add(did, handle)
  return { ok: true, did }
}

function notFound(lead: string, refusal: Refusal): words.SettingsRefusal {
  const { code, message, advice } = refusal
  return words.notFound(lead, { code, message, advice })
}

function incomplete(): { ok: false; refusal: words.SettingsRefusal } {
  return { ok: false, refusal: words.nothingAsked() }
}

function roleOf(form: FormName): 'runner' | 'collaborator' {
  return form.endsWith('-runner') ? 'runner' : 'collaborator'
}

function listOf(text: string | undefined): readonly string[] | undefined {
  return text?.split(' ').filter(did => did !== '')
}

/** Browsers send the line ends of a text as two characters. */
function unixLines(text: string): string {
  return text.replaceAll('\r\n', '\n')
}

/** The repository and account of an address such as `transferredTo` holds; undefined for another text. */
export function repoAt(uri: string | undefined): { owner: Did; name: string } | undefined {
  const address = parseAtUri(uri)
  return address?.collection === 'dev.knotless.repo' ? { owner: address.did, name: address.rkey } : undefined
}
