/**
 * What an owner changes of a repository's record, applied to the record as it is now. Each edit carries what its form was made from (`was`), so that
 * of two editors neither undoes the other: what somebody else changed meanwhile stays, and where it is the same thing nothing is written.
 */
import type { RepoRecord } from './facts.ts'
import {
  addAccount,
  type MoveRunner,
  moveRunner,
  type NameAccount,
  removeAccount,
  type VoidAccount,
  voidAccount,
} from './repo-edit-people.ts'
import { editRules, type RuleEdit } from './repo-edit-rules.ts'
import * as words from './words/repo-settings.ts'

export type AccountDid = RepoRecord['collaborators'][number]['did']
export type RepoAddress = NonNullable<RepoRecord['transferredTo']>['repo']

/** `was` is what the form showed; undefined when the form did not say. */
export type RepoEdit =
  | {
      about: 'general'
      description: string
      defaultBranch: string
      was?: { description: string; defaultBranch: string } | undefined
    }
  | ({ about: 'add' } & NameAccount)
  | ({ about: 'remove' } & NameAccount)
  | ({ about: 'move' } & MoveRunner)
  | ({ about: 'void' } & VoidAccount)
  | { about: 'gateway'; gateway: AccountDid | undefined; was?: { gateway: string | undefined } | undefined }
  | { about: 'protection'; rules: readonly RuleEdit[] }
  /** `to` is the new address; undefined takes a transfer back. */
  | { about: 'transfer'; to: RepoAddress | undefined; was?: { to: string | undefined } | undefined }

/** What an edit needs to know beside the record. */
export interface EditContext {
  owner: string
  /** The record is the very one that the form was made from. */
  same: boolean
  /** The key up to which records of somebody who is taken out go on counting (HON-5). */
  until(account: { did: string; role: 'collaborator' | 'runner' }): string
  /** A key of now. */
  key: string
}

export type Edited =
  | { kind: 'write'; record: RepoRecord }
  /** It is so already. */
  | { kind: 'already' }
  /** Somebody else changed the same thing meanwhile: nothing may be written. */
  | { kind: 'changed'; refusal: words.SettingsRefusal }
  | { kind: 'refused'; refusal: words.SettingsRefusal }

/** Applies an edit. Whatever else stands in the record, known or not, stays as it is. */
export function editRepo(record: RepoRecord, edit: RepoEdit, ctx: EditContext): Edited {
  switch (edit.about) {
    case 'general':
      return editGeneral(record, edit, ctx)
    case 'add':
      return addAccount(record, edit, ctx)
    case 'remove':
      return removeAccount(record, edit, ctx)
    case 'move':
      return moveRunner(record, edit)
    case 'void':
      return voidAccount(record, edit, ctx)
    case 'gateway':
      return editGateway(record, edit, ctx)
    case 'protection':
      return editRules(record, edit.rules, ctx)
    case 'transfer':
      return editTransfer(record, edit, ctx)
  }
}

/** Two fields in one form: of each, what the editor did not touch stays as it is now. */
function editGeneral(record: RepoRecord, edit: Extract<RepoEdit, { about: 'general' }>, ctx: EditContext): Edited {
  const now = { description: record.description ?? '', defaultBranch: record.defaultBranch }
  const was = ctx.same ? now : edit.was
  const next = { ...now }
  for (const field of ['description', 'defaultBranch'] as const) {
    const wanted = edit[field]
    if (wanted === now[field] || wanted === was?.[field]) continue
    if (was === undefined || was[field] !== now[field]) {
      return { kind: 'changed', refusal: field === 'description' ? words.descriptionChanged(now[field]) : words.defaultChanged(now[field]) }
    }
    next[field] = wanted
  }
  if (next.description === now.description && next.defaultBranch === now.defaultBranch) return { kind: 'already' }
  const { description: _, ...rest } = record
  const described = next.description === '' ? {} : { description: next.description }
  return { kind: 'write', record: { ...rest, ...described, defaultBranch: next.defaultBranch } }
}

function editGateway(record: RepoRecord, edit: Extract<RepoEdit, { about: 'gateway' }>, ctx: EditContext): Edited {
  if (record.gateway === edit.gateway) return { kind: 'already' }
  const was = ctx.same ? { gateway: record.gateway } : edit.was
  if (was === undefined || was.gateway !== record.gateway) return { kind: 'changed', refusal: words.gatewayChanged(record.gateway) }
  const { gateway: _, ...rest } = record
  return { kind: 'write', record: edit.gateway === undefined ? rest : { ...rest, gateway: edit.gateway } }
}

function editTransfer(record: RepoRecord, edit: Extract<RepoEdit, { about: 'transfer' }>, ctx: EditContext): Edited {
  const now = record.transferredTo?.repo
  if (now === edit.to) return { kind: 'already' }
  const was = ctx.same ? { to: now } : edit.was
  if (was === undefined || was.to !== now) return { kind: 'changed', refusal: words.transferChanged(now) }
  const { transferredTo: _, ...rest } = record
  if (edit.to === undefined) return { kind: 'write', record: rest }
  return { kind: 'write', record: { ...rest, transferredTo: { repo: edit.to, at: ctx.key } } }
}
