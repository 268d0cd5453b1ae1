/** What the rules are asked, before and after git was looked at, and what of it is the same for every move. */
import { peopleOf, repoOf } from '../../../queue/admission.ts'
import { readRules } from '../../../queue/roles.ts'
import { isOwn } from '../../../queue/spent.ts'
import type { PullView, RepositoryView } from '../../../queue/view.ts'
import * as words from '../../../queue/words/index.ts'
import { notDelegated, type Refusal, repoMoved, type WriteAct, wrongGateway } from '../../../queue/words/index.ts'
import type { GatewayQuestion, RefMove } from '../types.ts'
import { landerByRecord, type Role, roleOf } from './roles.ts'

/** A question as it is before anything was asked of git. */
export type Asked = Omit<GatewayQuestion, 'facts'>

/** How what this role does by this door is called. */
export function actOf(asked: Asked, role: Role): WriteAct {
  if (asked.door !== 'push') return asked.door
  return role === 'lander' || role === 'runner' ? 'land' : 'push'
}

/**
 * What refuses everything that is asked, whatever it moves: the repository is elsewhere (HON-4), the asker may not (GWY-3, WHO-4), the owner
 * shares writing through another server (GWY-12) or not at all (GWY-1).
 */
export function turnedAway(asked: Asked): Refusal | undefined {
  const { view, delegation, server, caller } = asked
  const role = roleOf(view, caller)
  const act = actOf(asked, role)
  const repo = repoOf(view)
  if (view.movedTo !== undefined) return repoMoved(act, repoAt(view.uri), repoAt(view.movedTo))
  const mayAsk = role === 'owner' || role === 'collaborator' || role === 'lander-collaborator'
  if (role === 'runner' && asked.door === 'push') return words.notLander(caller, landerByRecord(view.roles))
  if (!mayAsk && !(role === 'lander' && asked.door === 'push')) return words.notAllowed(act, peopleOf(view))
  const { gateway } = view.record.value
  if (gateway !== undefined && gateway !== server) return wrongGateway(act, repo, gateway)
  if (delegation.state === 'given') return undefined
  return notDelegated(act, repo.owner, role === 'owner', { delegation, settingsUrl: asked.settingsUrl })
}

/** Owner and name in a repository's address. */
function repoAt(uri: string): { owner: string; name: string } {
  const [owner = '', , name = ''] = uri.replace('at://', '').split('/')
  return { owner, name }
}

/** Where a ref is by the record that was read; null when it is not there. */
export function refNow(asked: Asked, move: RefMove): string | null {
  return asked.refs.get(move.name) ?? null
}

/** A branch, as far as its record's rules and the pulls say what may be done to it. */
export interface BranchUse {
  isDefault: boolean
  /** It carries a rule, whatever the rule says. */
  hasRule: boolean
  queueOnly: boolean
  pinned: boolean
  /** Open pulls onto it, and those whose head branch it is. */
  targetedBy: readonly PullView[]
  broughtBy: readonly PullView[]
}

/** Reads what branches are used for, once for all of them. Names are short. */
export function readUses(view: RepositoryView): (branch: string) => BranchUse {
  const { defaultBranch } = view.record.value
  const rules = readRules(view.record.value)
  const open = [...view.pulls.values()].filter(pull => pull.state === 'open')
  const targets = Map.groupBy(open, pull => pull.branch)
  const heads = Map.groupBy(
    open.filter(pull => isOwn(view, pull.pull.value.head.repo)),
    pull => pull.pull.value.head.branch,
  )
  return branch => ({
    isDefault: branch === defaultBranch,
    hasRule: rules.has(branch),
    queueOnly: rules.get(branch)?.queueOnly === true,
    pinned: rules.get(branch)?.pinned === true,
    targetedBy: targets.get(branch) ?? [],
    broughtBy: heads.get(branch) ?? [],
  })
}
