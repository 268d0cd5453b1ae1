import type { Did } from '../../atproto/ids.ts'
import { readCommits, writeCommit } from '../../git/commit-objects.ts'
import { cleanBody } from '../../git/message-text.ts'
import type { Mirror } from '../../git/mirror.ts'
import { openQuarantine } from '../../git/quarantine.ts'
import { refName } from '../../git/ref-names.ts'
import { commitTree } from '../../git/tree-changes.ts'
import { repoOf } from '../../queue/admission.ts'
import { nothingToLand, refMoved } from '../../queue/words/gateway.ts'
import { branchNotFound, type Refusal } from '../../queue/words/refusals.ts'
import { gitRefused, noMessage, repositoryUnreadable } from '../../queue/words/writing.ts'
import type { GatewayContext } from './context.ts'
import { type Ground, gatherGround } from './gather.ts'
import { askedOf, auditEntry, judge, type Wish } from './judge.ts'
import { bringMirror } from './mirror.ts'
import { inTurn } from './turn.ts'
import type { Gateway, MoveVerdict, RefMove } from './types.ts'
import { writeRefs } from './write.ts'
import { gatherRefusal, noteUnread } from './write-refusal.ts'

type Asked = Parameters<Gateway['createCommit']>[0]
type Made = Awaited<ReturnType<Gateway['createCommit']>>

/** Makes a commit on a branch, by and as the caller, under the same rules as their push of it would be. */
export function createCommit(ctx: GatewayContext, asked: Asked): Promise<Made> {
  return inTurn(ctx, asked, () => makeCommit(ctx, asked))
}

async function makeCommit(ctx: GatewayContext, asked: Asked): Promise<Made> {
  const { repo, caller, base } = asked
  const gathered = await gatherGround(ctx, { repo, whole: false, pulls: [] })
  const move: RefMove = { name: refName(asked.branch), old: base, new: null }
  const wish: Wish = { door: 'commit', caller, moves: [move] }
  if (!gathered.ok) {
    const refusal = gatherRefusal('commit', repo, gathered)
    noteUnread(ctx, { repo, ...wish }, refusal)
    return { ok: false, refusal }
  }
  const { ground } = gathered
  const refuse = (refusal: Refusal): Made => {
    ctx.audit.refused([auditEntry(ctx, ground, wish, move, { ok: false, refusal })])
    return { ok: false, refusal }
  }
  // Nothing of what the rules say depends on the commit: whoever is refused costs no git.
  const verdict = verdictOn(ctx, ground, asked, base)
  if (!verdict.ok) return refuse(verdict.refusal)
  const brought = await bringMirror(ctx, ground.repo, ground.found.record)
  if (!brought.ok) return refuse(repositoryUnreadable('commit', ground, brought))
  const quarantine = await openQuarantine(brought.mirror)
  try {
    const made = await commitIn(ctx, brought.mirror, quarantine.env, asked)
    if (!made.ok) return refuse(made.refusal)
    const done = await writeRefs(ctx, {
      ...{ act: 'commit', caller, ground, mirror: brought.mirror, env: quarantine.env, along: [], commits: new Set([made.id]) },
      updates: [{ name: move.name, commit: made.id, old: base, force: true }],
      entries: [auditEntry(ctx, ground, wish, { ...move, new: made.id }, verdict)],
      mayStill: () => stillMay(ctx, asked),
    })
    return done.ok ? { ok: true, commit: made.id } : done
  } finally {
    await quarantine.close()
  }
}

/** The rules on a commit on top of `base`. A branch is not made this way. */
function verdictOn(ctx: GatewayContext, ground: Ground, { caller, branch, base }: Asked, to: string): MoveVerdict {
  const name = refName(branch)
  const wish: Wish = { door: 'commit', caller, moves: [{ name, old: base, new: to }] }
  const [verdict] = judge(askedOf(ctx, ground, wish), new Map([[name, { forward: true }]]))
  const branches = ground.refs?.refs.map(row => row.name) ?? []
  if (verdict?.ok === false && verdict.refusal.code === 'branch-moved' && !branches.includes(name)) {
    return { ok: false, refusal: branchNotFound(repoOf(ground.view), branch, [...(ground.view.present ?? [])]) }
  }
  return verdict ?? { ok: false, refusal: refMoved('commit', name, { old: base, now: null }) }
}

async function stillMay(ctx: GatewayContext, asked: Asked): Promise<Refusal | undefined> {
  const again = await gatherGround(ctx, { repo: asked.repo, whole: false, pulls: [] })
  if (!again.ok) return gatherRefusal('commit', asked.repo, again)
  const verdict = verdictOn(ctx, again.ground, asked, asked.base)
  return verdict.ok ? undefined : verdict.refusal
}

/** The commit object: author and committer are the caller's account, now. */
async function commitIn(
  ctx: GatewayContext,
  mirror: Mirror,
  env: Record<string, string>,
  { base, branch, message, changes, caller }: Asked,
): Promise<{ ok: true; id: string } | { ok: false; refusal: Refusal }> {
  const place = { dir: mirror.dir, env }
  const text = cleanBody(message)
  if (text === '') return { ok: false, refusal: noMessage('commit') }
  const [[parent], tree] = await Promise.all([readCommits(place, [base]), commitTree(place, { base, changes })])
  if (!tree.ok) return { ok: false, refusal: gitRefused('commit', tree) }
  if (parent?.tree === tree.tree) return { ok: false, refusal: nothingToLand('commit', branch, base) }
  const written = await writeCommit(place, commitBytes({ tree: tree.tree, parent: base, caller, time: Math.floor(ctx.now() / 1000), text }))
  return written.ok ? written : { ok: false, refusal: gitRefused('commit', written) }
}

function commitBytes({
  tree,
  parent,
  caller,
  time,
  text,
}: {
  tree: string
  parent: string
  caller: Did
  time: number
  text: string
}): Buffer {
  const who = `${caller} <${caller}@knotless.invalid> ${time} +0000`
  return Buffer.from(`tree ${tree}\nparent ${parent}\nauthor ${who}\ncommitter ${who}\n\n${text}\n`)
}
