/** Passes of this account that may be taken over: by a batch (RUN-5), and by the push that lands one (RUN-4). */
import { LRUCache } from 'lru-cache'
import { parseRecordKey } from '../../atproto/ids.ts'
import { readUsable } from '../../indexer/sources/read-about.ts'
import type { CheckRecord } from '../../queue/facts.ts'
import { runState } from '../../queue/runs.ts'
import { parseCheckKey } from '../../workflows/check-keys.ts'
import type { Workflow } from '../../workflows/workflow.ts'
import type { RunnerContext } from '../context.ts'
import type { Subject } from '../types.ts'
import { checks, ofCheck } from './saver.ts'

/** Passes that are remembered. */
const most = 5_000

export interface Passes {
  /** Remembers a check that passed; anything else is passed over. A pass that was taken over itself stands for the one it was taken from. */
  note(check: { rkey: string; uri: string; record: CheckRecord }): void
  forget(uri: string): void
  /** The pass that a workflow of the subject may take over: its check's address, read again now. Undefined: it is to run. */
  find(repo: string, subject: Subject, workflow: Workflow): Promise<string | undefined>
}

interface Pass {
  /** The check that ran. */
  uri: string
  kind: 'queue' | 'pull'
  trusted: boolean
  isolated: boolean
  commit: string
}

export function createPasses(ctx: Pick<RunnerContext, 'did' | 'reader' | 'now'>, isolated: boolean): Passes {
  const passes = new LRUCache<string, readonly Pass[]>({ max: most })

  /** RUN-4, RUN-5, CHK-9: only passes of the same tree of the same branch count. */
  const placeOf = (check: { repo: string; ref: string; generation: number; tree?: string | undefined; workflow: string }) =>
    JSON.stringify([check.repo, check.ref, check.generation, check.tree, check.workflow])

  function isFit(pass: Pass, subject: Subject, workflow: Workflow): boolean {
    if (isolated && !pass.isolated) return false
    switch (subject.of) {
      case 'batch':
        return pass.kind === 'queue' || pass.trusted
      case 'push':
        if (!subject.lands || !subject.isDefault || workflow.secrets.length > 0 || workflow.supersede === 'finish') return false
        return pass.kind === 'queue' && pass.trusted && pass.commit === subject.commit
      case 'pull':
        return false
    }
  }

  /** A check that was pruned, or taken away by hand, is no pass any more. */
  async function stillPasses(uri: string, workflow: string): Promise<boolean> {
    const rkey = parseRecordKey(uri.slice(uri.lastIndexOf('/') + 1))
    if (rkey === undefined) return false
    try {
      const read = await ctx.reader.getRecord(ctx.did, checks, rkey)
      const check = read && readUsable(read, ofCheck, ctx.now())
      return check?.value.workflow === workflow && runState(check.value) === 'passed'
    } catch {
      return false
    }
  }

  return {
    note({ rkey, uri, record }) {
      const state = runState(record)
      const kind = parseCheckKey(rkey)?.kind
      if ((state !== 'passed' && state !== 'reused') || kind === undefined || kind === 'push' || record.tree === undefined) return
      const { trusted = false, isolated = true, commit, reusedFrom } = record
      const pass = { uri: reusedFrom ?? uri, kind, trusted, isolated, commit }
      const place = placeOf(record)
      passes.set(place, [pass, ...(passes.get(place) ?? [])].slice(0, 10))
    },
    forget(uri) {
      for (const [place, known] of passes.entries()) if (known.some(pass => pass.uri === uri)) passes.delete(place)
    },
    async find(repo, subject, workflow) {
      const { branch, generation, tree } = subject
      const known = passes.peek(placeOf({ repo, ref: `refs/heads/${branch}`, generation, tree, workflow: workflow.name })) ?? []
      for (const pass of known) {
        if (isFit(pass, subject, workflow) && (await stillPasses(pass.uri, workflow.name))) return pass.uri
      }
      return undefined
    },
  }
}
