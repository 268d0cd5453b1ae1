/** Edits of the rules per branch (PRO, QUE-9, REC-11). */
import type { RepoRecord } from './facts.ts'
import type { EditContext, Edited } from './repo-edit.ts'
import { type BranchRule, readRules } from './roles.ts'
import * as words from './words/repo-settings.ts'

/** How many rules a record may hold (REC-11). */
export const mostRules = 100

/** One branch of the form: what it is to be, and what the form showed. */
export interface RuleEdit extends BranchRule {
  branch: string
  was?: BranchRule | undefined
}

const none: BranchRule = { queueOnly: false, pinned: false }

/**
 * Writes the rules of the branches that the editor changed. Of several rows for one branch the stricter holds; an edit makes one of them, where
 * the first stood. A branch without a rule has no row, unless its row holds what is not known here.
 */
export function editRules(record: RepoRecord, edits: readonly RuleEdit[], ctx: EditContext): Edited {
  const now = readRules(record)
  const wanted = new Map<string, BranchRule>()
  for (const edit of edits) {
    const present = now.get(edit.branch) ?? none
    if (isSame(edit, present) || (edit.was !== undefined && isSame(edit, edit.was))) continue
    const was = ctx.same ? present : edit.was
    if (was === undefined || !isSame(was, present)) return { kind: 'changed', refusal: words.ruleChanged(edit.branch, present) }
    wanted.set(edit.branch, { queueOnly: edit.queueOnly, pinned: edit.pinned })
  }
  if (wanted.size === 0) return { kind: 'already' }
  const rows = withRules(record.protections ?? [], wanted)
  if (rows.length > mostRules) return { kind: 'refused', refusal: words.tooManyRules(mostRules) }
  return { kind: 'write', record: { ...record, protections: rows } }
}

type Row = NonNullable<RepoRecord['protections']>[number]

function withRules(rows: readonly Row[], wanted: ReadonlyMap<string, BranchRule>): Row[] {
  const written = new Set<string>()
  const kept = rows.flatMap(row => {
    const rule = wanted.get(row.branch)
    if (rule === undefined) return [row]
    if (written.has(row.branch)) return []
    written.add(row.branch)
    const { pinned: _, ...rest } = row
    const others = Object.keys(rest).some(field => !['$type', 'branch', 'queue'].includes(field))
    if (isSame(rule, none) && !others) return []
    return [{ ...rest, queue: rule.queueOnly, ...(rule.pinned ? { pinned: true } : {}) }]
  })
  const added = [...wanted].filter(([branch, rule]) => !written.has(branch) && !isSame(rule, none))
  return [...kept, ...added.map(([branch, rule]) => ({ branch, queue: rule.queueOnly, ...(rule.pinned ? { pinned: true } : {}) }))]
}

function isSame(a: BranchRule, b: BranchRule): boolean {
  return a.queueOnly === b.queueOnly && a.pinned === b.pinned
}

/** Branches that more than one row is about. */
export function doubledRules(record: RepoRecord): ReadonlySet<string> {
  const branches = (record.protections ?? []).map(row => row.branch)
  return new Set(branches.filter((branch, at) => branches.indexOf(branch) !== at))
}
