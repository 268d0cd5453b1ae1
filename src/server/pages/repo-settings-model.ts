import type { FastifyRequest } from 'fastify'
import type { Did } from '../../atproto/ids.ts'
import type { RepoRecord, Stored } from '../../queue/facts.ts'
import { landerLife } from '../../queue/lander-life.ts'
import { formerOf } from '../../queue/repo-edit-people.ts'
import { doubledRules } from '../../queue/repo-edit-rules.ts'
import { readRoles, readRules } from '../../queue/roles.ts'
import { tidMillis } from '../../queue/tid.ts'
import type { Names } from '../../queue/words/phrase.ts'
import * as says from '../../queue/words/repo-settings-page.ts'
import type { Account, FormBase, RepoSettingsPage, RuleRow, SettingsSection, Typed } from '../../views/models.ts'
import { repositoryName, repositoryPath, withQuery } from '../../views/paths.ts'
import { answerContext } from '../answer-context.ts'
import { frameOf } from '../http/frame.ts'
import type { PageContext } from './context.ts'
import type { Located } from './locate.ts'
import { type FormName, repoAt, type Sent, writeFlags } from './repo-settings-forms.ts'
import type { FoundNames } from './repo-settings-names.ts'

/** The part of the page that each form belongs to. */
export const sectionOf: Readonly<Record<FormName, SettingsSection>> = {
  general: 'general',
  'add-runner': 'runners',
  'remove-runner': 'runners',
  'move-runner': 'runners',
  'add-collaborator': 'collaborators',
  'remove-collaborator': 'collaborators',
  void: 'former',
  protection: 'protection',
  gateway: 'gateway',
  offer: 'transfer',
  'take-back': 'transfer',
}

/** What a page is made of: the record that its forms are made from, and what was typed where a form is shown again. */
export interface SettingsInput {
  at: Located
  owner: Did
  record: Stored<RepoRecord>
  /** The record is the index's, since its source does not answer. */
  old: boolean
  found: FoundNames
  /** A form that is shown again. `anew` takes what it is made from afresh: what stands there now was just said. */
  typed?: { form: FormName; sent: Sent; anew: boolean } | undefined
  more: Pick<RepoSettingsPage, 'right' | 'kept' | 'said'>
}

/** The model of Repository settings. */
export function settingsModel(ctx: PageContext, request: FastifyRequest, input: SettingsInput): RepoSettingsPage {
  const { at, owner, record } = input
  const { value } = record
  const names: Names = did => at.names(did) ?? input.found.of(did)
  const account = (did: string): Account => ({ did, handle: names(did) })
  const typedIn = (form: FormName): Typed | undefined => (input.typed?.form === form ? input.typed.sent : undefined)
  const base = (form: FormName, was: Record<string, string>): FormBase => {
    const sent = input.typed?.anew === true ? undefined : typedIn(form)
    const fields = Object.entries(was).map(([name, now]) => [name, sent?.[name] ?? now] as const)
    return { cid: sent?.cid ?? record.cid, was: Object.fromEntries(fields) }
  }
  const list = (dids: readonly { did: string }[]) => dids.map(({ did }) => did).join(' ')
  const repoName = repositoryName(at.head.owner, at.head.name)
  const general = typedIn('general')
  const offered = typedIn('offer')
  return {
    frame: {
      ...frameOf(ctx, request, {
        title: says.settingsTitle(repoName),
        description: says.settingsDescription,
      }),
      names,
    },
    repo: at.head,
    old: input.old ? says.unreadNow : undefined,
    now: { cid: record.cid, runner: list(value.runners), collaborator: list(value.collaborators), to: value.transferredTo?.repo ?? '' },
    ...input.more,
    sections: says.sections,
    general: {
      base: base('general', { wasDescription: value.description ?? '', wasBranch: value.defaultBranch }),
      description: general?.description ?? value.description ?? '',
      defaultBranch: input.typed?.anew === true ? value.defaultBranch : (general?.defaultBranch ?? value.defaultBranch),
      branches: branchesOf(at, value, general?.defaultBranch),
    },
    runners: runnersOf(ctx, at, value, account),
    collaborators: readRoles(record).collaborators.map(did => ({
      account: account(did),
      question: says.removeQuestion('collaborator', did),
    })),
    people: {
      runner: base('add-runner', { was: list(value.runners) }),
      collaborator: base('add-collaborator', { was: list(value.collaborators) }),
      typed: { runner: typedIn('add-runner')?.handle ?? '', collaborator: typedIn('add-collaborator')?.handle ?? '' },
    },
    former: formerRows(at, value, account),
    protection: protectionOf(at, value, base('protection', {}), typedIn('protection'), input.typed?.anew === true),
    gateway: gatewayOf(ctx, owner, value, base('gateway', { was: value.gateway ?? '' }), typedIn('gateway')),
    transfer: {
      base: base('offer', { was: value.transferredTo?.repo ?? '' }),
      pending: pendingOf(ctx, value),
      typed: { handle: offered?.handle ?? '', name: offered?.name ?? at.head.name },
    },
  }
}

function branchesOf(at: Located, value: RepoRecord, typed: string | undefined): string[] {
  const shown = new Set([value.defaultBranch, ...(at.view.present ?? [])])
  if (typed !== undefined) shown.add(typed)
  return [...shown].sort((a, b) => (a < b ? -1 : 1))
}

function runnersOf(ctx: PageContext, at: Located, value: RepoRecord, account: (did: string) => Account): RepoSettingsPage['runners'] {
  const life = landerLife(at.view, at.view.branches.get(value.defaultBranch), answerContext(ctx, at, undefined))
  const dids = [...new Set(value.runners.map(({ did }) => did))]
  return dids.map((did, n) => ({
    account: account(did),
    question: says.removeQuestion('runner', did, dids.length === 1),
    lands: did === at.view.lander?.did,
    seen: did === life.did ? life.seenAt : undefined,
    how: did === at.view.lander?.did ? says.runsAs(at.view.lander.record?.value ?? {}) : undefined,
    above: dids[n - 1],
    below: dids[n + 1],
  }))
}

/** One row an account, whatever it was and however often. */
function formerRows(at: Located, value: RepoRecord, account: (did: string) => Account): RepoSettingsPage['former'] {
  const entries = value.former ?? []
  const home = `${repositoryPath(at.head.owner, at.head.name)}/settings/void`
  return [...new Set(entries.map(({ did }) => did))].map(did => {
    const own = entries.filter(entry => entry.did === did)
    const until = Math.max(...own.map(entry => tidMillis(entry.until)))
    return {
      account: account(did),
      roles: [...new Set(own.map(({ role }) => role))],
      until: Number.isNaN(until) ? undefined : until,
      again: [...value.collaborators, ...value.runners].some(entry => entry.did === did),
      isVoid: own.every(entry => entry.void === true),
      href: withQuery(home, { did, was: formerOf(value, did) }),
    }
  })
}

/** Branches with a rule, the default branch, and those that pulls go onto or that were typed. */
function protectionOf(
  at: Located,
  value: RepoRecord,
  base: FormBase,
  sent: Typed | undefined,
  anew: boolean,
): RepoSettingsPage['protection'] {
  const rules = readRules(value)
  const doubled = doubledRules(value)
  const queueOnly = [...rules].flatMap(([branch, rule]) => (rule.queueOnly ? [branch] : []))
  const typed = anew ? new Map<string, RuleRow>() : typedRows(sent)
  const branches = new Set([value.defaultBranch, ...rules.keys(), ...at.view.branches.keys(), ...typed.keys()])
  const rows = [...branches].slice(0, 120).map(branch => {
    const rule = rules.get(branch) ?? { queueOnly: false, pinned: false }
    return typed.get(branch) ?? { branch, ...rule, was: writeFlags(rule), doubled: doubled.has(branch) }
  })
  const added = {
    branch: sent?.['branch-new'] ?? '',
    queueOnly: sent === undefined || sent['queue-new'] === '1',
    pinned: sent?.['pinned-new'] === '1',
  }
  const warned = value.runners.length === 0 && queueOnly.length > 0
  return { base, rows, added, warning: warned ? says.noRunnerWarning(queueOnly) : undefined, doubled: says.doubled }
}

function typedRows(sent: Typed | undefined): ReadonlyMap<string, RuleRow> {
  const rows = Object.entries(sent ?? {}).flatMap(([field, branch]) => {
    const n = /^branch-(\d+)$/.exec(field)?.[1]
    if (n === undefined) return []
    const row = {
      branch,
      queueOnly: sent?.[`queue-${n}`] === '1',
      pinned: sent?.[`pinned-${n}`] === '1',
      was: sent?.[`was-${n}`] ?? '',
      doubled: false,
    }
    return [[branch, row] as const]
  })
  return new Map(rows)
}

function gatewayOf(ctx: PageContext, owner: Did, value: RepoRecord, base: FormBase, sent: Typed | undefined): RepoSettingsPage['gateway'] {
  const here = ctx.config.did
  const now = value.gateway === undefined ? 'none' : value.gateway === here ? 'this' : 'other'
  const choice = (['this', 'none', 'other'] as const).find(each => each === sent?.gateway) ?? now
  return {
    base,
    choice,
    did: sent?.did ?? (now === 'other' ? (value.gateway ?? '') : ''),
    here,
    delegated: ctx.delegations.of(owner).state === 'given',
  }
}

function pendingOf(ctx: PageContext, value: RepoRecord): RepoSettingsPage['transfer']['pending'] {
  const to = repoAt(value.transferredTo?.repo)
  if (to === undefined || value.transferredTo === undefined) return undefined
  const since = tidMillis(value.transferredTo.at)
  return says.pendingWords(to, Number.isNaN(since) ? undefined : since, ctx.now())
}
