import type { Usable } from './usable.ts'

/** The names in a record that stand in addresses, commands and headings: of branches, refs and workflows. */
export function namesOf(record: Usable): readonly string[] {
  switch (record.kind) {
    case 'repo':
      return [record.value.defaultBranch, ...(record.value.protections ?? []).map(rule => rule.branch)]
    case 'refs':
      return record.value.refs.map(ref => ref.name)
    case 'pull':
      return [record.value.branch, record.value.head.branch]
    case 'queue':
      return [...present(record.value.branch), ...(record.value.checks ?? []).map(check => check.workflow)]
    case 'check':
      return [record.value.workflow, record.value.ref]
    case 'rerun':
      return present(record.value.branch, record.value.workflow)
    case 'lander':
      return present(record.value.intent?.branch)
    default:
      return []
  }
}

/** Every commit, tree and pack id that a record names. */
export function commitsOf(record: Usable): readonly string[] {
  switch (record.kind) {
    case 'refs':
      return [...record.value.refs.map(ref => ref.commit), ...record.value.packs.map(pack => pack.id)]
    case 'queue':
      return present(record.value.head, record.value.commit, record.value.requeue?.head)
    case 'state':
      return present(record.value.commit, record.value.batch)
    case 'check':
      return [
        ...present(record.value.commit, record.value.baseCommit, record.value.tree),
        ...(record.value.batch ?? []).flatMap(member => [member.head, member.commit]),
      ]
    case 'lander': {
      const { intent } = record.value
      return intent === undefined ? [] : [intent.base, intent.tip, ...intent.pulls.flatMap(pull => [pull.head, pull.commit])]
    }
    case 'rerun':
      return present(record.value.commit)
    case 'decision':
      return [record.value.head]
    default:
      return []
  }
}

function present(...values: (string | undefined)[]): string[] {
  return values.filter(value => value !== undefined)
}
