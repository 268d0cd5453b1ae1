/** What the planner asks for, done. Each action that is answered gives its result; one that breaks off gives none, and is asked for again. */
import { dropWords } from '../../queue/words/runner.ts'
import type { Action, Batch, Line, Result } from '../planner/types.ts'
import type { Chosen, Ground, KeptLine, Subject } from '../types.ts'
import { mergedWith } from './merged.ts'
import type { Memory, Parts } from './parts.ts'
import { isTrusted } from './trust.ts'
import { wouldDo } from './would-do.ts'

export interface Doing {
  ground: Ground
  branch: string
  line: Line
  memory: Memory
  /** The group of runs of each batch, by its id; changed as batches are filed and dropped. */
  groups: Map<number, string>
}

/** How long a landing waits for the ends of its checks to be on record, in milliseconds. */
const RECORDED_MS = 10_000

/** What came of an action. `ground`: the repository after a landing. `rings` false: what was begun has ended already, and nothing rings for it. */
export interface Done {
  result?: Result
  ground?: Ground
  rings?: boolean
}

export async function carryOut(parts: Parts, doing: Doing, action: Action): Promise<Done> {
  if (parts.ctx.settings.dryRun && action.do !== 'build') {
    const result = wouldDo(parts, doing, action)
    return result === undefined ? {} : { result }
  }
  switch (action.do) {
    case 'eject':
      return { result: await eject(parts, doing, action) }
    case 'build':
      return { result: await build(parts, doing, action) }
    case 'file':
      return { result: await file(parts, doing, action) }
    case 'promote': {
      const group = doing.groups.get(action.id)
      if (group !== undefined) parts.runs.promote(group, 'next')
      return {}
    }
    case 'drop':
      await drop(parts, doing, action)
      return {}
    case 'fly':
      return await fly(parts, doing, action)
    case 'land':
      return await land(parts, doing, action)
  }
}

type Do<Kind extends Action['do']> = Extract<Action, { do: Kind }>

async function eject({ ejector, ctx }: Parts, { ground, branch }: Doing, action: Do<'eject'>): Promise<Result> {
  const done = await ejector.eject(ground, action)
  const about = { repo: ground.repo, branch, pull: action.pull, kind: action.kind }
  if (!done.ok) ctx.log.warn('not ejected', { ...about, why: done.said })
  return { of: 'eject', key: action.key, ok: done.ok }
}

async function build({ builder, ctx }: Parts, { ground, branch }: Doing, action: Do<'build'>): Promise<Result> {
  const { id, base, candidates, most } = action
  const built = await builder.build(ground, { base, candidates, most })
  if (!built.ok) {
    ctx.log.warn('not built', { repo: ground.repo, branch, base, why: built.message })
    return { of: 'build', id, ok: false, said: built.message }
  }
  const { stack, left } = built
  if (stack !== null) {
    const pulls = stack.members.map(member => member.pull)
    ctx.log.info('built', { repo: ground.repo, branch, base, tip: stack.tip, ahead: action.under !== undefined, pulls })
  }
  return { of: 'build', id, ok: true, stack, left }
}

async function file(parts: Parts, doing: Doing, action: Do<'file'>): Promise<Result> {
  const { ground, branch, line, groups } = doing
  const batch = batchOf(line, action.id)
  if (batch === undefined) return { of: 'file', id: action.id, ok: false }
  const before = groups.get(action.id)
  if (before !== undefined) {
    // A pass that broke off had filed them: another group would run everything twice.
    parts.runs.begin(before, action.ahead ? 'ahead' : 'next')
    return { of: 'file', id: action.id, ok: true }
  }
  const { base, generation, tip, tree, members } = batch
  const chosen = await parts.builder.workflows(ground, { trigger: 'pull', branch, base, tip })
  if ('code' in chosen) return { of: 'file', id: action.id, ok: false }
  const pulls = members.map(member => member.pull)
  const filed = await fileGroup(parts, ground, {
    subject: { of: 'batch', batch: action.id, branch, generation, base, tip, tree, members },
    chosen,
    trusted: isTrusted(ground.view, pulls),
  })
  const about = { repo: ground.repo, branch, tip }
  if (!filed.ok) {
    parts.ctx.log.warn('checks not filed', { ...about, why: filed.said, workflow: filed.unfiled })
    const blame = await broughtBy(parts, doing, batch, filed.unfiled)
    return { of: 'file', id: action.id, ok: false, ...(blame === undefined ? {} : { blame }) }
  }
  groups.set(action.id, filed.group.id)
  parts.runs.begin(filed.group.id, action.ahead ? 'ahead' : 'next')
  parts.ctx.log.info('checking', { ...about, base, workflows: parts.runs.of(filed.group.id).map(run => run.workflow) })
  return { of: 'file', id: action.id, ok: true }
}

/** STO-10: the first pull of the batch at whose commit the workflow that cannot be filed is there, and was not before. */
async function broughtBy(
  { builder }: Parts,
  { ground, branch }: Doing,
  batch: Batch,
  workflow: string | undefined,
): Promise<{ workflow: string; pull: string } | undefined> {
  if (workflow === undefined) return undefined
  const { base } = batch
  for (const { pull, commit } of batch.members) {
    const chosen = await builder.workflows(ground, { trigger: 'pull', branch, base, tip: commit })
    if (!('code' in chosen) && namesOf(chosen).includes(workflow)) return { workflow, pull }
  }
  return undefined
}

function namesOf({ selected, skipped, faulty }: Chosen): string[] {
  return [...selected, ...skipped].map(workflow => workflow.name).concat(faulty.map(fault => fault.file))
}

async function fileGroup(
  { builder, runs }: Parts,
  ground: Ground,
  asked: { subject: Subject; chosen: Chosen; trusted: boolean; only?: readonly string[] },
): ReturnType<Parts['runs']['file']> {
  const brought = await builder.bring(ground)
  return brought.ok ? await runs.file(ground, { ...asked, gitDir: brought.mirror.dir }) : { ok: false, said: brought.message }
}

async function drop({ runs, ctx }: Parts, { ground, branch, line, groups }: Doing, { id, cause }: Do<'drop'>): Promise<void> {
  const group = groups.get(id)
  ctx.log.info('dropped', { repo: ground.repo, branch, tip: batchOf(line, id)?.tip, cause })
  if (group === undefined) return
  groups.delete(id)
  await runs.cancel(group, dropWords(cause))
}

/** PRE-7: only what is missing, on the head merged with the tip, in the class before that of pulls that are not queued. */
async function fly(parts: Parts, doing: Doing, action: Do<'fly'>): Promise<Done> {
  const { ground, branch, memory } = doing
  const { pull, head, tip, generation, workflows: only } = action
  const result = (ok: boolean): Done => ({ result: { of: 'fly', pull, head, tip, ok } })
  const merged = (await mergedWith(parts, memory, ground, [{ pull, head, tip }])).get(pull)
  if (merged?.applies !== true) return result(false)
  const { tree } = merged
  const chosen = await parts.builder.workflows(ground, { trigger: 'pull', branch, base: tip, tip: tree })
  if ('code' in chosen) return result(false)
  const filed = await fileGroup(parts, ground, {
    subject: { of: 'pull', pull, head, branch, generation, tip, tree, queued: true },
    chosen,
    trusted: isTrusted(ground.view, [pull]),
    only,
  })
  const about = { repo: ground.repo, branch, pull, head, tip }
  if (!filed.ok) {
    parts.ctx.log.warn('pre-flights not filed', { ...about, why: filed.said })
    return result(false)
  }
  parts.runs.begin(filed.group.id, 'preflight')
  parts.ctx.log.info('pre-flights', { ...about, workflows: only })
  const going = parts.runs.of(filed.group.id).some(({ state }) => state === 'filed' || state === 'running')
  return { ...result(true), rings: going }
}

async function land(parts: Parts, doing: Doing, { id }: Do<'land'>): Promise<Done> {
  const { ground, branch, line, groups } = doing
  const batch = batchOf(line, id)
  const group = groups.get(id)
  if (batch === undefined || group === undefined) return { result: { of: 'land', id, ok: false, why: 'trouble', said: '' } }
  // GWY-11: the gateway reads these checks.
  if (!(await parts.runs.recorded(group, RECORDED_MS))) {
    return { result: { of: 'land', id, ok: false, why: 'trouble', said: 'the ends of its checks are not on record yet' } }
  }
  const counted = parts.runs.of(group).filter(run => run.state !== 'skipped' && run.state !== 'reused')
  const { base, generation, tip, tree, members } = batch
  const landed = await parts.landing.land(ground, { branch, base, generation, tip, tree, members, ranNothing: counted.length === 0 })
  const about = { repo: ground.repo, branch, base, tip, pulls: members.map(member => member.pull) }
  if (!landed.ok) {
    const { ok: _, ...why } = landed
    parts.ctx.log.warn('not landed', { ...about, ...why })
    return { result: { of: 'land', id, ...landed } }
  }
  parts.others.landed(tip)
  groups.delete(id)
  return { result: { of: 'land', id, ok: true }, ground: landed.moved }
}

function batchOf(line: Line, id: number): Batch | undefined {
  return line.batches.find(batch => batch.id === id)
}

/** What is kept of a branch, as it is after a pass. */
export function keep(doing: Doing): KeptLine {
  return { line: doing.line, groups: new Map(doing.groups) }
}
