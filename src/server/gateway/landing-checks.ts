/** Whether a landing was checked (GWY-11): what its files ask for, against the runs that the lander's account shows now. */
import { type AtUri, type Did, parseAtUri } from '../../atproto/ids.ts'
import type { Reader, ReadRecord } from '../../atproto/reader.ts'
import { UpstreamError } from '../../atproto/upstream-error.ts'
import type { ObjectsPlace } from '../../git/objects.ts'
import { refName } from '../../git/ref-names.ts'
import { readUsable } from '../../indexer/sources/read-about.ts'
import { changedPaths, filesAt } from '../../indexer/sources/workflow-files.ts'
import type { Usable } from '../../indexer/validate/usable.ts'
import type { CheckRecord } from '../../queue/facts.ts'
import { newerRun, type Run, runState } from '../../queue/runs.ts'
import { runLabels } from '../../queue/words/labels.ts'
import { digest, parseCheckKey, queueCheckPrefix } from '../../workflows/check-keys.ts'
import { readWorkflows, selectFrom } from '../../workflows/select.ts'
import { words } from '../../workflows/words.ts'
import type { LandingChecks } from './types.ts'

const collection = 'dev.knotless.check'
const PATIENCE_MS = 5_000
/** Most of its records at one tip and base that are read: a hundred workflows, each run many times again. */
const MOST = 1_000
const PAGE = 100

export interface LandingDeps {
  reader: Reader
  /** Milliseconds since 1970. */
  now: () => number
  /** The longest that the lander's account may take, in milliseconds; 5 s where it is not said. */
  patienceMs?: number
}

/** A landing as git has it. `place` reads its commits and may write nothing; `tree` is the tip's. */
export interface Landing {
  repo: AtUri
  lander: Did
  /** Branch name without refs/heads/. */
  branch: string
  generation: number
  base: string
  tip: string
  tree: string
  place: ObjectsPlace
}

/**
 * GWY-11: the workflows that the tip's files select for a pull into the branch, and that the lander's newest run at that tip and base did not
 * pass. A reused pass counts when it is of the same tree and was filed by the same account (RUN-5). Undefined when git or the account cannot tell.
 */
export async function landingChecks(deps: LandingDeps, landing: Landing): Promise<LandingChecks | undefined> {
  const patience = AbortSignal.timeout(deps.patienceMs ?? PATIENCE_MS)
  const signal = landing.place.signal === undefined ? patience : AbortSignal.any([landing.place.signal, patience])
  const [asked, runs] = await Promise.all([askedFor(landing), runsOf(deps, landing, signal)])
  if (asked === undefined || runs === undefined) return undefined
  const missing: { workflow: string; status: string }[] = asked.faulty.map(fault => ({
    workflow: fault.file === '' ? words.folder() : fault.file,
    status: words.unusable(fault),
  }))
  const stands = await Promise.all(asked.selected.map(({ file, name }) => standing(deps, landing, runs, { file, name }, signal)))
  for (const [at, { name }] of asked.selected.entries()) {
    const status = stands[at]
    if (status === undefined) return undefined
    if (status !== 'passed') missing.push({ workflow: name, status: status.word })
  }
  return { missing }
}

async function askedFor({ place, base, tip, branch }: Landing) {
  const files = await filesAt(place, tip)
  if (files === undefined) return undefined
  const read = readWorkflows(files)
  const paths = read.workflows.some(workflow => workflow.paths !== undefined) ? await changedPaths(place, base, tip) : 'unknown'
  return paths === undefined ? undefined : selectFrom(read, { trigger: 'pull', branch, changedPaths: paths })
}

/** What stands for a workflow: its pass, or in a word what there is instead. Undefined when the run that was reused cannot be read. */
async function standing(
  deps: LandingDeps,
  landing: Landing,
  runs: readonly Run[],
  workflow: { file: string; name: string },
  signal: AbortSignal,
): Promise<'passed' | { word: string } | undefined> {
  const key = digest(workflow.file)
  const own = runs.filter(run => parseCheckKey(run.rkey)?.workflow === key && run.value.workflow === workflow.name)
  const [newest] = own.sort(newerRun)
  if (newest === undefined) return { word: words.notRun() }
  const state = runState(newest.value)
  if (state === 'passed') return 'passed'
  if (state === 'reused') {
    const holds = await reuseHolds(deps, landing, newest, signal)
    if (holds === undefined) return undefined
    if (holds) return 'passed'
    return { word: words.otherFiles() }
  }
  return { word: runLabels[state].word.toLowerCase() }
}

/** RUN-5: the pass that was taken over is the lander's own, of that workflow, of the same tree and into the same branch; a pull's is a trusted one. */
async function reuseHolds(deps: LandingDeps, landing: Landing, run: Run, signal: AbortSignal): Promise<boolean | undefined> {
  const at = parseAtUri(run.value.reusedFrom)
  if (run.value.tree !== landing.tree || at?.did !== landing.lander || at.collection !== collection) return false
  let read: ReadRecord | undefined
  try {
    read = await deps.reader.getRecord(at.did, at.collection, at.rkey, { signal })
  } catch (error) {
    if (error instanceof UpstreamError || signal.aborted) return undefined
    throw error
  }
  const first = read && readUsable(read, ofCheck, deps.now())
  if (first === undefined || runState(first.value) !== 'passed') return false
  const { workflow, tree, repo, ref, generation, pull, trusted } = first.value
  const isSame = workflow === run.value.workflow && tree === landing.tree && isAbout(landing, { repo, ref, generation })
  return isSame && (pull === undefined || trusted === true)
}

/** The lander's runs at that tip and base, as its account has them now: its keys start alike, so that a cursor leads to the first of them. */
async function runsOf(deps: LandingDeps, landing: Landing, signal: AbortSignal): Promise<Run[] | undefined> {
  const { repo, branch, tip, base, lander } = landing
  const prefix = queueCheckPrefix({ repo, ref: refName(branch) }, { tip, base })
  const runs: Run[] = []
  let cursor = prefix
  try {
    for (let read = 0; read < MOST; ) {
      const page = await deps.reader.listRecords(lander, collection, { limit: PAGE, reverse: true, cursor, signal })
      for (const record of page.records) {
        read++
        if (!record.rkey.startsWith(prefix)) {
          if (record.rkey > prefix) return runs
          continue
        }
        const run = readUsable(record, ofCheck, deps.now())
        if (run !== undefined && isOf(landing, run.value)) runs.push(run)
      }
      if (page.cursor === undefined || page.cursor === cursor || page.records.length === 0) return runs
      cursor = page.cursor
    }
    return undefined
  } catch (error) {
    if (error instanceof UpstreamError || signal.aborted) return undefined
    throw error
  }
}

/** A batch's check of that landing (CHK-8, CHK-9); its tree, where it says one, is what lands (LND-9). */
function isOf(landing: Landing, check: CheckRecord): boolean {
  const { commit, baseCommit, tree, batch } = check
  const isHere = commit === landing.tip && baseCommit === landing.base && (tree === undefined || tree === landing.tree)
  return isHere && batch !== undefined && isAbout(landing, check)
}

function isAbout(landing: Landing, check: Pick<CheckRecord, 'repo' | 'ref' | 'generation'>): boolean {
  return check.repo === landing.repo && check.ref === refName(landing.branch) && check.generation === landing.generation
}

function ofCheck(record: Usable): CheckRecord | undefined {
  return record.kind === 'check' ? record.value : undefined
}
